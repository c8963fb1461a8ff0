//! Validity of cached descriptions: when a listing may skip `stat`.
//!
//! The cache watches folders with inotify. A file's description stays valid while the kernel
//! reports no event for the file, and for two seconds at most: writes through memory maps, and
//! through hard links in other folders, cause no events. Links are always checked, and so are
//! folders, whose times change with their content.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::folder::Names;
use super::locate::Folder;
use super::site::Site;
use crate::vigil::{Deaf, Guard, Trust};

/// Most folders watched for the cache, so that the user's other programs can watch some too.
const MOST: usize = 4_096;

/// With fewer names than this, `stat` calls cost less than a watch.
const WORTH: usize = 8;

/// The folders watched for the cache.
pub(super) struct Guards {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    posts: HashMap<Vec<u8>, Post>,
    /// Folders refused since the last eviction.
    refused: usize,
    is_full: bool,
}

struct Post {
    guard: Guard,
    /// Identity of the watched folder, which may since have been replaced.
    identity: u64,
    is_used: bool,
}

impl Guards {
    pub(super) fn new(watches: usize) -> Self {
        Self { most: MOST.min(watches / 2), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().posts.len()
    }
}

impl Site {
    /// Returns which cached descriptions of files in `folder`, which holds `names`, are still
    /// valid. `None` if the folder is not watched.
    ///
    /// Watches a folder once its names are reused.
    pub(super) fn trust(&self, folder: &Folder, names: &Names) -> Option<Trust> {
        let is_worth = names.len() >= WORTH && names.is_known();
        // A file system mounted below the root may not support inotify.
        let is_told = self.is_told() && self.root.stamp.is_beside(&folder.stamp);
        if !is_worth || !is_told || folder.came_by_links() {
            return None;
        }
        let identity = folder.stamp.identity();
        let mut state = self.guards.lock();
        if let Some(post) = state.posts.get_mut(folder.path.as_bytes())
            && post.identity == identity
            && let Some(trust) = post.guard.trust()
        {
            post.is_used = true;
            return Some(trust);
        }
        state.posts.remove(folder.path.as_bytes());
        state.make_room(self.guards.most)?;
        let attempt =
            self.desk.ears().and_then(|ears| ears.guard(folder.path.as_bytes(), &folder.handle));
        let guard = match attempt {
            Ok(guard) => guard,
            Err(Deaf::Full) => {
                state.is_full = true;
                return None;
            }
            Err(Deaf::Refused(_)) => return None,
        };
        let trust = guard.trust();
        let post = Post { guard, identity, is_used: true };
        state.posts.insert(folder.path.as_bytes().to_vec(), post);
        trust
    }
}

impl State {
    /// `Some` if there is room for one more. When full, refuses; after `most` refusals, evicts the
    /// folders not used since the last eviction, to make room for later calls.
    fn make_room(&mut self, most: usize) -> Option<()> {
        if !self.is_full && self.posts.len() < most {
            return Some(());
        }
        self.refused += 1;
        if self.refused > most {
            self.refused = 0;
            self.is_full = false;
            self.posts.retain(|_, post| std::mem::take(&mut post.is_used));
        }
        None
    }
}
