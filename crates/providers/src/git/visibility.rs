//! Visibility: which files a principal may know of, wherever the repository names them.
//!
//! Layers judge the URI of a request. This module judges what a request names inside of it: the
//! files of a diff, a commit, a log or a status, and the path in a revision such as `HEAD:a/b`.

use std::sync::Arc;

use gix::ObjectId;
use resource::{Principal, Result, Uri};

use super::commit_object::CommitNode;
use super::error::not_found;
use super::location::{Location, RevisionSpec};
use super::repo_path::RepoPath;
use super::repository::GitSession;
use super::revision::{NO_REVISION, ResolvedRevision};

/// What a principal wants to do with a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMethod {
    /// Lists and metadata.
    List,
    /// Reads.
    Read,
}

/// The rules that keep files of a repository from principals.
pub trait FileVisibility: Send + Sync {
    /// Whether the rules may keep something of the repository from the principal.
    fn restricts(&self, principal: &Principal) -> bool;

    /// Whether the principal may use the file or folder at a local URI,
    /// `git:///<revision>/<path>`.
    fn allows(&self, principal: &Principal, method: FileMethod, uri: &Uri) -> bool;
}

/// A principal from whom the rules may keep something.
#[derive(Clone)]
pub(super) struct FileViewer {
    rules: Arc<dyn FileVisibility>,
    principal: Principal,
    /// Names the principal and its scopes in keys of caches.
    key: Arc<str>,
    /// Whether the rules leave HEAD open, so that what they deny in HEAD they deny by its path.
    sees_head: bool,
}

/// A folder of a revision, which the paths of its files count from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RevisionFolder {
    revision: RevisionSpec,
    folder: RepoPath,
}

impl RevisionFolder {
    /// All files of `revision`.
    pub(super) fn whole(revision: RevisionSpec) -> Self {
        Self { revision, folder: RepoPath::default() }
    }
}

impl FileViewer {
    /// The principal, if `rules` keep something from it.
    pub(super) fn new(rules: &Arc<dyn FileVisibility>, principal: &Principal) -> Option<Self> {
        if !rules.restricts(principal) {
            return None;
        }
        let identity = format!("{:?}", (principal.key(), principal.scopes()));
        let key = blake3::hash(identity.as_bytes()).to_hex()[..24].into();
        let (rules, principal) = (Arc::clone(rules), principal.clone());
        let mut viewer = Self { rules, principal, key, sees_head: false };
        let (head, root) = (RevisionSpec::head(), RepoPath::default());
        viewer.sees_head = viewer.allows_at(FileMethod::List, &head, &root)
            && viewer.allows_at(FileMethod::Read, &head, &root);
        Some(viewer)
    }

    pub(super) fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// Whether the rules allow `path` at `revision`. What they deny in HEAD by its path, they deny
    /// in every revision: most revisions have many names.
    fn allows(&self, method: FileMethod, revision: &RevisionSpec, path: &RepoPath) -> bool {
        let is_named = !self.sees_head || revision.is_head();
        self.allows_at(method, revision, path)
            && (is_named || self.allows_at(method, &RevisionSpec::head(), path))
    }

    fn allows_at(&self, method: FileMethod, revision: &RevisionSpec, path: &RepoPath) -> bool {
        Location::tree_uri(revision, path)
            .is_ok_and(|uri| self.rules.allows(&self.principal, method, &uri))
    }
}

