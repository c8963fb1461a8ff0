//! The last commit that touched a path, found by a bounded walk from a tip.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gix::ObjectId;
use parking_lot::Mutex;
use resource::Result;

use super::date_queue::DateQueue;
use super::repo_path::RepoPath;
use super::repository::GitSession;
use super::tree_changes::FolderMode;

/// How many commits the walk visits. A path that none of them touched has no date.
const MAX_VISITED: usize = 1_000;

/// How many changes of a merge are compared with its other parents; a larger merge has none of its
/// own.
const MAX_MERGE_CHANGES: usize = 500;

/// How many paths are remembered.
const MAX_PATHS: usize = 200_000;

/// The walk from one tip, which goes on where the last request left it.
#[derive(Default)]
pub(super) struct RecentChanges {
    queue: DateQueue,
    visited: usize,
    /// The latest commit that gave a path an object.
    touched: HashMap<(Vec<u8>, ObjectId), LastCommit>,
}

/// The last commit that touched a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LastCommit {
    pub(super) id: ObjectId,
    date: i64,
}

impl LastCommit {
    /// The committer's date.
    pub(super) fn time(&self) -> Option<SystemTime> {
        let seconds = u64::try_from(self.date).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
    }
}

impl GitSession<'_> {
    /// The last commit before `tip` that touched `path`, which is the object `id` there; `None` if
    /// that is too long ago.
    pub(super) fn last_commit(
        &self,
        tip: ObjectId,
        path: &RepoPath,
        id: ObjectId,
    ) -> Result<Option<LastCommit>> {
        let known = self.git.recent.get(&tip);
        let recent = match known {
            Some(recent) => recent,
            None => {
                let mut recent = RecentChanges::default();
                recent.queue.push(self, tip)?;
                let recent = Arc::new(Mutex::new(recent));
                self.git.recent.insert(tip, Arc::clone(&recent), 1);
                recent
            }
        };
        let mut recent = recent.lock();
        let key = (path.as_bytes().to_vec(), id);
        loop {
            if let Some(commit) = recent.touched.get(&key) {
                return Ok(Some(*commit));
            }
            if recent.visited >= MAX_VISITED || recent.touched.len() >= MAX_PATHS {
                return Ok(None);
            }
            match recent.visit_next(self) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => {
                    // The walk is past a commit that it did not finish.
                    self.git.recent.remove(&tip);
                    return Err(error);
                }
            }
        }
    }
}

impl RecentChanges {
    /// Visits the next commit; false at the end of the history.
    fn visit_next(&mut self, session: &GitSession<'_>) -> Result<bool> {
        let Some(node) = self.queue.pop() else { return Ok(false) };
        self.visited += 1;
        for parent in &node.parents {
            // A parent that is missing or broken ends the history on this side.
            let _ = self.queue.push(session, *parent);
        }
        let mut parents = node.parents.iter().filter_map(|parent| session.commit(*parent).ok());
        let (old, root) = (parents.next().map(|node| node.tree), RepoPath::default());
        let changes = session.tree_changes(old, Some(node.tree), &root, FolderMode::Told);
        session.check_cancelled()?;
        let mut changes = changes.unwrap_or_default();
        if node.parents.len() > 1 && changes.len() > MAX_MERGE_CHANGES {
            changes.clear();
        }
        // A merge touches what none of its parents has.
        for parent in parents {
            changes.retain(|change| {
                let path = RepoPath::parse(&change.path).unwrap_or_default();
                let there = session.find_entry(parent.tree, &path).ok().flatten();
                there != change.new
            });
        }
        let commit = LastCommit { id: node.id, date: node.date };
        for change in changes {
            if let Some(new) = change.new {
                self.touched.entry((change.path, new.id)).or_insert(commit);
            }
        }
        let root = (Vec::new(), node.tree);
        self.touched.entry(root).or_insert(commit);
        Ok(true)
    }
}
