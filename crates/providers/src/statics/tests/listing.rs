//! Tests of listings, cursors, windows and etags.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use resource::{
    Body, ByteSource, CacheScope, Cursor, ErrorKind, PageRequest, Provider, Slice, Window,
};
use testkit::contract::bytes_of;

use super::{WHOLE, pattern, read, statics, text, try_read, uri};

#[tokio::test]
async fn resources_are_listed_in_declared_order_with_their_facts() {
    let mut declared = text("note://b", "words");
    declared.resource.title = Some("B".to_owned());
    declared.resource.listable = None;
    let statics = statics(vec![declared, text("note://a", "")], vec![]);
    let page =
        statics.list(&testkit::local_context(), None, &PageRequest::first(10)).await.unwrap();
    let uris: Vec<&str> = page.items.iter().map(|item| item.uri.as_str()).collect();
    assert_eq!(uris, ["note://b", "note://a"]);
    let first = &page.items[0];
    assert_eq!((first.mime.as_deref(), first.size), (Some("text/plain"), Some(5)));
    assert_eq!((first.title.as_deref(), first.listable), (Some("B"), Some(false)));
    assert_ne!(first.etag, page.items[1].etag);
    assert_eq!(page.freshness.ttl, Duration::from_secs(5));
    assert_eq!(page.freshness.scope, CacheScope::Public);
    assert!(page.next.is_none());
}

#[tokio::test]
async fn pages_of_inline_resources_are_shared_and_not_copied() {
    let entries = (0..300).map(|n| text(&format!("note://{n}"), "x")).collect();
    let statics = statics(entries, vec![]);
    let ctx = testkit::local_context();
    let first = statics.list(&ctx, None, &PageRequest::first(100)).await.unwrap();
    let again = statics.list(&ctx, None, &PageRequest::first(100)).await.unwrap();
    assert!(first.items.iter().zip(&again.items).all(|(one, other)| Arc::ptr_eq(one, other)));
    assert_eq!(first.next, Some(Cursor(Bytes::from_static(b"note://99"))));
    let ask = PageRequest::new(first.next, 300);
    assert_eq!(statics.list(&ctx, None, &ask).await.unwrap().items.len(), 200);
}

#[tokio::test]
async fn a_cursor_that_names_nothing_here_is_invalid() {
    let statics = statics(vec![text("note://a", "")], vec![]);
    let ask = PageRequest::new(Some(Cursor(Bytes::from_static(b"note://gone"))), 1);
    let error = statics.list(&testkit::local_context(), None, &ask).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
    let error = statics.templates(&testkit::local_context(), &ask).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
}

#[tokio::test]
async fn no_resource_is_a_collection() {
    let templates = vec![pattern("note://p/{id}", "text/plain", "{id}", &[])];
    let statics = statics(vec![text("note://a", "")], templates);
    for (at, kind) in [
        ("note://a", ErrorKind::Invalid),
        ("note://p/1", ErrorKind::Invalid),
        ("note://none", ErrorKind::NotFound),
    ] {
        let listed =
            statics.list(&testkit::local_context(), Some(&uri(at)), &PageRequest::first(1)).await;
        let error = listed.unwrap_err();
        assert_eq!((error.kind, error.uri), (kind, Some(uri(at))));
    }
}

#[tokio::test]
async fn of_two_resources_with_one_uri_the_first_is_kept() {
    let statics = statics(vec![text("note://a", "first"), text("note://a", "second")], vec![]);
    assert_eq!((statics.len(), statics.is_empty()), (1, false));
    assert_eq!(read(&statics, "note://a").await, b"first");
}

#[test]
fn claims_are_all_uris_and_templates() {
    let templates = vec![pattern("note://p/{id}", "text/plain", "{id}", &[])];
    let statics = statics(vec![text("note://a", ""), text("x:b", "")], templates);
    let (uris, templates) = statics.declared_uris();
    assert_eq!(uris, [uri("note://a"), uri("x:b")]);
    assert_eq!(templates[0].as_str(), "note://p/{id}");
}

#[tokio::test]
async fn a_read_of_inline_text_shares_its_bytes() {
    let statics = statics(vec![text("note://a", "some words")], vec![]);
    let mut addresses = Vec::new();
    for _ in 0..2 {
        let part = try_read(&statics, "note://a", &WHOLE).await.unwrap().remove(0);
        let Body::Text(ByteSource::Bytes(bytes)) = part.body else { panic!("no text at hand") };
        addresses.push(bytes.as_ptr());
    }
    assert_eq!(addresses[0], addresses[1]);
}

#[tokio::test]
async fn windows_end_between_characters_with_one_at_the_least() {
    // One, two, three and four bytes long.
    let statics = statics(vec![text("note://a", "aé日🦀")], vec![]);
    for (offset, length, start, bytes) in [
        (0, 2, 0, "a"),
        (0, 3, 0, "aé"),
        (1, 1, 1, "é"),
        (2, 1, 3, "日"),
        (4, 100, 6, "🦀"),
        (6, 0, 6, "🦀"),
        (7, 5, 10, ""),
        (10, 5, 10, ""),
        (99, 5, 10, ""),
    ] {
        let window = Window::Part { offset, length, etag: None };
        let part = try_read(&statics, "note://a", &window).await.unwrap().remove(0);
        let slice = Slice::new(start, bytes.len() as u64, 10);
        assert_eq!(part.slice, Some(slice), "{window:?}");
        assert_eq!(bytes_of(part.body).await, bytes, "{window:?}");
    }
}

#[tokio::test]
async fn too_large_a_read_names_the_window_to_ask_for() {
    let statics = statics(vec![text("note://a", "12345")], vec![]);
    let error = try_read(&statics, "note://a", &Window::Whole { limit: 4 }).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
    assert!(error.message.contains("offset 0, length 4"), "{}", error.message);
    assert_eq!(error.uri, Some(uri("note://a")));
    assert!(try_read(&statics, "note://a", &Window::Whole { limit: 5 }).await.is_ok());
}

#[tokio::test]
async fn a_pinned_etag_that_is_not_the_present_one_is_told_the_present_one() {
    let statics = statics(vec![text("note://a", "12345")], vec![]);
    let etag = statics
        .stat(&testkit::local_context(), &uri("note://a"))
        .await
        .unwrap()
        .etag
        .clone()
        .unwrap();
    let window = |etag: &str| Window::Part { offset: 0, length: 2, etag: Some(etag.to_owned()) };
    assert!(try_read(&statics, "note://a", &window(&etag)).await.is_ok());
    let error = try_read(&statics, "note://a", &window("old")).await.unwrap_err();
    assert_eq!((error.kind, error.facts), (ErrorKind::Changed, vec![("etag", etag)]));
}
