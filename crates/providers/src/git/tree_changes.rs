//! Differences of two trees: which entries were added, removed or changed.

use std::cmp::Ordering;

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use resource::Result;

use super::error::over_bound;
use super::repo_path::{RepoPath, join_bytes};
use super::repository::GitSession;
use super::tree::{FoundEntry, TreeEntry, tree_order};
use super::visibility::RevisionFolder;

/// How many entries may differ.
const MAX_CHANGES: usize = 50_000;

/// How deep trees may be nested: each level takes a part of the thread's stack.
const MAX_DEPTH: usize = 256;

/// An entry that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeChange {
    pub(super) path: Vec<u8>,
    pub(super) old: Option<FoundEntry>,
    pub(super) new: Option<FoundEntry>,
}

/// Whether changed folders are told too, besides what changed in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderMode {
    Omitted,
    Told,
}

/// Two folders still to be compared.
struct FolderPair {
    path: Vec<u8>,
    depth: usize,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
}

impl GitSession<'_> {
    /// Compares the trees `old` and `new`, or what they have at `scope`, in git's order.
    pub(super) fn tree_changes(
        &self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        scope: &RepoPath,
        folders: FolderMode,
    ) -> Result<Vec<TreeChange>> {
        let mut comparison = TreeComparison::new(self, &|_| true);
        comparison.folders = folders;
        comparison.run((old, new), scope)?;
        Ok(comparison.changes)
    }

    /// The same of the files that documents show the principal in all of `viewed`.
    pub(super) fn visible_changes(
        &self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        scope: &RepoPath,
        viewed: &[RevisionFolder],
    ) -> Result<Vec<TreeChange>> {
        let shows = |path: &[u8]| self.shows_file(viewed, path);
        let mut comparison = TreeComparison::new(self, &shows);
        comparison.run((old, new), scope)?;
        Ok(comparison.changes)
    }

    /// Whether a file differs at `scope` that `shows` admits, or none at all.
    pub(super) fn has_visible_change(
        &self,
        trees: (Option<ObjectId>, Option<ObjectId>),
        scope: &RepoPath,
        shows: &dyn Fn(&[u8]) -> bool,
    ) -> Result<bool> {
        let mut comparison = TreeComparison::new(self, shows);
        comparison.most = 1;
        comparison.run(trees, scope)?;
        Ok(!comparison.changes.is_empty() || !comparison.has_hidden)
    }
}

struct TreeComparison<'a> {
    session: &'a GitSession<'a>,
    folders: FolderMode,
    /// Which files are told.
    shows: &'a dyn Fn(&[u8]) -> bool,
    /// With this many changes the comparison ends.
    most: usize,
    changes: Vec<TreeChange>,
    /// Whether a file differs that is not told.
    has_hidden: bool,
}

impl<'a> TreeComparison<'a> {
    fn new(session: &'a GitSession<'a>, shows: &'a dyn Fn(&[u8]) -> bool) -> Self {
        let (folders, changes, most) = (FolderMode::Omitted, Vec::new(), usize::MAX);
        Self { session, folders, shows, most, changes, has_hidden: false }
    }

    fn run(
        &mut self,
        (old, new): (Option<ObjectId>, Option<ObjectId>),
        scope: &RepoPath,
    ) -> Result<()> {
        let at_scope = |root: Option<ObjectId>| match root {
            Some(root) => self.session.find_entry(root, scope),
            None => Ok(None),
        };
        let (old, new) = (at_scope(old)?, at_scope(new)?);
        self.compare(scope.as_bytes().to_vec(), 0, old, new)
    }

    fn compare(
        &mut self,
        path: Vec<u8>,
        depth: usize,
        old: Option<FoundEntry>,
        new: Option<FoundEntry>,
    ) -> Result<()> {
        if old == new || self.changes.len() >= self.most {
            return Ok(());
        }
        let is_tree = |entry: &FoundEntry| entry.kind == EntryKind::Tree;
        let trees = (old.filter(is_tree), new.filter(is_tree));
        let files = (old.filter(|one| !is_tree(one)), new.filter(|one| !is_tree(one)));
        if files.0.is_some() || files.1.is_some() {
            self.add(TreeChange { path: path.clone(), old: files.0, new: files.1 })?;
        }
        if trees.0.is_none() && trees.1.is_none() {
            return Ok(());
        }
        if self.folders == FolderMode::Told && !path.is_empty() {
            self.add(TreeChange { path: path.clone(), old: trees.0, new: trees.1 })?;
        }
        let (old, new) = (trees.0.map(|tree| tree.id), trees.1.map(|tree| tree.id));
        self.compare_folders(&FolderPair { path, depth: depth + 1, old, new })
    }

    fn compare_folders(&mut self, pair: &FolderPair) -> Result<()> {
        self.session.check_cancelled()?;
        if pair.depth > MAX_DEPTH {
            return Err(over_bound("the folders of this revision are nested too deeply"));
        }
        let entries = |id: Option<ObjectId>| match id {
            Some(id) => self.session.tree_entries(id),
            None => Ok(Vec::new()),
        };
        let (old, new) = (entries(pair.old)?, entries(pair.new)?);
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => tree_order(key(a), key(b)),
            };
            let a = if order.is_le() { old.next() } else { None };
            let b = if order.is_ge() { new.next() } else { None };
            let Some(name) = a.or(b).map(|entry| &entry.name) else { return Ok(()) };
            let path = join_bytes(&pair.path, name);
            self.compare(path, pair.depth, a.map(found), b.map(found))?;
        }
    }

    fn add(&mut self, change: TreeChange) -> Result<()> {
        if !(self.shows)(&change.path) {
            self.has_hidden = true;
            return Ok(());
        }
        if self.changes.len() >= MAX_CHANGES {
            let message = "over 50,000 files differ; ask for the changes of a folder by its path";
            return Err(over_bound(message));
        }
        self.changes.push(change);
        Ok(())
    }
}

fn key(entry: &TreeEntry) -> (&[u8], bool) {
    (&entry.name, entry.kind == EntryKind::Tree)
}

fn found(entry: &TreeEntry) -> FoundEntry {
    FoundEntry { kind: entry.kind, id: entry.id }
}
