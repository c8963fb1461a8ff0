//! Resolves revisions to objects.

use std::sync::Arc;

use gix::ObjectId;
use gix::objs::Kind;
use resource::{Error, Result};

use super::error::{not_found, unreadable};
use super::location::RevisionSpec;
use super::ref_stamp::RefStamp;
use super::repository::GitSession;

/// How many tags may point at tags.
const MAX_TAGS: usize = 32;

/// The words for a revision that is not there.
pub(super) const NO_REVISION: &str = "the repository has no such revision";

/// What a revision names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResolvedRevision {
    /// The commit, unless the revision names a tree or a file.
    pub(super) commit: Option<ObjectId>,
    /// The tree or file.
    pub(super) root: ObjectId,
    pub(super) is_tree: bool,
    /// Whether the revision never names anything else.
    pub(super) is_immutable: bool,
}

impl GitSession<'_> {
    /// Finds what `revision` names, unless the principal may not know of it.
    pub(super) fn resolve(&self, revision: &RevisionSpec) -> Result<ResolvedRevision> {
        self.check_inner_path(revision)?;
        let resolved = self.resolve_cached(revision)?;
        self.check_root(revision, &resolved)?;
        Ok(resolved)
    }

    /// Finds what `revision` names. What references it hangs on is looked at, and no more, if they
    /// did not move since the last time.
    fn resolve_cached(&self, revision: &RevisionSpec) -> Result<ResolvedRevision> {
        if let Some(known) = self.git.revisions.get(revision)
            && known.1.is_current()
        {
            return Ok(known.0);
        }
        // The stamp comes first: a reference that moves meanwhile makes it out of date.
        let stamp = self.ref_stamp(revision);
        let resolved = self.resolve_anew(revision)?;
        match stamp {
            Some(stamp) => {
                let known = Arc::new((resolved, Arc::new(stamp)));
                self.git.revisions.insert(revision.clone(), known, 1);
            }
            None => self.git.revisions.remove(revision),
        }
        Ok(resolved)
    }

    /// The stamp of the references by which `revision` was resolved; `None` if another request has
    /// found something else since.
    pub(super) fn stamp_of(
        &self,
        revision: &RevisionSpec,
        resolved: ResolvedRevision,
    ) -> Option<Arc<RefStamp>> {
        let known = self.git.revisions.get(revision).filter(|known| known.0 == resolved)?;
        Some(Arc::clone(&known.1))
    }

    fn resolve_anew(&self, revision: &RevisionSpec) -> Result<ResolvedRevision> {
        let full = revision.full_hash();
        let id = match full {
            Some(id) => id,
            None => self.parse_revision(revision)?,
        };
        let (id, kind) = self.peel_tags(id).map_err(|error| match full {
            // A hash that is not here is a revision that is not here.
            Some(_) => not_found(NO_REVISION).caused_by(error),
            None => error,
        })?;
        let commit = (kind == Kind::Commit).then_some(id);
        let root = match commit {
            Some(id) => self.commit(id)?.tree,
            None => id,
        };
        let is_tree = kind != Kind::Blob;
        Ok(ResolvedRevision { commit, root, is_tree, is_immutable: full.is_some() })
    }

    /// The commit that `revision` names.
    pub(super) fn resolve_commit(&self, revision: &RevisionSpec) -> Result<(ObjectId, bool)> {
        let found = self.resolve(revision)?;
        let commit = found.commit.ok_or_else(|| not_found("the revision is no commit"))?;
        Ok((commit, found.is_immutable))
    }

    /// The revision as people read it: masked, since whoever wrote it reads nothing else by it.
    pub(super) fn revision_text(&self, revision: &RevisionSpec) -> String {
        self.git.mask_text(&String::from_utf8_lossy(revision.as_bytes()))
    }

    /// The checked-out commit; `None` before the first one.
    pub(super) fn head_commit(&self) -> Result<Option<ObjectId>> {
        let mut head = self.repo.head().map_err(unreadable)?;
        Ok(head.try_peel_to_id().map_err(unreadable)?.map(gix::Id::detach))
    }

    fn parse_revision(&self, revision: &RevisionSpec) -> Result<ObjectId> {
        let spec = self.find_messages(revision.as_bytes())?;
        let parsed = self.repo.rev_parse_single(gix::bstr::BStr::new(spec.as_ref()));
        let parsed = parsed.map_err(|error| not_found(NO_REVISION).caused_by(error));
        Ok(parsed?.detach())
    }

    /// The object that `id` leads to through tags, and its kind.
    pub(super) fn peel_tags(&self, id: ObjectId) -> Result<(ObjectId, Kind)> {
        let mut id = id;
        for _ in 0..MAX_TAGS {
            let kind = self.repo.find_header(id).map_err(unreadable)?.kind();
            if kind != Kind::Tag {
                return Ok((id, kind));
            }
            let tag = self.repo.find_tag(id).map_err(unreadable)?;
            id = tag.target_id().map_err(unreadable)?.detach();
        }
        Err(Error::invalid("too many tags that point at tags"))
    }
}
