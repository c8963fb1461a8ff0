//! Effect of a server's capabilities on the description of its resources.

use client::{ChildListing, RemoteCapabilities};
use resource::{MemberPlace, Resource};

/// Fills in what the capabilities imply where the server's description leaves it unknown.
pub(super) fn apply(abilities: RemoteCapabilities, resource: &mut Resource, is_polled: bool) {
    resource.is_remote = true;
    // B-03: the MIME type counts only if the server can list directories.
    let is_directory = resource.mime.as_deref() == Some("inode/directory");
    if resource.listable.is_none()
        && is_directory
        && abilities.child_listing != ChildListing::Unsupported
    {
        resource.listable = Some(true);
    }
    if resource.watchable.is_some() {
        return;
    }
    let is_watchable = abilities.has_subscribe || is_polled;
    resource.watchable = if is_watchable { Some(true) } else { Some(false) };
    if is_polled && !abilities.has_subscribe {
        resource.extra.set(MemberPlace::Meta, POLLED_KEY, "true");
    }
}

/// The `_meta` key that marks resources watched by polling.
const POLLED_KEY: &str = "dev.refdesk/polled";

#[cfg(test)]
mod tests {
    use resource::{MemberPlace, Resource, Uri};

    use super::{ChildListing, POLLED_KEY, RemoteCapabilities, apply};

    fn with_capabilities(abilities: RemoteCapabilities, is_polled: bool, mime: &str) -> Resource {
        let mut resource = Resource::new(Uri::parse("a:b").unwrap(), "n");
        resource.mime = Some(mime.to_owned());
        (resource.listable, resource.watchable) = (None, None);
        apply(abilities, &mut resource, is_polled);
        resource
    }

    #[test]
    fn silence_about_collections_stays_silence_unless_directories_can_be_opened() {
        let opens = RemoteCapabilities {
            child_listing: ChildListing::DirectoryRead,
            ..RemoteCapabilities::default()
        };
        assert_eq!(with_capabilities(opens, false, "inode/directory").listable, Some(true));
        assert_eq!(with_capabilities(opens, false, "text/plain").listable, None);
        let deaf = RemoteCapabilities::default();
        assert_eq!(with_capabilities(deaf, false, "inode/directory").listable, None);
    }

    #[test]
    fn a_resource_is_watchable_if_the_server_tells_or_somebody_looks() {
        let (tells, deaf) = (
            RemoteCapabilities { has_subscribe: true, ..RemoteCapabilities::default() },
            RemoteCapabilities::default(),
        );
        assert_eq!(with_capabilities(tells, true, "").watchable, Some(true));
        assert!(with_capabilities(tells, true, "").extra.is_empty());
        assert_eq!(with_capabilities(deaf, false, "").watchable, Some(false));
        let polled = with_capabilities(deaf, true, "");
        assert_eq!(polled.watchable, Some(true));
        assert_eq!(polled.extra.get(MemberPlace::Meta, POLLED_KEY), Some("true"));
    }
}
