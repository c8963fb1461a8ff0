//! Builds the resource description of a file or folder.

use resource::{Annotations, Resource, Truth, Uri};

use super::mime;
use super::stamp::{Kind, Stamp};

/// MIME type of folders.
const FOLDER: &str = "inode/directory";

/// Describes the file or folder `name` as listings show it. The root has no name.
pub(super) fn describe(uri: Uri, name: Option<&[u8]>, stamp: &Stamp, watchable: Truth) -> Resource {
    let mut resource = outline(uri, name, stamp, watchable);
    if stamp.kind == Kind::Folder {
        resource.listable = Truth::Yes;
        resource.mime = Some(FOLDER.to_owned());
    } else {
        resource.mime = mime::by_name(&resource.name).map(str::to_owned);
    }
    resource
}

/// Describes it without MIME type and without marking a folder as listable.
pub(super) fn outline(uri: Uri, name: Option<&[u8]>, stamp: &Stamp, watchable: Truth) -> Resource {
    let mut resource = Resource::new(uri, String::from_utf8_lossy(name.unwrap_or(b"/")));
    resource.annotations =
        Annotations { modified: Some(stamp.modified()), ..Annotations::default() };
    resource.etag = Some(stamp.etag());
    resource.watchable = watchable;
    resource.size = (stamp.kind == Kind::File).then_some(stamp.size);
    resource
}
