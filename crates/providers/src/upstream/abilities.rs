//! Capabilities of the server, and their effect on the description of its resources.

use client::{List, Peer};
use resource::{Place, Resource, Truth, Uri};

/// The capabilities that the server declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Abilities {
    pub(super) has_resources: bool,
    pub(super) subscribes: bool,
    pub(super) tells_of_lists: bool,
    pub(super) completes: bool,
    pub(super) describes: bool,
    pub(super) opens: Opens,
}

/// How the server lists the children of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Opens {
    /// By `resources/list` with a `uri`.
    Listing,
    /// By `resources/directory/read`.
    Directories,
    /// Not at all. A server that ignores `uri` would return its whole list (B-12).
    #[default]
    Nothing,
}

impl Abilities {
    pub(super) fn of(peer: &Peer) -> Self {
        Self {
            has_resources: peer.has_resources(),
            subscribes: peer.has_subscribe(),
            tells_of_lists: peer.has_list_changed(),
            completes: peer.has_completions(),
            describes: peer.has_metadata(),
            opens: match (peer.has_scoped_list(), peer.has_directories()) {
                (true, _) => Opens::Listing,
                (false, true) => Opens::Directories,
                (false, false) => Opens::Nothing,
            },
        }
    }

    /// The request for the children of `uri`, if the server supports one.
    pub(super) fn list_in(self, uri: &Uri) -> Option<List> {
        match self.opens {
            Opens::Listing => Some(List::In(uri.clone())),
            Opens::Directories => Some(List::Directory(uri.clone())),
            Opens::Nothing => None,
        }
    }

    /// Fills in what the capabilities imply where the server's description leaves it unknown.
    pub(super) fn temper(self, resource: &mut Resource, is_polled: bool) {
        // B-03: the MIME type counts only if the server can list directories.
        let is_directory = resource.mime.as_deref() == Some("inode/directory");
        if resource.listable == Truth::Unknown && is_directory && self.opens != Opens::Nothing {
            resource.listable = Truth::Yes;
        }
        if resource.watchable != Truth::Unknown {
            return;
        }
        let is_watchable = self.subscribes || is_polled;
        resource.watchable = if is_watchable { Truth::Yes } else { Truth::No };
        if is_polled && !self.subscribes {
            resource.extra.put(Place::Meta, POLLED, "true");
        }
    }
}

/// The `_meta` key that marks resources watched by polling.
const POLLED: &str = "dev.refdesk/polled";

#[cfg(test)]
mod tests {
    use resource::{Place, Resource, Truth, Uri};

    use super::{Abilities, Opens, POLLED};

    fn tempered(abilities: Abilities, is_polled: bool, mime: &str) -> Resource {
        let mut resource = Resource::new(Uri::parse("a:b").unwrap(), "n");
        resource.mime = Some(mime.to_owned());
        (resource.listable, resource.watchable) = (Truth::Unknown, Truth::Unknown);
        abilities.temper(&mut resource, is_polled);
        resource
    }

    #[test]
    fn silence_about_collections_stays_silence_unless_directories_can_be_opened() {
        let opens = Abilities { opens: Opens::Directories, ..Abilities::default() };
        assert_eq!(tempered(opens, false, "inode/directory").listable, Truth::Yes);
        assert_eq!(tempered(opens, false, "text/plain").listable, Truth::Unknown);
        let deaf = Abilities::default();
        assert_eq!(tempered(deaf, false, "inode/directory").listable, Truth::Unknown);
    }

    #[test]
    fn a_resource_is_watchable_if_the_server_tells_or_somebody_looks() {
        let (tells, deaf) =
            (Abilities { subscribes: true, ..Abilities::default() }, Abilities::default());
        assert_eq!(tempered(tells, true, "").watchable, Truth::Yes);
        assert!(tempered(tells, true, "").extra.is_empty());
        assert_eq!(tempered(deaf, false, "").watchable, Truth::No);
        let polled = tempered(deaf, true, "");
        assert_eq!(polled.watchable, Truth::Yes);
        assert_eq!(polled.extra.get(Place::Meta, POLLED), Some("true"));
    }
}
