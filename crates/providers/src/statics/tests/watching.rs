//! Tests of change notifications for files behind declared resources.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use futures_util::{FutureExt as _, StreamExt as _};
use resource::{Change, ErrorKind, Health as _, HealthState, Interest, Provider as _, Watch as _};

use super::super::watch::DeclaredFileWatcher;
use super::{Statics, file, pattern, read, statics, text, uri};
use crate::file_watch::tests::fd_limit::{exhaust_descriptors, in_limited_process};

type Changes = Pin<Box<dyn Stream<Item = Change> + Send>>;

async fn watch(statics: &Statics, interest: Interest) -> Changes {
    statics.watch(&testkit::local_context(), interest).await.unwrap()
}

async fn next(changes: &mut Changes) -> Change {
    let next = tokio::time::timeout(Duration::from_secs(10), changes.next());
    next.await.expect("no change within ten seconds").expect("the stream ended")
}

fn updated(text: &str) -> Change {
    Change::Updated(uri(text))
}

#[tokio::test]
async fn a_file_that_is_written_replaced_or_gone_is_an_update() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sub/a.txt");
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(&path, "one").unwrap();
    let statics =
        statics(vec![file("note://a", "text/plain", &path), text("note://x", "x")], vec![]);
    let mut one = watch(&statics, Interest::Resource(uri("note://a"))).await;
    let mut all = watch(&statics, Interest::Everything).await;
    fs::write(&path, "two").unwrap();
    assert_eq!(next(&mut one).await, updated("note://a"));
    assert_eq!(next(&mut all).await, updated("note://a"));
    while read(&statics, "note://a").await != b"two" {}
    fs::write(folder.path().join("sub/new"), "three").unwrap();
    fs::rename(folder.path().join("sub/new"), &path).unwrap();
    assert_eq!(next(&mut one).await, updated("note://a"));
    fs::rename(folder.path().join("sub"), folder.path().join("away")).unwrap();
    assert_eq!(next(&mut one).await, updated("note://a"));
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(&path, "four").unwrap();
    assert_eq!(next(&mut one).await, updated("note://a"));
}

#[tokio::test]
async fn the_same_content_again_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    for path in &paths {
        fs::write(path, "same").unwrap();
    }
    let statics = statics(
        vec![file("note://a", "text/plain", &paths[0]), file("note://b", "text/plain", &paths[1])],
        vec![],
    );
    let mut all = watch(&statics, Interest::Everything).await;
    fs::File::options()
        .write(true)
        .open(&paths[0])
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    fs::write(&paths[1], "other").unwrap();
    assert_eq!(next(&mut all).await, updated("note://b"));
}

#[tokio::test]
async fn a_link_that_is_turned_to_another_file_is_an_update() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("v1")).unwrap();
    fs::create_dir_all(at("v2")).unwrap();
    fs::write(at("v1/a"), "one").unwrap();
    fs::write(at("v2/a"), "two").unwrap();
    symlink("v1", at("data")).unwrap();
    symlink("data/a", at("a")).unwrap();
    let statics = statics(vec![file("note://a", "text/plain", &at("a"))], vec![]);
    let mut one = watch(&statics, Interest::Resource(uri("note://a"))).await;
    symlink("v2", at("data.new")).unwrap();
    fs::rename(at("data.new"), at("data")).unwrap();
    assert_eq!(next(&mut one).await, updated("note://a"));
    fs::write(at("v2/a"), "three").unwrap();
    assert_eq!(next(&mut one).await, updated("note://a"));
}

#[tokio::test]
async fn what_has_no_file_is_watched_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "a").unwrap();
    let templates = || vec![pattern("note://p/{id}", "text/plain", "{id}", &[])];
    let statics_of = |entries| statics(entries, templates());
    assert!(statics_of(vec![text("note://x", "x")]).facets().watch.is_some());
    let statics = statics_of(vec![text("note://x", "x"), file("note://a", "text/plain", &path)]);
    let ctx = testkit::local_context();
    let missing = statics.watch(&ctx, Interest::Resource(uri("note://none"))).await.err().unwrap();
    assert_eq!(missing.kind, ErrorKind::NotFound);
    for at in ["note://x", "note://p/1", "note://a"] {
        assert_eq!(statics.stat(&ctx, &uri(at)).await.unwrap().watchable, Some(true));
        let mut changes = watch(&statics, Interest::Resource(uri(at))).await;
        assert_eq!(changes.next().now_or_never(), None, "{at}");
    }
    drop(watch(&statics, Interest::Listing).await);
}

#[tokio::test]
async fn beyond_the_limit_of_watches_files_are_polled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "one").unwrap();
    let mut statics = statics(vec![file("note://a", "text/plain", &path)], vec![]);
    let files = statics.resources.files();
    statics.watcher = Arc::new(DeclaredFileWatcher::new(files, Duration::from_millis(20), 1));
    let mut one = watch(&statics, Interest::Resource(uri("note://a"))).await;
    assert_eq!(statics.health(&testkit::local_context()).state, HealthState::Degraded);
    fs::write(&path, "two").unwrap();
    assert_eq!(next(&mut one).await, updated("note://a"));
    drop(one);
    let over = async {
        while statics.watcher.rescan_loop().is_running() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), over).await.expect("the rescan task still runs");
    assert_eq!(statics.health(&testkit::local_context()).state, HealthState::Ready);
}

#[tokio::test]
async fn after_a_moment_without_room_for_open_files_a_file_is_heard_again() {
    if !in_limited_process(concat!(
        "statics::tests::watching::",
        "after_a_moment_without_room_for_open_files_a_file_is_heard_again"
    )) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let mut open = fs::File::create(&path).unwrap();
    let statics = statics(vec![file("note://a", "text/plain", &path)], vec![]);
    let mut one = watch(&statics, Interest::Resource(uri("note://a"))).await;
    let taken = exhaust_descriptors();
    open.write_all(b"1").unwrap();
    // Long enough for the rescan loop to try and fail.
    let _early = tokio::time::timeout(Duration::from_millis(200), one.next()).await;
    drop(taken);
    for _ in 0..4 {
        open.write_all(b"2").unwrap();
        assert_eq!(next(&mut one).await, updated("note://a"));
    }
    assert_eq!(statics.health(&testkit::local_context()).state, HealthState::Ready);
}
