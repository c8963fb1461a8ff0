//! Identity and capabilities of a connected server.

use protocol::{Peer, Revision};
use resource::{ComponentKind, Uri};

use crate::resources::ListScope;

/// A connected server, as it describes itself.
#[derive(Debug, Clone)]
pub struct RemoteServer {
    /// Its name, if it sent one.
    pub name: Option<String>,
    /// Its name for people, if it sent one.
    pub title: Option<String>,
    /// Its version, if it sent one.
    pub version: Option<String>,
    /// How to use it, if it says so.
    pub instructions: Option<String>,
    /// Its capabilities.
    pub capabilities: RemoteCapabilities,
    pub(crate) revision: Revision,
}

impl RemoteServer {
    /// The protocol revision of the connection, a date.
    pub fn revision(&self) -> &'static str {
        self.revision.as_str()
    }

    /// Whether the connection began with `initialize`.
    pub fn has_handshake(&self) -> bool {
        self.revision.has_handshake()
    }
}

impl From<Peer> for RemoteServer {
    fn from(peer: Peer) -> Self {
        let capabilities = RemoteCapabilities::from(&peer);
        let Peer { name, title, version, instructions, revision, .. } = peer;
        Self { name, title, version, instructions, capabilities, revision }
    }
}

/// The capabilities that a server declared. The default declares none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RemoteCapabilities {
    /// It has resources.
    pub has_resources: bool,
    /// It reports changes of single resources.
    pub has_subscribe: bool,
    /// It reports changes of its list of resources.
    pub has_list_changed: bool,
    /// It reports any changes: of resources or of any list.
    pub has_notifications: bool,
    /// It has tools.
    pub has_tools: bool,
    /// It has prompts.
    pub has_prompts: bool,
    /// It sends log messages.
    pub has_logging: bool,
    /// It may support completion.
    pub has_completions: bool,
    /// Its tools may run as tasks (SEP-2663).
    pub has_tasks: bool,
    /// It lists skills (skills extension).
    pub has_skills: bool,
    /// It serves `resources/metadata` (SEP-2093).
    pub has_metadata: bool,
    /// It keeps baskets, which a client saves (`dev.refdesk/baskets`).
    pub has_baskets: bool,
    /// How it lists the children of a resource.
    pub child_listing: ChildListing,
    /// It declared something.
    pub has_any: bool,
}

/// How a server lists the children of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChildListing {
    /// By `resources/list` with a `uri`.
    ScopedList,
    /// By `resources/directory/read`.
    DirectoryRead,
    /// Not at all. A server that ignores `uri` would return its whole list (B-12).
    #[default]
    Unsupported,
}

impl RemoteCapabilities {
    /// The list of the children of `uri`, if the server has one.
    pub fn child_list(self, uri: &Uri) -> Option<ListScope> {
        match self.child_listing {
            ChildListing::ScopedList => Some(ListScope::Children(uri.clone())),
            ChildListing::DirectoryRead => Some(ListScope::Directory(uri.clone())),
            ChildListing::Unsupported => None,
        }
    }

    /// Whether the server may have tools or prompts. One that declares nothing may have any.
    pub fn may_have(self, kind: ComponentKind) -> bool {
        !self.has_any
            || match kind {
                ComponentKind::Tool => self.has_tools,
                ComponentKind::Prompt => self.has_prompts,
            }
    }
}

impl From<&Peer> for RemoteCapabilities {
    fn from(peer: &Peer) -> Self {
        Self {
            has_resources: peer.has_resources(),
            has_subscribe: peer.has_subscribe(),
            has_list_changed: peer.has_list_changed(),
            has_notifications: peer.has_notifications(),
            has_tools: peer.has_tools(),
            has_prompts: peer.has_prompts(),
            has_logging: peer.has_logging(),
            has_completions: peer.has_completions(),
            has_tasks: peer.has_tasks(),
            has_skills: peer.has_skills(),
            has_metadata: peer.has_metadata(),
            has_baskets: peer.has_baskets(),
            child_listing: match (peer.has_scoped_list(), peer.has_directories()) {
                (true, _) => ChildListing::ScopedList,
                (false, true) => ChildListing::DirectoryRead,
                (false, false) => ChildListing::Unsupported,
            },
            has_any: peer.capabilities.get() != "{}",
        }
    }
}
