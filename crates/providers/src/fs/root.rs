//! State of one served root: the open folder, its rules, caches, limits and watches.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use machinery::{Cache, CacheBounds, FairSemaphore, SingleFlight};
use resource::{CacheScope, Error, Freshness};

use super::cache_guard::CacheGuards;
use super::confine::RootDir;
use super::content_cache::ContentCache;
use super::decode_index::DecodeIndexCache;
use super::description_cache::DescriptionCache;
use super::error::{FsError, is_descriptor_shortage, is_not_found};
use super::file_form::FormCache;
use super::folder_names::FolderNames;
use super::ignore_rules::{IgnoreRulesCache, ParentRulesCache};
use super::locate::Folder;
use super::options::{CharsetRule, HideFilter, ListingMode, Options, WatchMode};
use super::page_cache::PageCache;
use super::path::LocalPath;
use super::watch::{FsWatchState, ListingSubscribers};
use crate::file_watch::RescanLoop;
use crate::permits::blocking_permits;

/// Bounds of the cache of folder names, in bytes. One very large folder may exceed them alone:
/// without its names, every page of its listing would scan it again.
const NAME_CACHE_BOUNDS: CacheBounds =
    CacheBounds { heaviest: 128 * 1024 * 1024, ..CacheBounds::weight(32 * 1024 * 1024) };

/// Most blocking threads used by one root.
const MAX_BLOCKING_JOBS: usize = 4;

/// The same for a remote disk, where every request takes a thread.
const MAX_BLOCKING_JOBS_REMOTE: usize = 16;

/// One served root.
pub(super) struct FsRoot {
    pub(super) dir: RootDir,
    pub(super) hidden: bool,
    pub(super) ignore_files: bool,
    pub(super) listing: ListingMode,
    pub(super) freshness: Freshness,
    pub(super) ignore_rules: IgnoreRulesCache,
    pub(super) parent_rules: ParentRulesCache,
    pub(super) hide: Option<HideFilter>,
    /// Longest URI that is listed and found.
    pub(super) max_uri: usize,
    /// True once the log names a path that is left out because its URI is too long.
    is_length_logged: AtomicBool,
    pub(super) folder_cache: Cache<Vec<u8>, Arc<Folder>>,
    pub(super) name_cache: Cache<Vec<u8>, Arc<FolderNames>>,
    pub(super) description_cache: DescriptionCache,
    pub(super) page_cache: PageCache,
    pub(super) content_cache: ContentCache,
    pub(super) form_cache: FormCache,
    pub(super) decode_index: DecodeIndexCache,
    pub(super) charsets: Option<CharsetRule>,
    /// How old a change must be before its timestamp is reliable; see `is_settled`.
    pub(super) clock_margin: Duration,
    /// The folder scans in progress. A request that needs the same folder waits without a thread
    /// and then finds its names in the cache.
    pub(super) scan_flights: SingleFlight<Vec<u8>, ()>,
    /// Permits for work on blocking threads.
    pub(super) blocking_permits: Arc<FairSemaphore>,
    pub(super) watch: WatchMode,
    pub(super) watchable: Option<bool>,
    pub(super) rescan_loop: RescanLoop<FsWatchState>,
    pub(super) listing_subscribers: ListingSubscribers,
    pub(super) cache_guards: CacheGuards,
    /// Stat calls made for listings.
    #[cfg(test)]
    pub(super) stat_count: std::sync::atomic::AtomicUsize,
}

impl FsRoot {
    pub(super) fn open(options: Options) -> io::Result<Self> {
        let Options {
            root,
            listing,
            hidden,
            ignore_files,
            ttl,
            hide,
            charsets,
            watch,
            poll,
            watches,
            max_uri,
            open_folders,
            file_api,
        } = options;
        let root = RootDir::open(&root, file_api)?;
        // A file server's clock may differ from ours, and may tick in whole seconds.
        let margin = Duration::from_millis(if root.on_local_disk() { 50 } else { 2_000 });
        let places =
            if root.on_local_disk() { MAX_BLOCKING_JOBS } else { MAX_BLOCKING_JOBS_REMOTE };
        let watchable = if watch == WatchMode::Off { Some(false) } else { Some(true) };
        Ok(Self {
            dir: root,
            hidden,
            ignore_files,
            listing,
            freshness: Freshness { ttl, scope: CacheScope::Private },
            ignore_rules: IgnoreRulesCache::new(margin),
            parent_rules: ParentRulesCache::new(file_api, margin),
            hide,
            max_uri,
            is_length_logged: AtomicBool::new(false),
            folder_cache: Cache::new(CacheBounds::entries(open_folders)),
            name_cache: Cache::new(NAME_CACHE_BOUNDS),
            description_cache: DescriptionCache::new(watchable),
            page_cache: PageCache::new(),
            content_cache: ContentCache::new(margin),
            form_cache: FormCache::new(margin),
            decode_index: DecodeIndexCache::new(margin),
            charsets,
            watchable,
            clock_margin: margin,
            scan_flights: SingleFlight::default(),
            blocking_permits: blocking_permits(places),
            watch,
            rescan_loop: RescanLoop::new(poll, watches),
            listing_subscribers: ListingSubscribers::default(),
            cache_guards: CacheGuards::new(watches),
            #[cfg(test)]
            stat_count: std::sync::atomic::AtomicUsize::new(0),
        })
    }

    /// Runs `work`. If no file descriptor is free, closes the folders kept open and runs it again.
    pub(super) fn with_descriptors<T, E>(
        &self,
        mut work: impl FnMut() -> Result<T, E>,
        io_error: impl Fn(&E) -> Option<&io::Error>,
    ) -> Result<T, E> {
        match work() {
            Err(error) if io_error(&error).is_some_and(is_descriptor_shortage) => {
                self.folder_cache.invalidate(|_| true);
                work()
            }
            done => done,
        }
    }

    /// Returns `done`; if nothing was found because the root itself is gone, says so.
    pub(super) fn or_gone<T>(&self, done: Result<T, FsError>) -> Result<T, FsError> {
        match done {
            Err(FsError::Io(error)) if is_not_found(&error) && self.dir.is_gone() => {
                let message = "the served folder is gone; try again when it is back";
                Err(Error::unavailable(message).into())
            }
            done => done,
        }
    }

    /// True if the URI of `name` at the path `shown` is longer than a client can send. Logs the
    /// first one.
    pub(super) fn is_uri_too_long(&self, shown: &LocalPath, name: &[u8]) -> bool {
        if shown.child_uri_fits(name, self.max_uri) {
            return false;
        }
        if !self.is_length_logged.swap(true, Ordering::Relaxed) {
            let path = shown.join(name);
            let path = String::from_utf8_lossy(path.as_bytes()).into_owned();
            tracing::warn!(
                "the URI of {path} is over max_uri; no path with so long a URI is served"
            );
        }
        true
    }

    /// Stat calls made for listings.
    #[cfg(test)]
    pub(super) fn stat_count(&self) -> usize {
        self.stat_count.load(std::sync::atomic::Ordering::Relaxed)
    }
}
