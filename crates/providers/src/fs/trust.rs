//! Which descriptions may be given again without looking at the files?
//!
//! Those of files in a folder that is guarded, as long as the kernel says nothing of them, and for
//! two seconds at most: writes through memory maps, and through other names of the same file
//! elsewhere, make no events. Links are looked at each time, and so are folders, whose dates follow
//! what lies in them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::folder::Names;
use super::locate::Folder;
use super::site::Site;
use crate::vigil::{Deaf, Guard, Trust};

/// So many folders are guarded at most, so that the user's other programs can watch some too.
const MOST: usize = 4_096;

/// Where fewer names lie, looking costs less than a guard.
const WORTH: usize = 8;

/// Folders that are guarded.
pub(super) struct Guards {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    posts: HashMap<Vec<u8>, Post>,
    /// How many were turned away since it was last looked which are of use.
    refused: usize,
    is_full: bool,
}

struct Post {
    guard: Guard,
    /// Which folder it is, whatever lies in its place now.
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
    /// What may be believed of the files in `folder`, which holds `names`.
    ///
    /// A folder is guarded from when its names are asked for again on.
    pub(super) fn trust(&self, folder: &Folder, names: &Names) -> Option<Trust> {
        let is_worth = names.len() >= WORTH && names.is_known();
        // Another file system mounted further in may be one that makes no events.
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
    /// Makes room for one more, if there are some that were not used for long.
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
