//! Tests of the archive layer with archives that change.

use std::sync::Arc;

use catalog::layers::Layer;
use catalog::layers::unpacked::Unpacked;
use futures_util::StreamExt;
use resource::{Change, ErrorKind, Interest, Provider, Window};

use crate::unpacked::{ARCHIVE, members, names, read, text, uri, with_archive, zip_of};

#[tokio::test]
async fn an_archive_that_changes_is_read_anew() {
    let inner = Arc::new(with_archive("a.zip", &zip_of(&[("a.txt", b"old")])));
    let provider = Unpacked.around(Arc::clone(&inner) as Arc<dyn Provider>);
    let member = "file:///app/a.zip/a.txt";
    let ctx = testkit::local_context();
    assert_eq!(text(&*provider, member).await, "old");
    let old = provider.stat(&ctx, &uri(member)).await.unwrap();
    inner.write_blob(ARCHIVE, &zip_of(&[("a.txt", b"new one"), ("b.txt", b"b")]));
    assert_eq!(text(&*provider, member).await, "new one");
    assert_eq!(names(&*provider, ARCHIVE).await.len(), 2);
    let new = provider.stat(&ctx, &uri(member)).await.unwrap();
    assert_ne!(old.etag, new.etag);
    let pinned = Window::Part { offset: 0, length: 9, etag: old.etag.clone() };
    let error = read(&*provider, member, pinned).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Changed);
    assert_eq!(error.facts[0].1, new.etag.clone().unwrap());
}

#[tokio::test]
async fn a_change_of_the_archive_is_a_change_of_its_members() {
    let inner = Arc::new(with_archive("a.zip", &zip_of(&members())));
    let provider = Unpacked.around(Arc::clone(&inner) as Arc<dyn Provider>);
    let (ctx, member) = (testkit::local_context(), uri("file:///app/a.zip/inner/x.txt"));
    let watch = provider.facets().watch.unwrap();
    let mut changes = watch.watch(&ctx, Interest::Resource(member.clone())).await.unwrap();
    inner.notify(&Change::Updated(uri(ARCHIVE)));
    assert_eq!(changes.next().await, Some(Change::Updated(member)));
    let missing = Interest::Resource(uri("file:///app/a.zip/none"));
    assert_eq!(watch.watch(&ctx, missing).await.err().unwrap().kind, ErrorKind::NotFound);
}
