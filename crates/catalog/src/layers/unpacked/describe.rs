//! Descriptions of archives and their members, as listings show them.

use std::sync::Arc;

use archive::ArchiveKind;
use detection::mime;
use machinery::{Cache, CacheBounds};
use resource::{Format, Resource, Uri};

use super::InsidePlace;
use super::member_uri::kind_of_uri;

/// The number of descriptions that are kept, so that an unchanged member is the same object.
const MAX_KEPT: usize = 16 << 10;

const FOLDER_MIME: &str = "inode/directory";

/// The kind of archive that a resource of the provider is, and its MIME type.
pub(super) fn archive_kind(found: &Resource) -> Option<(ArchiveKind, &'static str)> {
    // A log or a diff of an archive has its name and is none.
    let is_file = found.listable == Some(false) && found.formats.is_empty();
    let is_binary = |mime: &String| {
        let textual = ["json", "xml", "yaml", "toml", "javascript", "sql"];
        mime.strip_prefix("application/")
            .is_some_and(|format| !textual.iter().any(|text| format.ends_with(text)))
    };
    let may_be =
        |usual: &str| found.mime.as_ref().is_none_or(|mime| mime == usual || is_binary(mime));
    kind_of_uri(&found.uri).filter(|(_, usual)| is_file && may_be(usual))
}

/// Describes an archive as a collection whose bytes are a format. Other resources stay as they are.
pub(super) fn describe_archive(mut found: Arc<Resource>) -> Arc<Resource> {
    let Some((kind, usual)) = archive_kind(&found) else { return found };
    let archive = Arc::make_mut(&mut found);
    let mime = archive.mime.get_or_insert_with(|| usual.to_owned());
    let (size, etag) = (archive.size, archive.etag.clone());
    let format = Format { mime: mime.clone(), size, etag, is_made: false };
    if !kind.has_own_content() {
        archive.formats = vec![format];
    }
    (archive.listable, archive.is_archive) = (Some(true), true);
    found
}

/// Descriptions of members, by URI and version.
pub(super) struct MemberDescriptions(Cache<(Uri, String), Arc<Resource>>);

impl Default for MemberDescriptions {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::entries(MAX_KEPT)))
    }
}

impl MemberDescriptions {
    /// Describes a place in an archive under `uri`.
    pub(super) fn describe(&self, place: &InsidePlace, uri: &Uri) -> Arc<Resource> {
        let described = describe_place(place, uri);
        let Some(etag) = described.etag.clone() else { return Arc::new(described) };
        let key = (uri.clone(), etag);
        if let Some(known) = self.0.get(&key).filter(|known| **known == described) {
            return known;
        }
        let described = Arc::new(described);
        self.0.insert(key, Arc::clone(&described), 1);
        described
    }
}

fn describe_place(place: &InsidePlace, uri: &Uri) -> Resource {
    let outermost = &place.archive.outermost;
    let Some(member) = &place.member else {
        return describe_root(place, uri);
    };
    let mut resource = Resource::new(uri.clone(), member.name());
    resource.annotations.modified = member.modified;
    resource.watchable = outermost.watchable;
    (resource.immutable, resource.is_remote) = (outermost.immutable, outermost.is_remote);
    if member.is_folder {
        (resource.listable, resource.mime) = (Some(true), Some(FOLDER_MIME.to_owned()));
        resource.etag.clone_from(&outermost.etag);
        return resource;
    }
    resource.size = Some(member.size);
    resource.mime = mime::by_name(member.name()).map(str::to_owned);
    // The version of the member in the version of the archive: two members never share one.
    let location = &member.location;
    let nesting = place.archive.version.as_ref().map_or(0, |version| version.nesting_hash());
    resource.etag = outermost.etag.as_ref().map(|etag| {
        let (offset, crc) = (location.offset, location.crc.unwrap_or(0));
        format!("{etag}-{nesting:x}-{offset:x}-{crc:x}")
    });
    if place.nested.is_some()
        && let Some((kind, usual)) = ArchiveKind::of_name(member.name())
    {
        let mime = resource.mime.get_or_insert_with(|| usual.to_owned());
        let (mime, size, etag) = (mime.clone(), resource.size, resource.etag.clone());
        if !kind.has_own_content() {
            resource.formats = vec![Format { mime, size, etag, is_made: false }];
        }
        (resource.listable, resource.is_archive) = (Some(true), true);
    }
    resource
}

/// The archive itself, by a URI with a slash at its end.
fn describe_root(place: &InsidePlace, uri: &Uri) -> Resource {
    let described = describe_archive(Arc::clone(&place.archive.outermost));
    Resource { uri: uri.clone(), ..Arc::unwrap_or_clone(described) }
}
