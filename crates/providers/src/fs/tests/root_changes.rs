//! Tests of a root that goes, comes back or is replaced while it is served.

use std::fs;
use std::time::Duration;

use resource::{Change, ErrorKind, Health as _, HealthState, Interest};

use super::watching::{removed, updated};
use super::{Fs, ListingMode, Options, ServedFs, Tree};
use crate::fs::WatchMode;

fn state(served: &ServedFs) -> HealthState {
    served.0.health(&testkit::local_context()).state
}

async fn failure(served: &ServedFs, text: &str) -> ErrorKind {
    served.whole(text).await.err().unwrap().kind
}

#[tokio::test]
async fn a_root_that_is_gone_has_failed_and_one_that_is_back_is_served() {
    let tree = Tree::of(["a", "sub/b"]);
    let served = tree.serve(ListingMode::Flat);
    assert_eq!(state(&served), HealthState::Ready);
    assert_eq!(served.paths(None).await, ["a", "sub/b"]);
    for round in 0..3 {
        fs::remove_dir_all(tree.root()).unwrap();
        assert_eq!(failure(&served, "file:///a").await, ErrorKind::Unavailable);
        assert_eq!(state(&served), HealthState::Failed);
        assert!(served.0.health(&testkit::local_context()).since.is_some());
        assert_eq!(served.page(None, None, 9).await.unwrap_err().kind, ErrorKind::Unavailable);
        tree.write("sub/b", format!("round {round}"));
        tree.write(format!("c{round}"), "");
        assert_eq!(served.text("file:///sub/b").await, format!("round {round}"));
        assert_eq!(state(&served), HealthState::Ready);
        assert_eq!(served.paths(None).await, [&format!("c{round}"), "sub/b"]);
        assert!(served.is_not_found("file:///a").await);
    }
}

#[tokio::test]
async fn a_root_that_is_moved_away_is_gone_and_another_in_its_place_is_served() {
    let tree = Tree::of(["old"]);
    let mut served = tree.serve(ListingMode::Flat);
    let away = tree.home.path().join("away");
    for local in [true, false] {
        served.set_local(local);
        fs::rename(tree.root(), &away).unwrap();
        assert_eq!(failure(&served, "file:///old").await, ErrorKind::Unavailable);
        assert_eq!(state(&served), HealthState::Failed);
        tree.write("new", "new");
        tree.link("link", tree.at("new"));
        assert_eq!(served.paths(None).await, ["link", "new"]);
        assert_eq!(served.text("file:///link").await, "new");
        fs::remove_dir_all(tree.root()).unwrap();
        fs::rename(&away, tree.root()).unwrap();
        assert_eq!(served.paths(None).await, ["old"]);
        assert_eq!(state(&served), HealthState::Ready);
    }
}

#[tokio::test]
async fn watching_goes_on_when_the_root_is_back() {
    for watch in [WatchMode::Auto, WatchMode::Poll] {
        let tree = Tree::of(["a", "sub/b"]);
        let poll = Duration::from_millis(20);
        let options = Options { watch, poll, ..tree.options(ListingMode::Flat) };
        let served = ServedFs(Fs::open(options).unwrap());
        let mut all = served.subscribe(Interest::Everything).await;
        let mut one = served.subscribe_to("file:///sub/b").await;
        let mut list = served.subscribe(Interest::Listing).await;
        let away = tree.home.path().join("away");
        fs::rename(tree.root(), &away).unwrap();
        all.all_of([removed("file:///a"), removed("file:///sub/b")]).await;
        assert_eq!(one.next().await, removed("file:///sub/b"));
        assert_eq!(list.next().await, Change::Listing);
        tree.write("sub/b", "again");
        all.all_of([updated("file:///sub/b")]).await;
        assert_eq!(one.next().await, updated("file:///sub/b"));
        tree.write("sub/c", "new");
        all.all_of([updated("file:///sub/c")]).await;
        list.until(&Change::Listing).await;
        tree.write("sub/b", "changed");
        one.all_of([updated("file:///sub/b")]).await;
        // Nothing in the old folder concerns the subscribers.
        fs::write(away.join("x"), "").unwrap();
        tree.write("y", "");
        let told = all.until(&updated("file:///y")).await;
        assert!(!told.contains(&updated("file:///x")), "{told:?}");
    }
}
