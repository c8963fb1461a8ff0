//! Paths of resources inside their mounts, as people read them.

use protocol::MountPath;
use resource::uri::percent_decode_lossy;
use resource::{Provider, Uri};

/// The mount of a URI and its decoded path there; `None` where the URI is not of that form, as those
/// of upstream servers.
pub(crate) fn find_mount_path(provider: &dyn Provider, uri: &Uri) -> Option<MountPath> {
    let mount = provider.facets().mounts?.mount_of(uri)?;
    let path = shown_path(uri).strip_prefix(&mount)?.strip_prefix('/')?.to_owned();
    Some(MountPath { mount, path })
}

/// The decoded path of a URI below the root of its mount, or else all that follows the scheme.
pub(crate) fn path_in_mount(provider: &dyn Provider, uri: &Uri) -> String {
    find_mount_path(provider, uri).map_or_else(|| shown_path(uri), |found| found.path)
}

/// The decoded URI without its scheme.
fn shown_path(uri: &Uri) -> String {
    let text = percent_decode_lossy(uri.as_str()).into_owned();
    let path = text.split_once("://").map_or(&*text, |(_, rest)| rest);
    path.trim_start_matches('/').to_owned()
}
