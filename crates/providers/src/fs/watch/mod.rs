//! Change notifications for a folder, from inotify or polling.
//!
//! An event only says where to look. The reported change follows from comparing what is visible now
//! with the last snapshot.

mod content_version;
mod dir_snapshot;
mod single_watch;
mod watch_state;

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use futures_core::Stream;
use parking_lot::{Mutex, MutexGuard};
use resource::{
    Change, Context, Error, ErrorKind, Health, HealthState, HealthStatus, Interest, Result, Watch,
};

pub(super) use self::watch_state::FsWatchState;

use super::Fs;
use super::budget::WorkBudget;
use super::error::{FsError, not_found};
use super::locate::{Folder, PathEntry};
use super::options::WatchMode;
use super::path::LocalPath;
use super::platform::FileApi;
use super::root::FsRoot;
use crate::file_watch::{
    ChangeSender, DirtySet, RescanLoop, RescanOutcome, Rescanner, ScanSubscriber, subscribe,
};

/// Most folders watched because a client listed them.
const MAX_LISTED_FOLDERS: usize = 4_096;

/// The subscriptions to list changes.
#[derive(Default)]
pub(super) struct ListingSubscribers(Mutex<Vec<Weak<ScanSubscriber<FsWatchState>>>>);

#[async_trait]
impl Watch for Fs {
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        let (memory, uri) = match &interest {
            Interest::Resource(uri) => {
                (FsWatchState::for_resource(uri, self.parse_path(uri)?), Some(uri))
            }
            Interest::Listing => (FsWatchState::for_listing(), None),
            Interest::Everything => (FsWatchState::for_everything(), None),
            Interest::Components(_) => {
                return Err(Error::new(ErrorKind::Unsupported, "a folder has no tools or prompts"));
            }
        };
        if self.root.watch == WatchMode::Off {
            return Err(Error::new(ErrorKind::Unsupported, "watching is off for this folder"));
        }
        // Subscribe first: events during the first scan are then checked after it.
        let (party, stories) = subscribe(&self.root, memory);
        if !self.root.uses_inotify() {
            self.root.rescan_loop.start_polling();
        }
        if interest == Interest::Listing {
            self.root.listing_subscribers.add(&party);
        }
        let look = move |root: &FsRoot, budget: &WorkBudget| {
            budget.require_unlimited()?;
            root.run_initial_scan(&party)
        };
        let done = self.run_blocking(ctx, look).await;
        self.root.rescan_loop.wake();
        self.root.or_gone(done).map_err(|fault| match (uri, fault) {
            (Some(uri), fault) => fault.for_uri(uri),
            (None, FsError::Io(error)) => {
                Error::unavailable("the served folder cannot be read; try again later")
                    .caused_by(error)
            }
            (None, FsError::Resource(error)) => error,
        })?;
        Ok(Box::pin(stories))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        true
    }
}

impl Health for Fs {
    fn health(&self, _: &Context) -> HealthStatus {
        let site = &self.root;
        // A disk elsewhere may not answer; there, the last request tells.
        if site.dir.on_local_disk() {
            let _ = site.root_handle();
        }
        if site.dir.is_gone() {
            let message = "the folder is gone; it is served again when it is back";
            let condition = HealthStatus::new(HealthState::Failed, Some(message.to_owned()));
            return HealthStatus { since: site.dir.changed_at(), ..condition };
        }
        if !site.uses_inotify() {
            let words = format!(
                "changes are found by polling every {:?}",
                site.rescan_loop.configured_interval()
            );
            let looks = site.watch != WatchMode::Off;
            let condition = HealthStatus::new(HealthState::Ready, looks.then_some(words));
            return HealthStatus { since: site.dir.changed_at(), ..condition };
        }
        let condition = match site.rescan_loop.polling_interval() {
            Some(poll) => HealthStatus::degraded(format!(
                "changes are found by polling every {poll:?}: inotify does not cover some folders"
            )),
            None => HealthStatus::ready(),
        };
        let since = site.rescan_loop.polling_changed_at().max(site.dir.changed_at());
        HealthStatus { since, ..condition }
    }

    fn is_available(&self, _: &Context) -> bool {
        !self.root.dir.is_gone()
    }
}

impl Rescanner for FsRoot {
    type Memory = FsWatchState;

    fn rescan_loop(&self) -> &RescanLoop<FsWatchState> {
        &self.rescan_loop
    }

    fn rescan(
        &self,
        memory: &mut FsWatchState,
        dirty: &DirtySet,
        changes: &ChangeSender,
    ) -> RescanOutcome {
        memory.rescan(self, dirty, changes)
    }
}

impl FsRoot {
    /// True if changes are detected with inotify.
    pub(super) fn uses_inotify(&self) -> bool {
        self.watch == WatchMode::Auto
            && self.dir.file_api == FileApi::Native
            && self.dir.on_local_disk()
    }

    fn run_initial_scan(&self, subscriber: &ScanSubscriber<FsWatchState>) -> Result<(), FsError> {
        if subscriber.memory().initial_scan(self, &subscriber.changes)? {
            Ok(())
        } else {
            Err(not_found().into())
        }
    }

    /// Lets the subscriptions to list changes cover `folder`, which a client is about to list.
    pub(super) fn track_listed(&self, folder: &Folder, budget: &WorkBudget) -> io::Result<()> {
        for party in self.listing_subscribers.active() {
            let mut memory = lock_state(&party, budget)?;
            if memory.can_add(folder) {
                budget.require_unlimited()?;
                if memory.add_listed(self, folder, &party.changes) {
                    self.rescan_loop.wake();
                }
            }
        }
        Ok(())
    }

    /// Lets the subscriptions to list changes cover everything, because a client is about to list
    /// it.
    pub(super) fn track_all_listed(&self, budget: &WorkBudget) -> io::Result<()> {
        for party in self.listing_subscribers.active() {
            let mut memory = lock_state(&party, budget)?;
            if memory.is_shallow() {
                budget.require_unlimited()?;
                if memory.add_all(self, &party.changes) {
                    self.rescan_loop.wake();
                }
            }
        }
        Ok(())
    }

    fn folder_without_links(&self, path: &LocalPath) -> io::Result<Arc<Folder>> {
        match self.find(path)? {
            PathEntry::Folder(folder) if folder.path == *path => Ok(folder),
            PathEntry::Folder(_) | PathEntry::File(_) => Err(not_found()),
        }
    }
}

/// Locks the state of `party`. If it is in use, only work on a blocking thread waits for it.
fn lock_state<'a>(
    subscriber: &'a ScanSubscriber<FsWatchState>,
    budget: &WorkBudget,
) -> io::Result<MutexGuard<'a, FsWatchState>> {
    if let Some(memory) = subscriber.memory.try_lock() {
        return Ok(memory);
    }
    budget.require_unlimited()?;
    Ok(subscriber.memory())
}

impl ListingSubscribers {
    fn add(&self, subscriber: &Arc<ScanSubscriber<FsWatchState>>) {
        let mut readers = self.0.lock();
        readers.retain(|party| party.strong_count() > 0);
        readers.push(Arc::downgrade(subscriber));
    }

    fn active(&self) -> Vec<Arc<ScanSubscriber<FsWatchState>>> {
        let readers = self.0.lock();
        readers.iter().filter_map(Weak::upgrade).collect()
    }
}
