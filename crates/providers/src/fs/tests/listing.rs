//! Tests of descriptions in listings.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use resource::{ErrorKind, PageRequest, ProgressSink, Provider as _};
use rustix::fs::{Mode, OFlags, mkdirat, openat};

use super::{Fs, ListingMode, Options, ServedFs, Tree, uri};
use crate::fs::FileCount;

#[tokio::test]
async fn a_file_is_described_without_being_opened() {
    let tree = Tree::of(["src/main.rs"]);
    let when = UNIX_EPOCH + Duration::from_nanos(1_700_000_000_123_456_789);
    File::open(tree.at("src/main.rs")).unwrap().set_modified(when).unwrap();
    let desk = tree.serve(ListingMode::Flat);
    let stat = desk.stat("file:///src/main.rs").await.unwrap();
    assert_eq!((stat.name.as_str(), stat.size), ("main.rs", Some(11)));
    assert_eq!(stat.mime.as_deref(), Some("text/x-rust"));
    assert_eq!(stat.annotations.modified, Some(when));
    assert_eq!((stat.listable, stat.watchable), (Some(false), Some(true)));
    let page = desk.page(None, None, 10).await.unwrap();
    assert_eq!(page.items[0], stat);
    assert_eq!(page.freshness.ttl, Duration::from_secs(1));
}

#[tokio::test]
async fn a_folder_is_a_collection_with_or_without_a_slash() {
    let tree = Tree::of(["sub/a.txt"]);
    let desk = tree.serve(ListingMode::Tree);
    for (text, name) in [("file:///", "/"), ("file:///sub", "sub"), ("file:///sub/", "sub")] {
        let stat = desk.stat(text).await.unwrap();
        assert_eq!((stat.uri.as_str(), stat.name.as_str()), (text, name));
        assert_eq!((stat.listable, stat.size), (Some(true), None));
        assert_eq!(stat.mime.as_deref(), Some("inode/directory"));
    }
    assert_eq!(desk.paths(Some("file:///sub/")).await, ["sub/a.txt"]);
    assert!(desk.is_not_found("file:///sub/a.txt/").await);
}

#[tokio::test]
async fn a_file_is_no_collection_and_a_missing_folder_is_not_found() {
    let tree = Tree::of(["a.txt"]);
    let desk = tree.serve(ListingMode::Tree);
    let error = desk.page(Some("file:///a.txt"), None, 10).await.unwrap_err();
    assert_eq!((error.kind, &*error.message), (ErrorKind::Invalid, "not a collection"));
    assert_eq!(error.uri, Some(uri("file:///a.txt")));
    assert!(desk.is_not_found("file:///none").await);
}

#[tokio::test]
async fn names_of_any_bytes_are_listed_and_can_be_read() {
    let tree = Tree::of([]);
    let names: [&[u8]; 6] =
        [b"sp ace%41", b"\xff\xfe", "日本語.txt".as_bytes(), b"q?#[]", b"back\\slash", b"\nline"];
    for name in names {
        tree.write(OsStr::from_bytes(name), String::from_utf8_lossy(name).as_bytes());
    }
    let desk = tree.serve(ListingMode::Flat);
    let page = desk.page(None, None, 10).await.unwrap();
    assert_eq!(page.items.len(), names.len());
    for item in &page.items {
        assert_eq!(desk.text(item.uri.as_str()).await, item.name);
    }
    assert_eq!(desk.text("file:///日本語.txt").await, "日本語.txt");
    let stat = desk.stat("file:///%E6%97%A5%e6%9c%ac語.txt").await.unwrap();
    assert_eq!(stat.uri.as_str(), "file:///%E6%97%A5%e6%9c%ac語.txt");
}

#[tokio::test]
async fn the_etag_changes_with_the_content_even_if_size_and_date_do_not() {
    let tree = Tree::of(["a.txt"]);
    let desk = tree.serve(ListingMode::Flat);
    let etag = || async { desk.stat("file:///a.txt").await.unwrap().etag.clone().unwrap() };
    let first = etag().await;
    assert_eq!(etag().await, first);
    let modified = fs::metadata(tree.at("a.txt")).unwrap().modified().unwrap();
    tree.write("b.txt", "b.txt");
    File::open(tree.at("b.txt")).unwrap().set_modified(modified).unwrap();
    fs::rename(tree.at("b.txt"), tree.at("a.txt")).unwrap();
    assert_ne!(etag().await, first);
}

