//! Tests of the limits of inotify, and of what it watches.

use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use resource::{Change, Health as _, HealthState, Interest};

use crate::fs::Options;
use crate::fs::tests::watching::limits::{hears_everything, serve_polled};
use crate::fs::tests::watching::updated;
use crate::fs::tests::{ListingMode, Tree};

#[tokio::test]
async fn beyond_the_limit_of_watches_changes_are_found_by_polling() {
    let tree = Tree::of(["x/y/a", "z/b", "c"]);
    let desk = serve_polled(&tree, Options { watches: 2, ..tree.options(ListingMode::Flat) });
    assert_eq!(
        (
            desk.0.health(&testkit::local_context()).state,
            desk.0.health(&testkit::local_context()).since
        ),
        (HealthState::Ready, None)
    );
    hears_everything(&tree, &desk).await;
    let stream = desk.subscribe(Interest::Everything).await;
    let health = desk.0.health(&testkit::local_context());
    assert_eq!(health.state, HealthState::Degraded);
    assert!(health.since.is_some());
    let words = health.message.unwrap();
    assert!(words.starts_with("changes are found by polling every 20ms: inotify"), "{words}");
    drop(stream);
}

#[tokio::test]
async fn when_the_kernel_lost_count_everything_is_looked_at() {
    let tree = Tree::of(["x/y/a", "b"]);
    let desk = tree.serve(ListingMode::Flat);
    let mut ear = desk.subscribe(Interest::Everything).await;
    let ears = desk.0.root.rescan_loop.open_inotify().unwrap();
    tree.write("x/y/a", "changed");
    tree.write("x/new", "");
    // Discards the kernel's events.
    ears.drain_events();
    ears.take_dirty();
    ears.simulate_overflow();
    ear.all_of([updated("file:///x/y/a"), updated("file:///x/new"), Change::Listing]).await;
}

#[tokio::test]
async fn a_disk_elsewhere_that_is_mounted_further_in_is_polled() {
    let tree = Tree::of(["x/far/a", "b"]);
    let mut desk = serve_polled(&tree, tree.options(ListingMode::Flat));
    Arc::get_mut(&mut desk.0.root).unwrap().dir.locality_check = |folder| {
        let path = fs::read_link(format!(
            "/proc/self/fd/{}",
            folder.for_inotify().unwrap().as_fd().as_raw_fd()
        ))?;
        Ok(!path.ends_with("far"))
    };
    let _near = desk.subscribe_to("file:///b").await;
    assert_eq!(desk.0.root.rescan_loop.polling_interval(), None);
    let mut one = desk.subscribe_to("file:///x/far/a").await;
    let mut all = desk.subscribe(Interest::Everything).await;
    assert_eq!(desk.0.root.rescan_loop.open_inotify().unwrap().watch_count(), 2, "the top and x");
    assert!(desk.0.root.rescan_loop.polling_interval().is_some());
    tree.write("x/far/a", "changed");
    assert_eq!(one.next().await, updated("file:///x/far/a"));
    all.all_of([updated("file:///x/far/a")]).await;
}

#[tokio::test]
async fn a_list_that_has_come_to_show_what_lies_further_in_is_heard_to_change_there() {
    for (folder, listed) in [("", false), ("sub/many/", true)] {
        let tree = Tree::of(["sub/a"]);
        for number in 0..1_005 {
            tree.write(format!("{folder}{number}"), "");
        }
        let desk = tree.serve(ListingMode::Auto);
        let mut ear = desk.subscribe(Interest::Listing).await;
        let watched = || desk.0.root.rescan_loop.open_inotify().unwrap().watch_count();
        assert_eq!(watched(), 1);
        for number in 0..995 {
            tree.remove(&format!("{folder}{number}"));
        }
        if listed {
            assert!(desk.paths(None).await.contains(&"sub/a".to_owned()));
        }
        let deep = async {
            while watched() < 2 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), deep).await.expect("folder is not watched");
        while ear.0.next().now_or_never().is_some() {}
        tree.write("sub/new", "");
        assert_eq!(ear.next().await, Change::Listing);
    }
}
