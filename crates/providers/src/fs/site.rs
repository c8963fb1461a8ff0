//! What does a served folder know and keep between requests?

use std::io;
use std::sync::Arc;
use std::time::Duration;

use resource::{Freshness, Scope, Truth};
use tokio::sync::Semaphore;

use super::confine::Root;
use super::entries::Entries;
use super::folder::Names;
use super::locate::Folder;
use super::options::{Hide, Listing, Options, Watching};
use super::shelf::Shelf;
use super::stretch::Stretches;
use super::trust::Guards;
use super::turns::Turns;
use super::visible::Rulebook;
use super::watch::{Memory, Readers};
use crate::vigil::Desk;

/// How much the names of folders may take in memory.
const KEPT_NAMES: usize = 32 * 1024 * 1024;

/// How many folders are kept open.
const KEPT_FOLDERS: usize = 64;

/// How many threads one served folder may keep busy.
const PLACES: usize = 4;

/// The same where a disk elsewhere is waited for, and every request takes a thread.
const PLACES_ELSEWHERE: usize = 16;

/// One served folder.
pub(super) struct Site {
    pub(super) root: Root,
    pub(super) hidden: bool,
    pub(super) listing: Listing,
    pub(super) freshness: Freshness,
    pub(super) rules: Rulebook,
    pub(super) hide: Option<Hide>,
    pub(super) folders: Shelf<Vec<u8>, Arc<Folder>>,
    pub(super) names: Shelf<Vec<u8>, Arc<Names>>,
    pub(super) entries: Entries,
    pub(super) stretches: Stretches,
    /// How old a change must be before its date is trusted.
    pub(super) margin: Duration,
    pub(super) turns: Turns,
    /// Places for work that takes a thread of its own.
    pub(super) places: Arc<Semaphore>,
    pub(super) watch: Watching,
    pub(super) watchable: Truth,
    pub(super) desk: Desk<Memory>,
    pub(super) readers: Readers,
    pub(super) guards: Guards,
    /// How often a file was looked at for a list.
    #[cfg(test)]
    pub(super) looked: std::sync::atomic::AtomicUsize,
}

impl Site {
    pub(super) fn open(options: Options) -> io::Result<Self> {
        let Options { root, listing, hidden, ttl, hide, watch, poll, watches } = options;
        let root = Root::open(&root)?;
        // A server's clock and ours may differ, and its ticks may be whole seconds.
        let margin = Duration::from_millis(if root.local { 50 } else { 2_000 });
        let places = if root.local { PLACES } else { PLACES_ELSEWHERE };
        let watchable = if watch == Watching::Off { Truth::No } else { Truth::Yes };
        Ok(Self {
            root,
            hidden,
            listing,
            freshness: Freshness { ttl, scope: Scope::Private },
            rules: Rulebook::new(margin),
            hide,
            folders: Shelf::new(KEPT_FOLDERS),
            names: Shelf::new(KEPT_NAMES),
            entries: Entries::new(watchable),
            stretches: Stretches::new(),
            watchable,
            margin,
            turns: Turns::default(),
            places: Arc::new(Semaphore::new(places)),
            watch,
            desk: Desk::new(poll, watches),
            readers: Readers::default(),
            guards: Guards::new(watches),
            #[cfg(test)]
            looked: std::sync::atomic::AtomicUsize::new(0),
        })
    }
    /// How often a file was looked at for a list.
    #[cfg(test)]
    pub(super) fn looks(&self) -> usize {
        self.looked.load(std::sync::atomic::Ordering::Relaxed)
    }
}
