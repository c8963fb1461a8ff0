//! Walk of a history in the order of `git log`, with its simplification by path.

use std::collections::HashSet;

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use resource::Result;

use super::filter::LogFilter;
use crate::git::commit_object::CommitNode;
use crate::git::date_queue::DateQueue;
use crate::git::location::{LogQuery, RevisionSpec};
use crate::git::renames::RenameFile;
use crate::git::repo_path::RepoPath;
use crate::git::repository::GitSession;
use crate::git::tree_changes::TreeChange;
use crate::git::visibility::RevisionFolder;

/// A walk in progress.
pub(super) struct LogWalk {
    pub(super) queue: DateQueue,
    filter: LogFilter,
    revision: RevisionSpec,
    path: RepoPath,
    follow: bool,
    /// The next commit, if it was looked for already.
    peeked: Option<Option<ObjectId>>,
}

impl LogWalk {
    /// Starts at the commit `tip`.
    pub(super) fn new(session: &GitSession<'_>, query: &LogQuery, tip: ObjectId) -> Result<Self> {
        let mut queue = DateQueue::default();
        queue.push(session, tip)?;
        let follow = query.follow && !query.path.is_root();
        let (filter, path) = (LogFilter::new(query)?, query.path.clone());
        let revision = query.revision.clone();
        Ok(Self { queue, filter, revision, path, follow, peeked: None })
    }

    /// The next commit, which the walk does not go past.
    pub(super) fn peek(&mut self, session: &GitSession<'_>) -> Result<Option<ObjectId>> {
        if let Some(peeked) = self.peeked {
            return Ok(peeked);
        }
        let next = self.find_next(session)?;
        self.peeked = Some(next);
        Ok(next)
    }

    /// The next commit.
    pub(super) fn next(&mut self, session: &GitSession<'_>) -> Result<Option<ObjectId>> {
        let next = self.peek(session)?;
        self.peeked = None;
        Ok(next)
    }

    /// How much memory the walk takes, roughly.
    pub(super) fn weight(&self) -> usize {
        1024 + self.queue.found() * 64
    }

    fn find_next(&mut self, session: &GitSession<'_>) -> Result<Option<ObjectId>> {
        while let Some(node) = self.queue.pop() {
            session.check_cancelled()?;
            if self.filter.is_too_old(&node) {
                continue;
            }
            // A rename leads the walk to another path.
            let path = session.is_restricted().then(|| self.path.clone());
            let (is_change, parents) = match () {
                () if self.path.is_root() => (true, node.parents.clone()),
                () if self.follow => (self.follow_commit(session, &node)?, node.parents.clone()),
                () => self.simplify(session, &node)?,
            };
            for parent in parents {
                self.queue.push(session, parent)?;
            }
            let is_shown = is_change && self.filter.shows(session, &node)?;
            if is_shown && shows_change(session, &node, path.as_ref())? {
                return Ok(Some(node.id));
            }
        }
        Ok(None)
    }

    /// Whether the commit changed the path, and which parents the history goes on with: of a
    /// merge, only one that has the path as it is.
    fn simplify(
        &self,
        session: &GitSession<'_>,
        node: &CommitNode,
    ) -> Result<(bool, Vec<ObjectId>)> {
        let here = session.find_entry(node.tree, &self.path)?;
        for parent in &node.parents {
            let tree = session.commit(*parent)?.tree;
            if session.find_entry(tree, &self.path)? == here {
                return Ok((false, vec![*parent]));
            }
        }
        let is_change = !node.parents.is_empty() || here.is_some();
        Ok((is_change, node.parents.clone()))
    }

    /// Whether the commit changed the file. Goes on under its earlier name if the commit renamed
    /// it. Merges change nothing here, as in `git log --follow`.
    fn follow_commit(&mut self, session: &GitSession<'_>, node: &CommitNode) -> Result<bool> {
        let here = session.find_entry(node.tree, &self.path)?;
        let parent = match node.parents[..] {
            [] => return Ok(here.is_some()),
            [parent] => session.commit(parent)?,
            _ => return Ok(false),
        };
        let before = session.find_entry(parent.tree, &self.path)?;
        if before == here {
            return Ok(false);
        }
        let is_file = |kind| kind != EntryKind::Tree;
        if let (None, Some(entry)) = (before, here.filter(|here| is_file(here.kind))) {
            let target = RenameFile { path: self.path.as_bytes().to_vec(), entry, stays: false };
            if let Some(source) = self.find_source(session, (parent.tree, node.tree), target)? {
                self.path = RepoPath::parse(&source).unwrap_or_else(|| self.path.clone());
            }
        }
        Ok(true)
    }

    /// The file of the tree `old` that `target` of the tree `new` was renamed or copied from.
    fn find_source(
        &self,
        session: &GitSession<'_>,
        (old, new): (ObjectId, ObjectId),
        target: RenameFile,
    ) -> Result<Option<Vec<u8>>> {
        let (root, viewed) = (RepoPath::default(), [RevisionFolder::whole(self.revision.clone())]);
        let changes = session.visible_changes(Some(old), Some(new), &root, &viewed)?;
        let removed: HashSet<Vec<u8>> =
            changes.into_iter().filter(|change| change.new.is_none()).map(|one| one.path).collect();
        let files = session.visible_changes(None, Some(old), &root, &viewed)?;
        let source = |file: TreeChange| {
            let stays = !removed.contains(&file.path);
            Some(RenameFile { path: file.path, entry: file.new?, stays })
        };
        let sources: Vec<RenameFile> = files.into_iter().filter_map(source).collect();
        let found = session.find_renames(&sources, &[target], true)?;
        Ok(found.first().map(|rename| sources[rename.source].path.clone()))
    }
}

/// Whether the principal may know of what the commit changed at `path`.
fn shows_change(
    session: &GitSession<'_>,
    node: &CommitNode,
    path: Option<&RepoPath>,
) -> Result<bool> {
    path.map_or(Ok(true), |path| {
        session.shows_commit(node, &RevisionSpec::from_hash(node.id), path)
    })
}