#[tokio::test]
async fn auto_is_flat_up_to_a_thousand_and_tree_above() {
    let tree = Tree::of([".hidden"]);
    for number in 0..999 {
        tree.write(format!("sub/{number:04}"), "");
    }
    let desk = tree.serve(ListingMode::Auto);
    assert_eq!(desk.paths(None).await.len(), 999);
    tree.write("sub/one-more", "");
    assert_eq!(desk.paths(None).await, ["sub"]);
    tree.remove("sub/one-more");
    let first = desk.page(None, None, 10).await.unwrap();
    for number in 0..100 {
        tree.write(format!("more/{number}"), "");
    }
    let second = desk.page(None, first.next, 10).await.unwrap();
    assert_eq!(super::path(&second.items[0]), "sub/0010", "the walk stays flat");
}

#[tokio::test]
async fn a_count_is_bounded() {
    let tree = Tree::of(["a", "b/c", "b/d/e", ".f"]);
    tree.link("loop", ".");
    let desk = tree.serve(ListingMode::Auto);
    assert_eq!(
        desk.0.count(&testkit::local_context(), 100).await,
        FileCount { files: 3, is_complete: true }
    );
    let some = desk.0.count(&testkit::local_context(), 2).await;
    assert!(!some.is_complete && some.files <= 3);
    for number in 0..20 {
        tree.write(format!("many/{number}"), "");
        tree.write(format!("more-{number}"), "");
    }
    let desk = tree.serve(ListingMode::Auto);
    let flat = desk.0.count(&testkit::local_context(), 10).await;
    assert_eq!(flat, FileCount { files: 10, is_complete: false }, "more than may be counted");
}

#[tokio::test]
async fn a_root_that_is_gone_is_unavailable_and_not_an_empty_list() {
    let tree = Tree::of(["a"]);
    let desk = tree.serve(ListingMode::Auto);
    fs::remove_dir_all(tree.root()).unwrap();
    let error = desk.page(None, None, 10).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
}

#[tokio::test]
async fn the_template_is_listed_once() {
    let desk = Tree::of([]).serve(ListingMode::Auto);
    let page = desk.0.templates(&testkit::local_context(), &PageRequest::first(10)).await.unwrap();
    assert_eq!(page.items.len(), 1);
    assert_eq!(page.items[0].uri.as_str(), "file:///{+path}");
    assert!(page.items[0].uri.matches(&uri("file:///a/b.txt")).is_some());
}

#[tokio::test]
async fn what_did_not_change_is_the_very_same_description_again() {
    let tree = Tree::of(["a.txt", "b.txt", "sub/c.txt"]);
    tree.write(OsStr::from_bytes(b"c\xff"), "");
    tree.link("link", "a.txt");
    tree.link("way", "sub");
    for listing in [ListingMode::Flat, ListingMode::Tree] {
        tree.write("b.txt", "as it was");
        let desk = tree.serve(listing);
        let items = async |parent| desk.page(parent, None, 10).await.unwrap().items;
        let first = items(None).await;
        let again = items(None).await;
        assert!(first.len() > 4 && first.len() == again.len());
        assert!(first.iter().zip(&again).all(|(one, other)| Arc::ptr_eq(one, other)));
        tree.write("b.txt", "another content");
        tree.write("z.txt", "new");
        let changed = items(None).await;
        for (one, other) in first.iter().zip(&changed) {
            assert_eq!(one.uri, other.uri);
            assert_eq!(Arc::ptr_eq(one, other), one.name != "b.txt", "{}", one.name);
        }
        assert_eq!(changed[1].size, Some(15));
        let (by_link, direct) =
            (items(Some("file:///way")).await, items(Some("file:///sub")).await);
        assert_eq!(by_link[0].uri.as_str(), "file:///way/c.txt");
        assert_eq!(direct[0].uri.as_str(), "file:///sub/c.txt");
        tree.remove("z.txt");
    }
}

