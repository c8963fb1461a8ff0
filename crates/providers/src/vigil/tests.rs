//! Tests of inotify watches, cache guards and the change channel.

mod desk;
pub(crate) mod shortage;

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt as _;
use resource::{Change, Uri};
use tokio::sync::Notify;

use super::ears::{Deaf, Ears};
use crate::feed::Feed;

fn ears(most: usize) -> Arc<Ears> {
    Arc::new(Ears::open(most, Arc::default(), Arc::new(Notify::new())).unwrap())
}

fn open(path: &Path) -> OwnedFd {
    fs::File::open(path).unwrap().into()
}

#[test]
fn a_write_is_noted_before_it_returns_and_reading_is_not_noted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "").unwrap();
    let ears = ears(8);
    let _hold = ears.listen(b"key", open(folder.path())).unwrap();
    for _ in 0..100 {
        fs::read(folder.path().join("a")).unwrap();
        fs::read_dir(folder.path()).unwrap().for_each(drop);
        ears.drain();
        assert!(ears.take().is_empty());
        fs::write(folder.path().join("a"), "x").unwrap();
        ears.drain();
        assert!(ears.take().folders[&b"key"[..]].names.contains(&b"a"[..]));
    }
}

#[test]
fn a_folder_is_watched_as_long_as_somebody_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let ears = ears(8);
    let first = ears.listen(b"key", open(folder.path())).unwrap();
    let second = ears.listen(b"key", open(folder.path())).unwrap();
    let guard = ears.guard(b"key", open(folder.path())).unwrap();
    drop(first);
    drop(guard);
    fs::write(folder.path().join("a"), "").unwrap();
    ears.drain();
    assert!(!ears.take().is_empty());
    drop(second);
    assert_eq!(ears.len(), 0);
    fs::write(folder.path().join("b"), "").unwrap();
    ears.drain();
    assert!(ears.take().is_empty());
}

#[test]
fn no_more_than_the_limit_are_watched() {
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let ears = ears(2);
    let _first = ears.listen(b"1", open(folders[0].path())).unwrap();
    let second = ears.listen(b"2", open(folders[1].path())).unwrap();
    assert!(matches!(ears.listen(b"3", open(folders[2].path())), Err(Deaf::Full)));
    drop(second);
    assert!(ears.listen(b"3", open(folders[2].path())).is_ok());
}

#[test]
fn trust_ends_with_an_event_about_the_very_file() {
    let folder = tempfile::tempdir().unwrap();
    let ears = ears(8);
    let guard = ears.guard(b"key", open(folder.path())).unwrap();
    let look = guard.trust().unwrap().look();
    fs::write(folder.path().join("a"), "").unwrap();
    let trust = guard.trust().unwrap();
    assert!(!trust.covers(look, b"a") && trust.covers(look, b"b"));
    assert!(trust.covers(trust.look(), b"a"));
    ears.overflow();
    let after = guard.trust().unwrap();
    assert!(!after.covers(look, b"b") && !after.covers(trust.look(), b"a"));
    fs::remove_dir_all(folder.path()).unwrap();
    assert!(guard.trust().is_none(), "the folder is gone");
}

#[test]
fn trust_survives_no_more_names_than_are_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let ears = ears(8);
    let guard = ears.guard(b"key", open(folder.path())).unwrap();
    let look = guard.trust().unwrap().look();
    for number in 0..2_000 {
        fs::write(folder.path().join(number.to_string()), "").unwrap();
    }
    let trust = guard.trust().unwrap();
    assert!((0..2_000).all(|number: i32| !trust.covers(look, number.to_string().as_bytes())));
}

#[test]
fn very_many_names_count_as_a_change_of_the_whole_folder() {
    let folder = tempfile::tempdir().unwrap();
    let ears = ears(8);
    let _hold = ears.listen(b"key", open(folder.path())).unwrap();
    for number in 0..20_000 {
        fs::write(folder.path().join(number.to_string()), "").unwrap();
        if number % 1_000 == 0 {
            ears.drain();
        }
    }
    ears.drain();
    let heard = ears.take();
    assert!(heard.all || heard.folders[&b"key"[..]].whole);
}

#[test]
fn one_who_listens_is_not_turned_to_another_folder_by_a_guard() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let ears = ears(8);
    let hold = ears.listen(b"key", open(folders[0].path())).unwrap();
    assert!(matches!(ears.guard(b"key", open(folders[1].path())), Err(Deaf::Refused(_))));
    fs::write(folders[0].path().join("a"), "").unwrap();
    ears.drain();
    assert!(!ears.take().is_empty());
    hold.renew(open(folders[1].path())).unwrap();
    fs::write(folders[0].path().join("b"), "").unwrap();
    ears.drain();
    assert!(ears.take().is_empty(), "the old one is not listened to");
    fs::write(folders[1].path().join("c"), "").unwrap();
    ears.drain();
    assert!(!ears.take().is_empty());
}

#[tokio::test]
async fn what_waits_is_a_set_with_what_became_of_each_last() {
    let (feed, mut stories) = Feed::new(|| {});
    let uri = |text: &str| Uri::parse(text).unwrap();
    for _ in 0..10_000 {
        feed.tell(Change::Updated(uri("a:1")));
        feed.tell(Change::Listing);
        feed.tell(Change::Updated(uri("a:2")));
        feed.tell(Change::Removed(uri("a:2")));
    }
    assert_eq!(feed.len(), 3);
    drop(feed);
    let told: Vec<Change> =
        std::iter::from_fn(|| futures_util::FutureExt::now_or_never(stories.next()).flatten())
            .collect();
    let expected = [Change::Updated(uri("a:1")), Change::Listing, Change::Removed(uri("a:2"))];
    assert_eq!(told, expected);
}
