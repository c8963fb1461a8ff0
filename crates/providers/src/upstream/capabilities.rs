//! Capabilities of the server, and their effect on the description of its resources.

use client::{ListScope, Peer};
use resource::{MemberPlace, Resource, Uri};

/// The capabilities that the server declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct UpstreamCapabilities {
    pub(super) has_resources: bool,
    pub(super) has_subscribe: bool,
    pub(super) has_list_changed: bool,
    pub(super) has_completions: bool,
    pub(super) has_metadata: bool,
    pub(super) child_listing: ChildListing,
}

/// How the server lists the children of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ChildListing {
    /// By `resources/list` with a `uri`.
    ScopedList,
    /// By `resources/directory/read`.
    DirectoryRead,
    /// Not at all. A server that ignores `uri` would return its whole list (B-12).
    #[default]
    Unsupported,
}

impl UpstreamCapabilities {
    pub(super) fn from_peer(peer: &Peer) -> Self {
        Self {
            has_resources: peer.has_resources(),
            has_subscribe: peer.has_subscribe(),
            has_list_changed: peer.has_list_changed(),
            has_completions: peer.has_completions(),
            has_metadata: peer.has_metadata(),
            child_listing: match (peer.has_scoped_list(), peer.has_directories()) {
                (true, _) => ChildListing::ScopedList,
                (false, true) => ChildListing::DirectoryRead,
                (false, false) => ChildListing::Unsupported,
            },
        }
    }

    /// The request for the children of `uri`, if the server supports one.
    pub(super) fn child_list_request(self, uri: &Uri) -> Option<ListScope> {
        match self.child_listing {
            ChildListing::ScopedList => Some(ListScope::Children(uri.clone())),
            ChildListing::DirectoryRead => Some(ListScope::Directory(uri.clone())),
            ChildListing::Unsupported => None,
        }
    }

    /// Fills in what the capabilities imply where the server's description leaves it unknown.
    pub(super) fn apply_to(self, resource: &mut Resource, is_polled: bool) {
        // B-03: the MIME type counts only if the server can list directories.
        let is_directory = resource.mime.as_deref() == Some("inode/directory");
        if resource.listable == None
            && is_directory
            && self.child_listing != ChildListing::Unsupported
        {
            resource.listable = Some(true);
        }
        if resource.watchable != None {
            return;
        }
        let is_watchable = self.has_subscribe || is_polled;
        resource.watchable = if is_watchable { Some(true) } else { Some(false) };
        if is_polled && !self.has_subscribe {
            resource.extra.set(MemberPlace::Meta, POLLED_KEY, "true");
        }
    }
}

/// The `_meta` key that marks resources watched by polling.
const POLLED_KEY: &str = "dev.refdesk/polled";

#[cfg(test)]
mod tests {
    use resource::{MemberPlace, Resource, Uri};

    use super::{ChildListing, POLLED_KEY, UpstreamCapabilities};

    fn with_capabilities(abilities: UpstreamCapabilities, is_polled: bool, mime: &str) -> Resource {
        let mut resource = Resource::new(Uri::parse("a:b").unwrap(), "n");
        resource.mime = Some(mime.to_owned());
        (resource.listable, resource.watchable) = (None, None);
        abilities.apply_to(&mut resource, is_polled);
        resource
    }

    #[test]
    fn silence_about_collections_stays_silence_unless_directories_can_be_opened() {
        let opens = UpstreamCapabilities {
            child_listing: ChildListing::DirectoryRead,
            ..UpstreamCapabilities::default()
        };
        assert_eq!(with_capabilities(opens, false, "inode/directory").listable, Some(true));
        assert_eq!(with_capabilities(opens, false, "text/plain").listable, None);
        let deaf = UpstreamCapabilities::default();
        assert_eq!(with_capabilities(deaf, false, "inode/directory").listable, None);
    }

    #[test]
    fn a_resource_is_watchable_if_the_server_tells_or_somebody_looks() {
        let (tells, deaf) = (
            UpstreamCapabilities { has_subscribe: true, ..UpstreamCapabilities::default() },
            UpstreamCapabilities::default(),
        );
        assert_eq!(with_capabilities(tells, true, "").watchable, Some(true));
        assert!(with_capabilities(tells, true, "").extra.is_empty());
        assert_eq!(with_capabilities(deaf, false, "").watchable, Some(false));
        let polled = with_capabilities(deaf, true, "");
        assert_eq!(polled.watchable, Some(true));
        assert_eq!(polled.extra.get(MemberPlace::Meta, POLLED_KEY), Some("true"));
    }
}