#[derive(Default)]
struct LastProgress(AtomicU64);

impl ProgressSink for LastProgress {
    fn report(&self, step: resource::ProgressStep) {
        let told = self.0.fetch_add(10_000, Ordering::SeqCst) + 10_000;
        assert_eq!(told as f64, step.done);
    }
}

#[tokio::test]
async fn a_folder_of_a_hundred_thousand_names_is_paged_and_its_reading_reported() {
    let tree = Tree::of(["many/x"]);
    tree.remove("many/x");
    for number in 0..100_000 {
        File::create(tree.at(format!("many/{number:06}"))).unwrap();
    }
    let desk = tree.serve(ListingMode::Flat);
    let heard = Arc::new(LastProgress::default());
    let ctx = testkit::local_context().with_progress(heard.clone());
    desk.0.list(&ctx, Some(&uri("file:///many")), &PageRequest::first(1)).await.unwrap();
    assert_eq!(heard.0.load(Ordering::SeqCst), 100_000);
    let expected: Vec<_> = (0..100_000).map(|number| format!("many/{number:06}")).collect();
    assert_eq!(desk.paths_by(Some("file:///many"), 1_000).await, expected);
    assert_eq!(desk.paths_by(None, 1_000).await, expected);
    assert!(desk.0.root.name_cache.weight() < 100_000 * 16);
}

#[tokio::test]
async fn a_uri_that_is_listed_can_be_read_however_long_the_path_is() {
    let tree = Tree::of(["short"]);
    // Each letter takes three bytes, and nine in a URI.
    let long = ["長".repeat(80), "長".repeat(80), "長".repeat(80)].join("/");
    for name in ["a", &"b".repeat(100), &"c".repeat(200), "deep/d"] {
        tree.write(format!("{long}/{name}"), name);
    }
    let listed = [720 * 3 + 11 + 1, 720 * 3 + 11 + 100, 720 * 3 + 11 + 160].map(|max_uri| {
        let options = Options { max_uri, ..tree.options(ListingMode::Flat) };
        ServedFs(Fs::open(options).unwrap())
    });
    for (served, expected) in listed.into_iter().zip([2, 4, 4]) {
        let paths = served.paths(None).await;
        assert_eq!(paths.len(), expected, "{paths:?}");
        for path in paths {
            let uri = format!("file:///{path}");
            assert!(served.stat(&uri).await.is_ok() && served.whole(&uri).await.is_ok());
        }
        let name = "c".repeat(200);
        let encoded = "%E9%95%B7".repeat(80);
        let missing = format!("file:///{encoded}/{encoded}/{encoded}/{name}");
        assert!(served.is_not_found(&missing).await);
        let parent = format!("file:///{encoded}/{encoded}/{encoded}");
        assert!(!served.paths(Some(&parent)).await.iter().any(|path| path.ends_with(&name)));
    }
}

#[tokio::test]
async fn a_path_that_is_too_long_to_name_is_not_listed() {
    let tree = Tree::of(["a"]);
    let name = "n".repeat(250);
    let open = |folder: BorrowedFd<'_>, name: &str, flags| {
        openat(folder, name, flags, Mode::RWXU).unwrap()
    };
    let mut folder = OwnedFd::from(File::open(tree.root()).unwrap());
    // One name at a time: the whole path is longer than any system call takes.
    for _ in 0..18 {
        mkdirat(&folder, &name, Mode::RWXU).unwrap();
        folder = open(folder.as_fd(), &name, OFlags::DIRECTORY);
        open(folder.as_fd(), "f", OFlags::CREATE | OFlags::WRONLY);
    }
    let served = tree.serve(ListingMode::Flat);
    let paths = served.paths(None).await;
    assert_eq!(paths.len(), 1 + 16);
    for path in paths {
        assert!(served.whole(&format!("file:///{path}")).await.is_ok());
    }
}
