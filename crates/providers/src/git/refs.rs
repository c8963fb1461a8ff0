//! References: HEAD, branches, tags, remote branches and worktrees.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use gix::ObjectId;
use resource::{Cursor, Error, Page, PageRequest, ReadRequest, Reading, Resource, Result, Uri};

use super::document::{DocumentFormat, MARKDOWN, declare_formats};
use super::error::unreadable;
use super::json::{JsonObject, json_array};
use super::location::RevisionSpec;
use super::repo_path::{RepoPath, quoted};
use super::repository::GitSession;

/// How many references are read.
const MAX_REFS: usize = 100_000;

/// A reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitReference {
    /// The full name, such as `refs/heads/main`.
    pub(super) name: Vec<u8>,
    /// The name of the reference or object that it points at.
    target: String,
    /// What it points at in the end, if that is something else.
    pub(super) peeled: Option<ObjectId>,
    pub(super) kind: &'static str,
    /// The shortest revision that names it.
    pub(super) revision: Vec<u8>,
}

impl GitSession<'_> {
    /// All references, HEAD first, then by name. One whose name holds a secret is left out: under a
    /// masked name it could not be read.
    pub(super) fn references(&self) -> Result<Vec<GitReference>> {
        let mut all = Vec::new();
        all.extend(self.head_reference()?);
        let platform = self.repo.references().map_err(unreadable)?;
        for found in platform.all().map_err(unreadable)? {
            self.check_cancelled()?;
            // A reference that is broken, or a link out of the repository, is left out.
            let Ok(mut found) = found else { continue };
            if all.len() >= MAX_REFS {
                break;
            }
            let name = found.name().as_bstr().to_vec();
            let target = target_text(&found);
            let peeled = found.peel_to_id().ok().map(gix::Id::detach);
            let peeled = peeled.filter(|id| !is_named(*id, &target));
            let kind = kind_of(&name);
            all.push(GitReference { revision: name.clone(), name, target, peeled, kind });
        }
        all.extend(self.worktree_references());
        all.retain(|one| !self.git.is_masked(&String::from_utf8_lossy(&one.name)));
        for reference in &mut all {
            reference.target = self.git.mask_text(&reference.target);
        }
        shorten_names(&mut all);
        if self.is_restricted() {
            self.retain_known(&mut all);
        }
        Ok(all)
    }

    /// Leaves out the references that lead to no commit, or whose names the principal may not know.
    fn retain_known(&self, all: &mut Vec<GitReference>) {
        let is_commit = |id: ObjectId| {
            self.peel_tags(id).is_ok_and(|(_, kind)| kind == gix::objs::Kind::Commit)
        };
        all.retain(|one| {
            let id = one.peeled.or_else(|| ObjectId::from_hex(one.target.as_bytes()).ok());
            self.knows_revision(&one.revision) && id.is_none_or(is_commit)
        });
        for one in all {
            let target = one.target.as_bytes();
            let folders: [&[u8]; 3] = [b"refs/heads/", b"refs/tags/", b"refs/remotes/"];
            let short = folders.iter().find_map(|folder| target.strip_prefix(*folder));
            let is_id = ObjectId::from_hex(target).is_ok();
            if !(is_id || self.knows_revision(short.unwrap_or(target))) {
                one.target = one.peeled.take().map(|id| id.to_string()).unwrap_or_default();
            }
        }
    }

    fn head_reference(&self) -> Result<Option<GitReference>> {
        let Ok(Some(head)) = self.repo.try_find_reference("HEAD") else { return Ok(None) };
        let (name, target) = (b"HEAD".to_vec(), target_text(&head));
        let peeled = self.head_commit()?.filter(|id| !is_named(*id, &target));
        let revision = name.clone();
        Ok(Some(GitReference { name, target, peeled, kind: "head", revision }))
    }

    fn worktree_references(&self) -> Vec<GitReference> {
        let worktrees = self.repo.worktrees().unwrap_or_default();
        let reference = |worktree: gix::worktree::Proxy<'_>| {
            let id = worktree.id().ok()?.to_vec();
            let name = [b"worktrees/", &id[..], b"/HEAD"].concat();
            let repo = worktree.into_repo_with_possibly_inaccessible_worktree().ok()?;
            let target = target_text(&repo.try_find_reference("HEAD").ok()??);
            let peeled = repo.head_id().ok().map(gix::Id::detach);
            let peeled = peeled.filter(|id| !is_named(*id, &target));
            let revision = name.clone();
            Some(GitReference { name, target, peeled, kind: "worktree", revision })
        };
        worktrees.into_iter().filter_map(reference).collect()
    }

    /// Describes the list of references.
    pub(super) fn describe_refs(&self, uri: &Uri) -> Result<Resource> {
        let mut hasher = blake3::Hasher::new();
        for reference in self.references()? {
            hasher.update(reference.to_json().as_bytes());
        }
        let mut resource = Resource::new(uri.clone(), "refs");
        resource.title = Some("Branches and tags".to_owned());
        resource.description =
            Some("HEAD, branches, tags, remote branches and worktrees".to_owned());
        resource.listable = Some(true);
        resource.is_view = true;
        resource.watchable = Some(self.git.is_watched);
        resource.etag = Some(hasher.finalize().to_hex()[..24].to_owned());
        declare_formats(&mut resource, MARKDOWN);
        Ok(resource)
    }

    /// Lists a page of the revisions that references name.
    pub(super) fn list_refs(&self, paging: &PageRequest) -> Result<Page<Resource>> {
        let all = self.references()?;
        let start = match &paging.cursor {
            None => 0,
            Some(cursor) => {
                let at = all.iter().position(|reference| reference.name == cursor.0);
                at.ok_or_else(Error::bad_cursor)? + 1
            }
        };
        let (mut items, mut next) = (Vec::new(), None);
        for (at, reference) in all.iter().enumerate().skip(start) {
            self.check_cancelled()?;
            if let Some(resource) = self.describe_ref(reference)
                && paging.shows(&resource)
            {
                items.push(resource);
            }
            if items.len() == paging.limit.max(1) && at + 1 < all.len() {
                next = Some(Cursor(Bytes::copy_from_slice(&reference.name)));
                break;
            }
        }
        Ok(Page { next, ..Page::from_items(items, self.git.freshness) })
    }

    /// The revision that a reference names; `None` if it leads nowhere.
    fn describe_ref(&self, reference: &GitReference) -> Option<Arc<Resource>> {
        let revision = RevisionSpec::parse(&reference.revision)?;
        let place = self.find_place(&revision, &RepoPath::default()).ok()?;
        let uri = place.uri().ok().filter(|uri| uri.as_str().len() <= self.git.max_uri)?;
        self.describe(&uri, &place).ok()
    }

    /// Reads the list of references.
    pub(super) fn read_refs(&self, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let described = self.describe_refs(uri)?;
        let all = self.references()?;
        self.read_document(&described, request, |format| {
            Ok(match format {
                DocumentFormat::Json => json_array(all.iter().map(GitReference::to_json)),
                DocumentFormat::Text => {
                    let mut text = "# References\n\n".to_owned();
                    for reference in &all {
                        text.push_str(&reference.to_line());
                    }
                    text
                }
            })
        })
    }
}

