//! Builds the resource description of a file or folder.

use resource::{Annotations, Resource, Uri};

use super::stamp::{FileKind, FileStamp};
use detection::mime;

/// MIME type of folders.
const FOLDER_MIME: &str = "inode/directory";

/// Describes the file or folder `name` as listings show it. The root has no name.
pub(super) fn describe(
    uri: Uri,
    name: Option<&[u8]>,
    stamp: &FileStamp,
    watchable: Option<bool>,
) -> Resource {
    let mut resource = describe_without_mime(uri, name, stamp, watchable);
    if stamp.kind == FileKind::Folder {
        resource.listable = Some(true);
        resource.mime = Some(FOLDER_MIME.to_owned());
    } else {
        resource.mime = mime::by_name(&resource.name).map(str::to_owned);
    }
    resource
}

/// Describes it without MIME type and without marking a folder as listable.
pub(super) fn describe_without_mime(
    uri: Uri,
    name: Option<&[u8]>,
    stamp: &FileStamp,
    watchable: Option<bool>,
) -> Resource {
    let mut resource = Resource::new(uri, String::from_utf8_lossy(name.unwrap_or(b"/")));
    resource.annotations =
        Annotations { modified: Some(stamp.modified()), ..Annotations::default() };
    resource.etag = Some(stamp.etag());
    resource.watchable = watchable;
    resource.size = (stamp.kind == FileKind::File).then_some(stamp.size);
    resource
}
