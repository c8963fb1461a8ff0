//! Tests of polling, and of the end of streams.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use resource::{Change, ErrorKind, Health as _, HealthState, Interest, Provider as _};

use super::super::{ListingMode, ServedFs, Tree, uri};
use super::{removed, updated};
use crate::fs::{Fs, Options, WatchMode};

pub(in crate::fs) fn serve_polled(tree: &Tree, options: Options) -> ServedFs {
    ServedFs(
        Fs::open(Options { root: tree.root(), poll: Duration::from_millis(20), ..options })
            .unwrap(),
    )
}

pub(in crate::fs) async fn hears_everything(tree: &Tree, served: &ServedFs) {
    let mut all = served.subscribe(Interest::Everything).await;
    let mut one = served.subscribe_to("file:///x/y/a").await;
    let mut lists = served.subscribe(Interest::Listing).await;
    tree.write("x/y/a", "changed");
    all.all_of([updated("file:///x/y/a")]).await;
    assert_eq!(one.next().await, updated("file:///x/y/a"));
    tree.write("new/er/b", "");
    all.all_of([updated("file:///new/er/b"), Change::Listing]).await;
    assert_eq!(lists.next().await, Change::Listing);
    tree.remove("x/y/a");
    all.all_of([removed("file:///x/y/a")]).await;
    assert_eq!(one.next().await, removed("file:///x/y/a"));
    tree.write("x/y/a", "back");
    all.all_of([updated("file:///x/y/a")]).await;
    assert_eq!(one.next().await, updated("file:///x/y/a"));
}

#[tokio::test]
async fn where_polling_is_asked_for_or_the_disk_is_elsewhere_nothing_is_amiss() {
    for is_local in [true, false] {
        let tree = Tree::of(["x/y/a", "z/b", "c"]);
        let watch = if is_local { WatchMode::Poll } else { WatchMode::Auto };
        let mut desk = serve_polled(&tree, Options { watch, ..tree.options(ListingMode::Flat) });
        desk.set_local(is_local);
        hears_everything(&tree, &desk).await;
        assert!(desk.0.root.rescan_loop.open_inotify().is_none());
        let health = desk.0.health(&testkit::local_context());
        assert_eq!(health.state, HealthState::Ready);
        assert_eq!(health.message.unwrap(), "changes are found by polling every 20ms");
    }
}

#[tokio::test(start_paused = true)]
async fn polling_goes_by_a_clock_that_can_be_stopped() {
    let tree = Tree::of(["a"]);
    let poll = Duration::from_secs(3_000);
    let options = Options { watch: WatchMode::Poll, poll, ..tree.options(ListingMode::Flat) };
    let desk = ServedFs(Fs::open(options).unwrap());
    let mut stream = desk.subscribe(Interest::Everything).await;
    tree.write("a", "changed");
    assert_eq!(stream.0.next().await, Some(updated("file:///a")));
}

#[tokio::test]
async fn where_changes_are_not_told_nobody_is_promised_any() {
    let tree = Tree::of(["a"]);
    let desk =
        serve_polled(&tree, Options { watch: WatchMode::Off, ..tree.options(ListingMode::Flat) });
    assert!(desk.0.facets().watch.is_none());
    assert_eq!(desk.stat("file:///a").await.unwrap().watchable, Some(false));
    let error = desk.try_subscribe(Interest::Resource(uri("file:///a"))).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Unsupported);
}

#[tokio::test]
async fn when_the_last_stream_is_dropped_nothing_is_left() {
    let tree = Tree::of(["x/y/a", "b"]);
    let desk = tree.serve(ListingMode::Flat);
    let site = desk.0.root.clone();
    let first = desk.subscribe(Interest::Everything).await;
    let second = desk.subscribe_to("file:///x/y/a").await;
    desk.assert_watched(3);
    drop(first);
    let ears = site.rescan_loop.open_inotify().map(|ears| Arc::downgrade(&ears));
    drop(second);
    let over = async {
        while site.rescan_loop.is_running()
            || ears.as_ref().is_some_and(|ears| ears.strong_count() > 0)
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), over).await.expect("the rescan loop still runs");
    assert!(site.rescan_loop.subscribers().is_empty() && site.rescan_loop.open_inotify().is_none());
}

#[tokio::test]
async fn a_stream_ends_with_its_source() {
    let tree = Tree::of(["a"]);
    let desk = tree.serve(ListingMode::Flat);
    let mut ear = desk.subscribe(Interest::Everything).await;
    drop(desk);
    let end = tokio::time::timeout(Duration::from_secs(10), ear.0.next()).await;
    assert_eq!(end.expect("the stream does not end"), None);
}

#[tokio::test]
async fn a_thousand_streams_are_one_task_and_few_watches() {
    let tree = Tree::of(["x/y/a"]);
    let desk = tree.serve(ListingMode::Flat);
    let mut ears = Vec::new();
    for _ in 0..1_000 {
        ears.push(desk.subscribe_to("file:///x/y/a").await);
    }
    desk.assert_watched(3);
    fs::write(tree.at("x/y/a"), "changed").unwrap();
    for ear in &mut ears {
        assert_eq!(ear.next().await, updated("file:///x/y/a"));
    }
}