impl GitReference {
    fn to_json(&self) -> String {
        let peeled = self.peeled.map(|id| id.to_string());
        JsonObject::new()
            .text("name", &String::from_utf8_lossy(&self.name))
            .text("target", &self.target)
            .optional_text("peeled", peeled.as_deref())
            .text("kind", self.kind)
            .finish()
    }

    fn to_line(&self) -> String {
        let peeled = self.peeled.map(|id| format!(" ({id})")).unwrap_or_default();
        format!("- {}: {} -> {}{peeled}\n", self.kind, quoted(&self.name), self.target)
    }
}

fn target_text(reference: &gix::Reference<'_>) -> String {
    match reference.target() {
        gix::refs::TargetRef::Object(id) => id.to_string(),
        gix::refs::TargetRef::Symbolic(name) => name.as_bstr().to_string(),
    }
}

/// Whether `target` is the hash of the object.
fn is_named(id: ObjectId, target: &str) -> bool {
    ObjectId::from_hex(target.as_bytes()).is_ok_and(|named| named == id)
}

fn kind_of(name: &[u8]) -> &'static str {
    let is_in = |folder: &str| name.starts_with(folder.as_bytes());
    match () {
        () if is_in("refs/heads/") => "branch",
        () if is_in("refs/tags/") => "tag",
        () if is_in("refs/remotes/") => "remote",
        () => "other",
    }
}

/// Gives each reference the shortest revision that git resolves to it: tags come before branches,
/// and those before remote branches.
fn shorten_names(all: &mut [GitReference]) {
    let mut taken: HashSet<Vec<u8>> = HashSet::new();
    for folder in ["refs/tags/", "refs/heads/", "refs/remotes/"] {
        for reference in all.iter_mut() {
            let Some(short) = reference.name.strip_prefix(folder.as_bytes()) else { continue };
            let is_plain = RevisionSpec::parse(short)
                .is_some_and(|revision| !revision.is_reserved() && revision.full_hash().is_none());
            let is_special = short.ends_with(b"HEAD") || short.starts_with(b"refs/");
            if is_plain && !is_special && taken.insert(short.to_vec()) {
                reference.revision = short.to_vec();
            }
        }
    }
}
