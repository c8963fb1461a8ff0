//! State of one served root: the open folder, its rules, caches, limits and watches.

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

/// Memory limit of the cache of folder names, in bytes.
const KEPT_NAMES: usize = 32 * 1024 * 1024;

/// Most folders kept open in the cache.
const KEPT_FOLDERS: usize = 64;

/// Most blocking threads used by one root.
const PLACES: usize = 4;

/// The same for a remote disk, where every request takes a thread.
const PLACES_ELSEWHERE: usize = 16;

/// One served root.
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
    /// How old a change must be before its timestamp is reliable; see `is_settled`.
    pub(super) margin: Duration,
    pub(super) turns: Turns,
    /// Permits for work on blocking threads.
    pub(super) places: Arc<Semaphore>,
    pub(super) watch: Watching,
    pub(super) watchable: Truth,
    pub(super) desk: Desk<Memory>,
    pub(super) readers: Readers,
    pub(super) guards: Guards,
    /// Stat calls made for listings.
    #[cfg(test)]
    pub(super) looked: std::sync::atomic::AtomicUsize,
}

impl Site {
    pub(super) fn open(options: Options) -> io::Result<Self> {
        let Options { root, listing, hidden, ttl, hide, watch, poll, watches } = options;
        let root = Root::open(&root)?;
        // A file server's clock may differ from ours, and may tick in whole seconds.
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
    /// Stat calls made for listings.
    #[cfg(test)]
    pub(super) fn looks(&self) -> usize {
        self.looked.load(std::sync::atomic::Ordering::Relaxed)
    }
}
