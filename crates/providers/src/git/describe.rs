//! Builds the descriptions of files, folders and revisions.

use std::borrow::Cow;
use std::sync::Arc;

use gix::objs::tree::EntryKind;
use resource::{MemberPlace, Resource, Result, Uri};

use super::content::GitContent;
use super::json::JsonObject;
use super::lfs::LfsFile;
use super::location::{Location, RevisionSpec};
use super::repo_path::{RepoPath, join_bytes};
use super::repository::GitSession;
use super::revision::ResolvedRevision;
use super::tree::FoundEntry;
use super::visibility::RevisionFolder;
use detection::mime;

/// MIME type of folders.
const FOLDER_MIME: &str = "inode/directory";

/// Name of the member of `_meta` that tells where a file comes from.
const META_KEY: &str = "dev.refdesk/git";

/// A file or folder at a revision.
#[derive(Debug, Clone)]
pub(super) struct TreePlace {
    pub(super) revision: RevisionSpec,
    pub(super) resolved: ResolvedRevision,
    /// The folder that the path counts from, as rules judge it.
    pub(super) revision_folder: RevisionFolder,
    pub(super) path: RepoPath,
    pub(super) entry: FoundEntry,
}

impl TreePlace {
    /// The place of an entry of this folder.
    pub(super) fn child(&self, name: &[u8], entry: FoundEntry) -> Self {
        Self { path: self.path.join(name), entry, ..self.clone() }
    }

    pub(super) fn uri(&self) -> Result<Uri> {
        Location::tree_uri(&self.revision, &self.path)
    }

    pub(super) fn is_folder(&self) -> bool {
        self.entry.kind == EntryKind::Tree
    }

    /// The path whose name decides how the file is masked.
    pub(super) fn masked_path(&self) -> Cow<'_, [u8]> {
        let inner = self.revision.inner_path();
        match inner {
            None => Cow::Borrowed(self.path.as_bytes()),
            Some(inner) if self.path.is_root() => Cow::Borrowed(inner),
            Some(inner) => Cow::Owned(join_bytes(inner, self.path.as_bytes())),
        }
    }
}

impl GitSession<'_> {
    /// Describes a file or folder, without reading it.
    pub(super) fn describe(&self, uri: &Uri, place: &TreePlace) -> Result<Arc<Resource>> {
        let is_file = matches!(
            place.entry.kind,
            EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link
        );
        // What is missing or broken is listed all the same; a read tells what is wrong with it.
        let content = is_file.then(|| self.find_content(place.entry).ok()).flatten();
        self.describe_content(uri, place, content.as_ref())
    }

    /// Describes a folder, or a file and what it consists of, if that is known.
    pub(super) fn describe_content(
        &self,
        uri: &Uri,
        place: &TreePlace,
        content: Option<&GitContent>,
    ) -> Result<Arc<Resource>> {
        let name = match place.path.name() {
            Some(name) => String::from_utf8_lossy(name).into_owned(),
            None => self.revision_text(&place.revision),
        };
        let mut resource = Resource::new(uri.clone(), name);
        let may_change = content.is_some_and(GitContent::may_change);
        resource.immutable = place.resolved.is_immutable && !may_change;
        resource.watchable = Some(self.git.is_watched && !place.resolved.is_immutable);
        let is_masked = self.syntax_of(&place.masked_path()).is_some();
        let id = content.map_or(place.entry.id, |content| content.id);
        resource.etag = Some(self.git.masked_etag(&id.to_string(), is_masked));
        match place.entry.kind {
            EntryKind::Tree => {
                resource.listable = Some(true);
                resource.is_view = place.path.is_root();
                resource.mime = Some(FOLDER_MIME.to_owned());
                resource.etag = Some(place.entry.id.to_string()).filter(|_| !self.is_restricted());
            }
            EntryKind::Commit => {
                resource.mime = Some("text/plain".to_owned());
                resource.description = Some("A submodule: the commit that it is at".to_owned());
                resource.size = Some(submodule_text(place.entry).len() as u64);
            }
            EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
                let named = mime::by_name(&resource.name);
                resource.mime = match place.entry.kind {
                    EntryKind::Link => Some("text/plain".to_owned()),
                    _ => named.map(str::to_owned),
                };
                if place.entry.kind == EntryKind::Link {
                    resource.description = Some("A symbolic link: the path it names".to_owned());
                }
                if !is_masked {
                    resource.size = content.map(|content| content.size);
                }
                let lfs = content.and_then(|content| content.lfs);
                resource.description = lfs.map(|lfs| lfs.describe()).or(resource.description);
            }
        }
        let is_file = !matches!(place.entry.kind, EntryKind::Tree | EntryKind::Commit);
        let hides_content = is_masked && is_file;
        let lfs = content.and_then(|content| content.lfs);
        self.add_origin(&mut resource, place, (lfs, hides_content))?;
        Ok(Arc::new(resource))
    }

    /// Adds the last commit that touched the path. The hashes of a content that is masked are left
    /// out: they have no key, so that they tell whether a guess is right. What changes with any
    /// member of a folder is left out for a principal that may not know of all of them.
    fn add_origin(
        &self,
        resource: &mut Resource,
        place: &TreePlace,
        (lfs, hides_content): (Option<LfsFile>, bool),
    ) -> Result<()> {
        let hides_members = self.is_restricted() && place.is_folder();
        let hides_object = hides_content || hides_members;
        let object = (!hides_object).then(|| place.entry.id.to_string());
        let mut facts = JsonObject::new().optional_text("object", object.as_deref());
        if let Some(tip) = place.resolved.commit {
            if place.path.is_root() && self.shows_tip(tip)? {
                let text = self.kept_commit_text(tip)?;
                resource.description =
                    Some(text.subject.clone()).filter(|subject| !subject.is_empty());
            }
            if place.path.is_root() {
                facts = facts.text("revision", &tip.to_string());
            }
            if !hides_members
                && let Some(last) = self.last_commit(tip, &place.path, place.entry.id)?
            {
                resource.annotations.modified = last.time();
                let text = self.kept_commit_text(last.id)?;
                facts = facts
                    .text("commit", &last.id.to_string())
                    .text("author", &text.author.name)
                    .text("subject", &text.subject);
            }
        }
        if let Some(LfsFile { pointer, is_local }) = lfs {
            let oid = (!hides_content).then(|| format!("sha256:{}", pointer.oid));
            let told = JsonObject::new()
                .optional_text("oid", oid.as_deref())
                .number("size", pointer.size)
                .raw("local", if is_local { "true" } else { "false" });
            facts = facts.raw("lfs", &told.finish());
        }
        resource.extra.set(MemberPlace::Meta, META_KEY, facts.finish());
        Ok(())
    }
}

/// What is read of a submodule.
pub(super) fn submodule_text(entry: FoundEntry) -> String {
    format!("Subproject commit {}\n", entry.id)
}
