//! Trees: their entries, and the entry at a path.

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use resource::Result;

use super::error::{not_found, unreadable};
use super::repo_path::RepoPath;
use super::repository::GitSession;

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub(super) name: Vec<u8>,
    pub(super) kind: EntryKind,
    pub(super) id: ObjectId,
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundEntry {
    pub(super) kind: EntryKind,
    pub(super) id: ObjectId,
}

impl GitSession<'_> {
    /// The entries of the tree `id`, in git's order.
    pub(super) fn tree_entries(&self, id: ObjectId) -> Result<Vec<TreeEntry>> {
        if id.is_empty_tree() {
            return Ok(Vec::new());
        }
        let tree = self.repo.find_object(id).map_err(unreadable)?;
        let tree = tree.try_into_tree().map_err(|_| not_found("the object is no folder"))?;
        let entries = tree.iter().map(|entry| {
            let entry = entry.map_err(unreadable)?;
            let (name, id) = (entry.filename().to_vec(), entry.object_id());
            Ok(TreeEntry { name, kind: entry.mode().kind(), id })
        });
        entries.collect()
    }

    /// The entry at `path` below the tree `root`; `None` if there is none.
    pub(super) fn find_entry(&self, root: ObjectId, path: &RepoPath) -> Result<Option<FoundEntry>> {
        let mut found = FoundEntry { kind: EntryKind::Tree, id: root };
        for name in path.names() {
            if found.kind != EntryKind::Tree || found.id.is_empty_tree() {
                return Ok(None);
            }
            let tree = self.repo.find_object(found.id).map_err(unreadable)?;
            let Ok(tree) = tree.try_into_tree() else { return Ok(None) };
            let mut next = None;
            for entry in tree.iter() {
                let entry = entry.map_err(unreadable)?;
                if entry.filename() == name {
                    next = Some(FoundEntry { kind: entry.mode().kind(), id: entry.object_id() });
                    break;
                }
            }
            match next {
                Some(next) => found = next,
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }
}

/// Orders names as git orders the entries of a tree: a folder as if a slash followed its name.
pub(super) fn tree_order(a: (&[u8], bool), b: (&[u8], bool)) -> std::cmp::Ordering {
    gix::objs::tree::name_order(a.0, a.1, b.0, b.1)
}
