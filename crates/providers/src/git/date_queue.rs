//! Queue of commits in the order of `git log`: latest first, then the one found first.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashSet};

use gix::ObjectId;
use resource::Result;

use super::commit_object::CommitNode;
use super::error::over_bound;
use super::repository::GitSession;

/// How many commits one walk visits.
const MAX_COMMITS: usize = 2_000_000;

/// Commits that a walk has found and not yet visited. Each is found once, so loops end.
#[derive(Default)]
pub(super) struct DateQueue {
    heap: BinaryHeap<QueuedCommit>,
    found: HashSet<ObjectId>,
}

struct QueuedCommit {
    node: CommitNode,
    serial: Reverse<usize>,
}

impl DateQueue {
    /// Adds a commit, unless it was found before.
    pub(super) fn push(&mut self, session: &GitSession<'_>, id: ObjectId) -> Result<()> {
        if self.found.contains(&id) {
            return Ok(());
        }
        if self.found.len() >= MAX_COMMITS {
            return Err(over_bound("the history is too long to be walked"));
        }
        let node = session.commit(id)?;
        let serial = Reverse(self.found.len());
        self.found.insert(id);
        self.heap.push(QueuedCommit { node, serial });
        Ok(())
    }

    /// Takes the next commit.
    pub(super) fn pop(&mut self) -> Option<CommitNode> {
        self.heap.pop().map(|queued| queued.node)
    }

    /// How many commits were found.
    pub(super) fn found(&self) -> usize {
        self.found.len()
    }
}

impl Ord for QueuedCommit {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.node.date, self.serial).cmp(&(other.node.date, other.serial))
    }
}

impl PartialOrd for QueuedCommit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for QueuedCommit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for QueuedCommit {}
