//! Tests of inotify watches, cache guards and the change channel.

pub(crate) mod fd_limit;
mod rescan;

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt as _;
use resource::{Change, Uri};
use tokio::sync::Notify;

use super::inotify::{Inotify, WatchError};
use crate::change_channel::ChangeSender;

fn open_inotify(most: usize) -> Arc<Inotify> {
    Arc::new(Inotify::open(most, Arc::default(), Arc::new(Notify::new())).unwrap())
}

fn open(path: &Path) -> OwnedFd {
    fs::File::open(path).unwrap().into()
}

#[test]
fn a_write_is_noted_before_it_returns_and_reading_is_not_noted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "").unwrap();
    let ears = open_inotify(8);
    let _hold = ears.add_watch(b"key", open(folder.path())).unwrap();
    for _ in 0..100 {
        fs::read(folder.path().join("a")).unwrap();
        fs::read_dir(folder.path()).unwrap().for_each(drop);
        ears.drain_events();
        assert!(ears.take_dirty().is_empty());
        fs::write(folder.path().join("a"), "x").unwrap();
        ears.drain_events();
        assert!(ears.take_dirty().folders[&b"key"[..]].names.contains(&b"a"[..]));
    }
}

#[test]
fn a_folder_is_watched_as_long_as_somebody_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let ears = open_inotify(8);
    let first = ears.add_watch(b"key", open(folder.path())).unwrap();
    let second = ears.add_watch(b"key", open(folder.path())).unwrap();
    let guard = ears.add_guard(b"key", open(folder.path())).unwrap();
    drop(first);
    drop(guard);
    fs::write(folder.path().join("a"), "").unwrap();
    ears.drain_events();
    assert!(!ears.take_dirty().is_empty());
    drop(second);
    assert_eq!(ears.watch_count(), 0);
    fs::write(folder.path().join("b"), "").unwrap();
    ears.drain_events();
    assert!(ears.take_dirty().is_empty());
}

#[test]
fn no_more_than_the_limit_are_watched() {
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let ears = open_inotify(2);
    let _first = ears.add_watch(b"1", open(folders[0].path())).unwrap();
    let second = ears.add_watch(b"2", open(folders[1].path())).unwrap();
    assert!(matches!(ears.add_watch(b"3", open(folders[2].path())), Err(WatchError::Unavailable)));
    drop(second);
    assert!(ears.add_watch(b"3", open(folders[2].path())).is_ok());
}

#[test]
fn trust_ends_with_an_event_about_the_very_file() {
    let folder = tempfile::tempdir().unwrap();
    let ears = open_inotify(8);
    let guard = ears.add_guard(b"key", open(folder.path())).unwrap();
    let look = guard.validity().unwrap().stamp();
    fs::write(folder.path().join("a"), "").unwrap();
    let trust = guard.validity().unwrap();
    assert!(!trust.covers(look, b"a") && trust.covers(look, b"b"));
    assert!(trust.covers(trust.stamp(), b"a"));
    ears.simulate_overflow();
    let after = guard.validity().unwrap();
    assert!(!after.covers(look, b"b") && !after.covers(trust.stamp(), b"a"));
    fs::remove_dir_all(folder.path()).unwrap();
    assert!(guard.validity().is_none(), "the folder is gone");
}

#[test]
fn trust_survives_no_more_names_than_are_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let ears = open_inotify(8);
    let guard = ears.add_guard(b"key", open(folder.path())).unwrap();
    let look = guard.validity().unwrap().stamp();
    for number in 0..2_000 {
        fs::write(folder.path().join(number.to_string()), "").unwrap();
    }
    let trust = guard.validity().unwrap();
    assert!((0..2_000).all(|number: i32| !trust.covers(look, number.to_string().as_bytes())));
}

#[test]
fn very_many_names_count_as_a_change_of_the_whole_folder() {
    let folder = tempfile::tempdir().unwrap();
    let ears = open_inotify(8);
    let _hold = ears.add_watch(b"key", open(folder.path())).unwrap();
    for number in 0..20_000 {
        fs::write(folder.path().join(number.to_string()), "").unwrap();
        if number % 1_000 == 0 {
            ears.drain_events();
        }
    }
    ears.drain_events();
    let heard = ears.take_dirty();
    assert!(heard.all || heard.folders[&b"key"[..]].whole);
}

#[test]
fn one_who_listens_is_not_turned_to_another_folder_by_a_guard() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let ears = open_inotify(8);
    let hold = ears.add_watch(b"key", open(folders[0].path())).unwrap();
    assert!(matches!(ears.add_guard(b"key", open(folders[1].path())), Err(WatchError::Refused(_))));
    fs::write(folders[0].path().join("a"), "").unwrap();
    ears.drain_events();
    assert!(!ears.take_dirty().is_empty());
    hold.renew(open(folders[1].path())).unwrap();
    fs::write(folders[0].path().join("b"), "").unwrap();
    ears.drain_events();
    assert!(ears.take_dirty().is_empty(), "the old one is not listened to");
    fs::write(folders[1].path().join("c"), "").unwrap();
    ears.drain_events();
    assert!(!ears.take_dirty().is_empty());
}

#[tokio::test]
async fn what_waits_is_a_set_with_what_became_of_each_last() {
    let (feed, mut stories) = ChangeSender::channel(|| {});
    let uri = |text: &str| Uri::parse(text).unwrap();
    for _ in 0..10_000 {
        feed.send(Change::Updated(uri("a:1")));
        feed.send(Change::Listing);
        feed.send(Change::Updated(uri("a:2")));
        feed.send(Change::Removed(uri("a:2")));
    }
    assert_eq!(feed.len(), 3);
    drop(feed);
    let told: Vec<Change> =
        std::iter::from_fn(|| futures_util::FutureExt::now_or_never(stories.next()).flatten())
            .collect();
    let expected = [Change::Updated(uri("a:1")), Change::Listing, Change::Removed(uri("a:2"))];
    assert_eq!(told, expected);
}