impl GitSession<'_> {
    /// Whether rules may keep something from the principal that asks.
    pub(super) fn is_restricted(&self) -> bool {
        self.viewer.is_some()
    }

    /// Whether the principal may list or read `path` in `folder`.
    pub(super) fn knows(&self, folder: &RevisionFolder, path: &[u8]) -> bool {
        self.allows(FileMethod::List, folder, path) || self.allows(FileMethod::Read, folder, path)
    }

    /// Whether the principal may know of the revision `name`, as far as its name tells.
    pub(super) fn knows_revision(&self, name: &[u8]) -> bool {
        let folder = RevisionSpec::parse(name).map(RevisionFolder::whole);
        self.viewer.is_none()
            || !is_stash(name) && folder.is_some_and(|folder| self.knows(&folder, b""))
    }

    /// Whether the principal may read `path` in `folder`.
    pub(super) fn may_read(&self, folder: &RevisionFolder, path: &[u8]) -> bool {
        self.allows(FileMethod::Read, folder, path)
    }

    /// Whether documents show the principal the file at `path` in all of `folders`: it may list it
    /// and read it.
    pub(super) fn shows_file(&self, folders: &[RevisionFolder], path: &[u8]) -> bool {
        folders.iter().all(|folder| {
            self.allows(FileMethod::List, folder, path) && self.may_read(folder, path)
        })
    }

    fn allows(&self, method: FileMethod, folder: &RevisionFolder, path: &[u8]) -> bool {
        self.viewer.is_none_or(|viewer| {
            let mut whole = folder.folder.clone();
            if !path.is_empty() {
                whole = whole.join(path);
            }
            viewer.allows(method, &folder.revision, &whole)
        })
    }

    /// The folder that paths count from in what `revision` names.
    pub(super) fn folder_of(
        &self,
        revision: &RevisionSpec,
        resolved: &ResolvedRevision,
    ) -> RevisionFolder {
        let inner = revision.split_path().filter(|_| resolved.commit.is_none());
        let parsed = inner.and_then(|(base, path)| {
            let (revision, folder) = (RevisionSpec::parse(base)?, RepoPath::parse(path)?);
            Some(RevisionFolder { revision, folder })
        });
        parsed.unwrap_or_else(|| RevisionFolder::whole(revision.clone()))
    }

    /// Refuses the path that `revision` names, before it is looked for, unless the principal may list
    /// and read it: no other rule judges it under its own name. Refuses the stash too: its commits
    /// have the subject of another one, which may be hidden.
    pub(super) fn check_inner_path(&self, revision: &RevisionSpec) -> Result<()> {
        if self.is_restricted() && is_stash(revision.as_bytes()) {
            return Err(not_found(NO_REVISION));
        }
        let Some((base, path)) = revision.split_path().filter(|_| self.is_restricted()) else {
            return Ok(());
        };
        let folder = RevisionSpec::parse(base).map(RevisionFolder::whole);
        let shown = folder.is_some_and(|folder| self.shows_file(&[folder], path));
        shown.then_some(()).ok_or_else(|| not_found(NO_REVISION))
    }

    /// Refuses to a restricted principal a tree or file whose path is unknown: one that its hash or
    /// a tag names.
    pub(super) fn check_root(
        &self,
        revision: &RevisionSpec,
        resolved: &ResolvedRevision,
    ) -> Result<()> {
        if !self.is_restricted() || resolved.commit.is_some() {
            return Ok(());
        }
        let missing = || not_found(NO_REVISION);
        let (base, path) = revision.split_path().ok_or_else(missing)?;
        let base = RevisionSpec::parse(base).ok_or_else(missing)?;
        let path = RepoPath::parse(path).ok_or_else(missing)?;
        // The base has no path of its own, so that this ends.
        let whole = self.resolve(&base)?;
        let found = self.find_entry(whole.root, &path)?;
        let is_there = whole.commit.is_some() && found.is_some_and(|one| one.id == resolved.root);
        is_there.then_some(()).ok_or_else(missing)
    }

    /// Whether the principal may know of the commit `tip`, as in a log of it.
    pub(super) fn shows_tip(&self, tip: ObjectId) -> Result<bool> {
        match self.is_restricted() {
            true => {
                let (node, revision) = (self.commit(tip)?, RevisionSpec::from_hash(tip));
                self.shows_commit(&node, &revision, &RepoPath::default())
            }
            false => Ok(true),
        }
    }

    /// Whether a restricted principal may know of a commit: of one that changed only files that it
    /// may not know of, it may not. Only what changed at `scope` counts.
    pub(super) fn shows_commit(
        &self,
        node: &CommitNode,
        revision: &RevisionSpec,
        scope: &RepoPath,
    ) -> Result<bool> {
        if !self.is_restricted() {
            return Ok(true);
        }
        let old = match node.parents.first() {
            Some(parent) => Some(self.commit(*parent)?.tree),
            None => None,
        };
        let folder = [RevisionFolder::whole(revision.clone())];
        let shows = |path: &[u8]| self.shows_file(&folder, path);
        self.has_visible_change((old, Some(node.tree)), scope, &shows)
    }
}

/// Whether a revision begins at the stash.
fn is_stash(revision: &[u8]) -> bool {
    let name = revision.strip_prefix(b"refs/").unwrap_or(revision);
    let behind = name.strip_prefix(b"stash");
    behind.is_some_and(|rest| rest.first().is_none_or(|byte| b"@^~:".contains(byte)))
}
