//! Resources in the tree of the picker, and the lines that show them.

use std::sync::Arc;

use resource::Role;

use crate::listing::Row;

/// A resource in the tree. The tree never forgets one, so that its id stays good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(super) u32);

/// The list that the tree begins with; it is not shown itself.
pub(crate) const ROOT: NodeId = NodeId(0);

/// A resource as a list of the server describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PickRow {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) mime: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) priority: Option<f64>,
    pub(crate) audience: Vec<Role>,
    pub(crate) is_collection: bool,
    /// A collection without content of its own, which a walk enters.
    pub(crate) is_folder: bool,
    /// The format to read it in, where the original is no text.
    pub(crate) text_form: Option<&'static str>,
}

impl From<&Row> for PickRow {
    fn from(row: &Row) -> Self {
        let resource = &row.resource;
        Self {
            uri: resource.uri.to_string(),
            name: resource.name.clone(),
            title: resource.title.clone(),
            mime: resource.mime.clone(),
            size: resource.size,
            priority: resource.annotations.priority,
            audience: resource.annotations.audience.clone(),
            is_collection: row.is_collection(),
            is_folder: row.is_folder(),
            text_form: resource.text_form(),
        }
    }
}

/// How much of a collection is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PickLoad {
    Unloaded,
    Loading,
    /// The cursor of the next page.
    More(String),
    Complete,
    Failed(String),
}

/// A resource in the tree.
#[derive(Debug)]
pub(crate) struct PickNode {
    pub(crate) uri: Arc<str>,
    /// Names and titles are on one line, without control characters.
    pub(crate) name: Box<str>,
    pub(crate) title: Option<Box<str>>,
    /// What the search by name matches: the path, and the name where it is another.
    pub(crate) path: Box<str>,
    pub(crate) mime: Option<Arc<str>>,
    pub(crate) size: Option<u64>,
    pub(crate) priority: Option<f64>,
    pub(crate) audience: Vec<Role>,
    pub(crate) text_form: Option<&'static str>,
    pub(crate) is_collection: bool,
    /// Whether a walk through everything lists it.
    pub(super) is_walked: bool,
    pub(crate) depth: u8,
    pub(super) parent: NodeId,
    /// The ancestor below the root: its mount.
    pub(crate) mount: NodeId,
    /// The first node with this URI.
    pub(crate) first: NodeId,
    pub(crate) is_open: bool,
    /// Whether only the URIs of other resources tell that it exists: the server cannot read it.
    pub(crate) is_group: bool,
    /// Whether a search named it, and no list has described it yet.
    pub(super) is_stub: bool,
    /// Whether it stays, whatever lists say: it is a mount.
    pub(super) is_pinned: bool,
    /// Whether the list that had it has it no more.
    pub(crate) is_gone: bool,
    /// When a list named it last, counted in rows.
    pub(super) listed_at: u64,
    pub(crate) load: PickLoad,
    pub(crate) children: Vec<NodeId>,
}

impl PickNode {
    /// Whether it is a collection without content of its own.
    pub(crate) fn is_folder(&self) -> bool {
        self.is_collection && self.mime.as_deref().is_none_or(|mime| mime == "inode/directory")
    }
}

/// A line of the list that a person moves through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PickLine {
    Node(NodeId),
    /// What is to say about the list of a collection, below its rows.
    Note(NodeId),
    Heading(&'static str),
    /// A passage that the server found, by its place in the answer.
    Hit(usize),
}
