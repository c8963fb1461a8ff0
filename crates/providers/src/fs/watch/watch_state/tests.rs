//! Tests of folders that a subscription covers, and scans only in a later round.

use std::fs;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use resource::Change;
use tempfile::TempDir;

use super::FsWatchState;
use super::first_scan::MAX_FOLDERS_PER_ROUND;
use crate::change_channel::ChangeReceiver;
use crate::file_watch::{ChangeSender, DirtySet, RescanOutcome};
use crate::fs::options::{ListingMode, Options};
use crate::fs::root::FsRoot;

/// More folders than one round scans.
const FOLDERS: usize = MAX_FOLDERS_PER_ROUND + 88;

/// A subscription whose rounds the test runs itself.
struct Fixture {
    dir: TempDir,
    root: FsRoot,
    state: FsWatchState,
    sender: ChangeSender,
    receiver: ChangeReceiver,
}

impl Fixture {
    fn new(state: FsWatchState, listing: ListingMode, files: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..FOLDERS {
            fs::create_dir(dir.path().join(format!("d{number}"))).unwrap();
            fs::write(dir.path().join(format!("d{number}/old")), "").unwrap();
        }
        for number in 0..files {
            fs::write(dir.path().join(format!("f{number}")), "").unwrap();
        }
        let root = FsRoot::open(Options { listing, ..Options::new(dir.path()) }).unwrap();
        let (sender, receiver) = ChangeSender::channel(|| {});
        let mut fixture = Self { dir, root, state, sender, receiver };
        fixture.state.initial_scan(&fixture.root, &fixture.sender).unwrap();
        fixture
    }

    fn rescan(&mut self, dirty: &DirtySet) -> RescanOutcome {
        self.state.rescan(&self.root, dirty, &self.sender)
    }

    /// Scans the folders that are left, and nothing else.
    fn finish(&mut self) {
        while self.rescan(&DirtySet::default()) == RescanOutcome::Unfinished {}
    }

    fn write_in_all(&self, name: &str) {
        for number in 0..FOLDERS {
            fs::write(self.dir.path().join(format!("d{number}/{name}")), "new").unwrap();
        }
    }

    fn changes(&mut self) -> Vec<Change> {
        std::iter::from_fn(|| self.receiver.next().now_or_never().flatten()).collect()
    }
}

#[test]
fn a_file_that_comes_before_the_first_scan_of_its_folder_changes_the_list() {
    let mut fixture = Fixture::new(FsWatchState::for_listing(), ListingMode::Flat, 0);
    assert_eq!(fixture.changes(), []);
    fixture.write_in_all("new");
    fixture.finish();
    assert_eq!(fixture.changes(), [Change::Listing]);
}

#[test]
fn a_file_that_goes_before_the_first_scan_of_its_folder_changes_the_list() {
    let mut fixture = Fixture::new(FsWatchState::for_listing(), ListingMode::Flat, 0);
    for number in 0..FOLDERS {
        fs::remove_file(fixture.dir.path().join(format!("d{number}/old"))).unwrap();
    }
    fixture.finish();
    assert_eq!(fixture.changes(), [Change::Listing]);
}

#[test]
fn a_list_that_becomes_flat_changes_with_folders_that_are_not_scanned_yet() {
    // 1,000 entries make a flat list.
    let mut fixture = Fixture::new(FsWatchState::for_listing(), ListingMode::Auto, 1_001 - FOLDERS);
    fs::remove_file(fixture.dir.path().join("f0")).unwrap();
    for number in 0..FOLDERS {
        // Below 1,000 files.
        let old = fixture.dir.path().join(format!("d{number}/old"));
        fs::remove_file(old).unwrap();
    }
    assert_eq!(fixture.rescan(&DirtySet::everything()), RescanOutcome::Unfinished);
    assert_eq!(fixture.changes(), [Change::Listing]);
    fixture.write_in_all("new");
    fixture.finish();
    assert_eq!(fixture.changes(), [Change::Listing]);
}

#[test]
fn a_file_that_changes_before_the_first_scan_of_its_folder_is_reported() {
    let mut fixture = Fixture::new(FsWatchState::for_everything(), ListingMode::Tree, 0);
    fixture.write_in_all("old");
    fixture.finish();
    let changes = fixture.changes();
    // The first round scans the root and so many folders less one.
    assert!(changes.len() > FOLDERS - MAX_FOLDERS_PER_ROUND, "{}", changes.len());
}

#[test]
fn folders_that_stay_as_they_were_until_their_first_scan_are_not_reported() {
    let mut fixture = Fixture::new(FsWatchState::for_everything(), ListingMode::Tree, 0);
    fixture.root.clock_margin = Duration::ZERO;
    fixture.finish();
    assert_eq!(fixture.changes(), []);
}
