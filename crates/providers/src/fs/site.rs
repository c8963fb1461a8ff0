//! What does a served folder know and keep between requests?

use std::io;
use std::sync::Arc;
use std::time::Duration;

use resource::{Freshness, Scope};
use tokio::sync::Semaphore;

use super::confine::Root;
use super::entries::Entries;
use super::folder::Names;
use super::locate::Folder;
use super::options::{Hide, Listing, Options};
use super::shelf::Shelf;
use super::turns::Turns;
use super::visible::Rulebook;

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
    /// How old a change must be before its date is trusted.
    pub(super) margin: Duration,
    pub(super) turns: Turns,
    /// Places for work that takes a thread of its own.
    pub(super) places: Arc<Semaphore>,
}

impl Site {
    pub(super) fn open(options: Options) -> io::Result<Self> {
        let Options { root, listing, hidden, ttl, hide } = options;
        let root = Root::open(&root)?;
        // A server's clock and ours may differ, and its ticks may be whole seconds.
        let margin = Duration::from_millis(if root.local { 50 } else { 2_000 });
        let places = if root.local { PLACES } else { PLACES_ELSEWHERE };
        Ok(Self {
            root,
            hidden,
            listing,
            freshness: Freshness { ttl, scope: Scope::Private },
            rules: Rulebook::new(margin),
            hide,
            folders: Shelf::new(KEPT_FOLDERS),
            names: Shelf::new(KEPT_NAMES),
            entries: Entries::new(),
            margin,
            turns: Turns::default(),
            places: Arc::new(Semaphore::new(places)),
        })
    }
}
