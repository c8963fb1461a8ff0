//! Validity of cached descriptions: when a listing may skip `stat`.
//!
//! The cache watches folders with inotify. A file's description stays valid while the kernel
//! reports no event for the file, and for two seconds at most: writes through memory maps, and
//! through hard links in other folders, cause no events. Links are always checked, and so are
//! folders, whose times change with their content.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::folder_names::FolderNames;
use super::locate::Folder;
use super::root::FsRoot;
use crate::file_watch::{CacheGuard, Validity, WatchError};

/// Most folders watched for the cache, so that the user's other programs can watch some too.
const MAX_GUARDED_FOLDERS: usize = 4_096;

/// With fewer names than this, `stat` calls cost less than a watch.
const MIN_GUARDED_NAMES: usize = 8;

/// The folders watched for the cache.
pub(super) struct CacheGuards {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    folders: HashMap<Vec<u8>, GuardedFolder>,
    /// Folders refused since the last eviction.
    refusals: usize,
    is_full: bool,
}

struct GuardedFolder {
    guard: CacheGuard,
    /// Identity of the watched folder, which may since have been replaced.
    identity: u64,
    is_used: bool,
}

impl CacheGuards {
    pub(super) fn new(watches: usize) -> Self {
        Self { most: MAX_GUARDED_FOLDERS.min(watches / 2), state: Mutex::default() }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.state.lock().folders.len()
    }
}

impl FsRoot {
    /// Returns which cached descriptions of files in `folder`, which holds `names`, are still
    /// valid. `None` if the folder is not watched.
    ///
    /// Watches a folder once its names are reused.
    pub(super) fn cache_validity(&self, folder: &Folder, names: &FolderNames) -> Option<Validity> {
        let is_worth = names.len() >= MIN_GUARDED_NAMES && names.is_reused();
        // A file system mounted below the root may not support inotify.
        let is_told = self.uses_inotify() && self.dir.is_on_same_device(&folder.stamp);
        if !is_worth || !is_told || folder.is_behind_link() {
            return None;
        }
        let identity = folder.stamp.identity();
        let mut state = self.cache_guards.state.lock();
        if let Some(post) = state.folders.get_mut(folder.path.as_bytes())
            && post.identity == identity
            && let Some(trust) = post.guard.validity()
        {
            post.is_used = true;
            return Some(trust);
        }
        state.folders.remove(folder.path.as_bytes());
        state.make_room(self.cache_guards.most)?;
        let attempt = self
            .rescan_loop
            .inotify()
            .and_then(|ears| ears.add_guard(folder.path.as_bytes(), folder.handle.for_inotify()?));
        let guard = match attempt {
            Ok(guard) => guard,
            Err(WatchError::Unavailable) => {
                state.is_full = true;
                return None;
            }
            Err(WatchError::Refused(_)) => return None,
        };
        let trust = guard.validity();
        let post = GuardedFolder { guard, identity, is_used: true };
        state.folders.insert(folder.path.as_bytes().to_vec(), post);
        trust
    }
}

impl State {
    /// `Some` if there is room for one more. When full, refuses; after `most` refusals, evicts the
    /// folders not used since the last eviction, to make room for later calls.
    fn make_room(&mut self, most: usize) -> Option<()> {
        if !self.is_full && self.folders.len() < most {
            return Some(());
        }
        self.refusals += 1;
        if self.refusals > most {
            self.refusals = 0;
            self.is_full = false;
            self.folders.retain(|_, post| std::mem::take(&mut post.is_used));
        }
        None
    }
}
