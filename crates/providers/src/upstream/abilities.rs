//! What can the server do, and what follows for each of its resources?

use client::{List, Peer};
use resource::{Place, Resource, Truth, Uri};

/// What the server said that it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Abilities {
    pub(super) has_resources: bool,
    pub(super) subscribes: bool,
    pub(super) tells_of_lists: bool,
    pub(super) completes: bool,
    pub(super) describes: bool,
    pub(super) opens: Opens,
}

/// How what lies in a resource is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Opens {
    /// By listing it.
    Listing,
    /// By a method for directories.
    Directories,
    /// Not at all. To ask all the same would be answered with the whole list (B-12).
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

    /// How to ask for what lies in `uri`, if that can be asked.
    pub(super) fn list_in(self, uri: &Uri) -> Option<List> {
        match self.opens {
            Opens::Listing => Some(List::In(uri.clone())),
            Opens::Directories => Some(List::Directory(uri.clone())),
            Opens::Nothing => None,
        }
    }

    /// Adds what follows from this to what the server said of one resource.
    pub(super) fn temper(self, resource: &mut Resource, is_polled: bool) {
        // B-03: a format alone says nothing about a server that opens no directories.
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

/// Says that changes are found by looking now and then.
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
