//! Files and folders at a revision: finds, lists and reads them.

use std::sync::Arc;

use bytes::Bytes;
use gix::objs::tree::EntryKind;
use redaction::RedactionScope;
use resource::{
    Content, Cursor, Error, ErrorKind, Page, PageRequest, ReadRequest, Reading, Resource, Result,
    Uri,
};

use super::blob::MAX_BLOB_BYTES;
use super::content::GitContent;
use super::describe::{TreePlace, submodule_text};
use super::error::not_found;
use super::location::RevisionSpec;
use super::read_cache::CachedFile;
use super::repo_path::{RepoPath, is_hostile_name};
use super::repository::GitSession;
use super::tree::{FoundEntry, TreeEntry, tree_order};
use detection::mime;

/// The words for a path that is not there.
pub(super) const NO_PATH: &str = "the revision has no such path";

impl GitSession<'_> {
    /// Finds what `path` leads to at `revision`, unless the principal may not know of it.
    pub(super) fn find_place(&self, revision: &RevisionSpec, path: &RepoPath) -> Result<TreePlace> {
        let resolved = self.resolve(revision)?;
        let revision_folder = self.folder_of(revision, &resolved);
        if !self.knows(&revision_folder, path.as_bytes()) {
            return Err(not_found(NO_PATH));
        }
        let entry = match resolved.is_tree {
            true => self.find_entry(resolved.root, path)?,
            false if path.is_root() => {
                self.require_name(revision)?;
                Some(FoundEntry { kind: EntryKind::Blob, id: resolved.root })
            }
            false => None,
        };
        let entry = entry.ok_or_else(|| not_found(NO_PATH))?;
        let (revision, path) = (revision.clone(), path.clone());
        Ok(TreePlace { revision, resolved, revision_folder, path, entry })
    }

    /// Refuses a file by its hash, or by a tag, where its name decides what is masked.
    fn require_name(&self, revision: &RevisionSpec) -> Result<()> {
        if revision.inner_path().is_some() || self.git.redaction.scope() == RedactionScope::Off {
            return Ok(());
        }
        let message = "this object is a file without its name, which decides what is masked; read \
                       it by its path, as HEAD/src/main.rs, or set `redact = false` for the mount";
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    /// Lists a page of the folder at `place`.
    pub(super) fn list_folder(
        &self,
        place: &TreePlace,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        if !place.is_folder() {
            return Err(Error::invalid("a file has no members; read it"));
        }
        let after = paging.cursor.as_ref().map(decode_cursor).transpose()?;
        let entries = self.tree_entries(place.entry.id)?;
        let start = match after {
            Some((name, is_tree)) => entries.partition_point(|entry| {
                tree_order((&entry.name, entry.kind == EntryKind::Tree), (name, is_tree)).is_le()
            }),
            None => 0,
        };
        let limit = paging.limit.max(1);
        let (mut items, mut next) = (Vec::new(), None);
        let is_known = |entry: &&TreeEntry| self.knows_member(place, &entry.name);
        let mut rest = entries[start..].iter().filter(is_known).peekable();
        while let Some(entry) = rest.next() {
            self.check_cancelled()?;
            if let Some(resource) = self.list_entry(place, entry)?
                && paging.shows(&resource)
            {
                items.push(resource);
            }
            if items.len() == limit && rest.peek().is_some() {
                next = Some(encode_cursor(entry));
                break;
            }
        }
        let is_immutable = place.resolved.is_immutable && items.iter().all(|item| item.immutable);
        let freshness = self.git.freshness_of(is_immutable);
        Ok(Page { next, ..Page::from_items(items, freshness) })
    }

    /// Whether the principal may know of a member of the folder at `place`.
    pub(super) fn knows_member(&self, place: &TreePlace, name: &[u8]) -> bool {
        !self.is_restricted()
            || self.knows(&place.revision_folder, place.path.join(name).as_bytes())
    }

    /// Describes an entry of a folder; `None` if its name is hostile or its URI too long.
    fn list_entry(&self, folder: &TreePlace, entry: &TreeEntry) -> Result<Option<Arc<Resource>>> {
        let place = folder.child(&entry.name, FoundEntry { kind: entry.kind, id: entry.id });
        if is_hostile_name(&entry.name) {
            self.git.hostile_names.add(place.path.as_bytes());
            return Ok(None);
        }
        let uri = place.uri()?;
        if uri.as_str().len() > self.git.max_uri {
            return Ok(None);
        }
        self.describe(&uri, &place).map(Some)
    }

    /// Reads the file or folder at `place`.
    pub(super) fn read_place(
        &self,
        uri: &Uri,
        place: &TreePlace,
        request: &ReadRequest,
    ) -> Result<Reading> {
        if place.is_folder() {
            let freshness = self.git.freshness_of(place.resolved.is_immutable);
            let described = self.describe(uri, place)?;
            return Ok(Reading::new(Content::Collection(described), freshness));
        }
        let content = match place.entry.kind {
            EntryKind::Commit => None,
            _ => Some(self.find_content(place.entry)?),
        };
        if let Some(content) = content.filter(|content| content.size > MAX_BLOB_BYTES) {
            return self.read_large(uri, place, &content, request);
        }
        let stamp = match place.resolved.is_immutable {
            true => None,
            false => self.stamp_of(&place.revision, place.resolved),
        };
        let file = CachedFile { stamp, ..self.load_file(uri, place, content.as_ref())? };
        let is_stamped = file.resource.immutable || file.stamp.is_some();
        let may_change = content.is_some_and(|content| content.may_change());
        let freshness = self.git.freshness_of(file.resource.immutable);
        let mut parts = vec![file.part(&request.window)?];
        let total_parts = request.select(&mut parts, |part| part.resource.mime.as_deref())?;
        if is_stamped && !may_change {
            self.git.read_cache.insert(file);
        }
        Ok(Reading { total_parts, ..Reading::new(Content::Parts(parts), freshness) })
    }

    fn load_file(
        &self,
        uri: &Uri,
        place: &TreePlace,
        stored: Option<&GitContent>,
    ) -> Result<CachedFile> {
        let Some(stored) = stored else {
            let (resource, bytes) = (self.describe(uri, place)?, submodule_text(place.entry));
            return Ok(CachedFile { resource, bytes: bytes.into(), is_text: true, stamp: None });
        };
        let content = self.load_content(stored, &place.masked_path())?;
        let described = self.describe_content(uri, place, Some(stored))?;
        let mut resource = Arc::unwrap_or_clone(described);
        let named = mime::by_name(&resource.name);
        let mime = match (place.entry.kind, content.is_text) {
            (EntryKind::Link, true) => mime::PLAIN_TEXT,
            (_, true) => mime::for_text(named, &content.bytes),
            (_, false) => mime::for_blob(named, &content.bytes),
        };
        resource.mime = Some(mime.to_owned());
        resource.charset = content.charset;
        if resource.size.is_none() {
            resource.size = Some(content.bytes.len() as u64);
        }
        let (bytes, is_text) = (content.bytes.clone(), content.is_text);
        Ok(CachedFile { resource: Arc::new(resource), bytes, is_text, stamp: None })
    }
}

/// The position after `entry`: its kind and name.
fn encode_cursor(entry: &TreeEntry) -> Cursor {
    let kind = if entry.kind == EntryKind::Tree { b'd' } else { b'f' };
    let mut bytes = vec![kind];
    bytes.extend_from_slice(&entry.name);
    Cursor(Bytes::from(bytes))
}

fn decode_cursor(cursor: &Cursor) -> Result<(&[u8], bool)> {
    match &cursor.0[..] {
        [b'd', name @ ..] if !name.is_empty() => Ok((name, true)),
        [b'f', name @ ..] if !name.is_empty() => Ok((name, false)),
        _ => Err(Error::bad_cursor()),
    }
}
