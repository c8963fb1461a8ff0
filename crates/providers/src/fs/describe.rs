//! How is a file or folder described?

use std::sync::Arc;

use resource::{Annotations, Resource, Truth, Uri};

use super::mime;
use super::stamp::{Kind, Stamp};

/// The format of folders.
const FOLDER: &str = "inode/directory";

/// The file or folder `name` as a listing shows it. The root has no name.
pub(super) fn describe(uri: Uri, name: Option<&[u8]>, stamp: &Stamp) -> Resource {
    let name = name.unwrap_or(b"/");
    let mut resource = Resource::new(uri, String::from_utf8_lossy(name));
    resource.annotations =
        Annotations { modified: Some(stamp.modified()), ..Annotations::default() };
    resource.etag = Some(stamp.etag());
    if stamp.kind == Kind::Folder {
        resource.listable = Truth::Yes;
        resource.mime = Some(FOLDER.to_owned());
    } else {
        resource.size = Some(stamp.size);
        resource.mime = mime::by_name(&resource.name).map(str::to_owned);
    }
    resource
}

/// The same, as it stands in a listing.
pub(super) fn entry(uri: Uri, name: &[u8], stamp: &Stamp) -> Arc<Resource> {
    Arc::new(describe(uri, Some(name), stamp))
}
