//! Events that change the picker, the requests that it makes, and how it ends.

use std::sync::Arc;

use ratatui::crossterm::event::Event;

use crate::pick::filter::FilterField;
use crate::pick::node::{NodeId, PickRow};
use crate::pick::placement::PickMount;
use crate::pick::preview::{PickPreview, PreviewKey};

/// What the picker starts with.
#[derive(Debug, Clone, Default)]
pub(crate) struct PickOptions {
    /// The collection to pick from.
    pub(crate) scope: Option<String>,
    pub(crate) source: TreeSource,
    /// Whether the server searches content.
    pub(crate) has_search: bool,
    /// Whether the server tells of changes of a collection that it is asked to watch.
    pub(crate) can_watch: bool,
    pub(crate) budget: u64,
    /// The columns and lines of the view.
    pub(crate) size: (u16, u16),
}

/// Where the top of the tree comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TreeSource {
    /// The mounts of a refdesk.
    Mounts,
    /// A list of a server that lists collections.
    #[default]
    Listed,
    /// The whole list of a server that does not; URIs imply the collections.
    Implied,
}

/// What happened.
#[derive(Debug, Clone)]
pub(crate) enum PickEvent {
    Input(Event),
    Mounts(Result<Vec<PickMount>, String>),
    Page {
        node: NodeId,
        rows: Vec<PickRow>,
        next: Option<String>,
    },
    PageFailed {
        node: NodeId,
        words: String,
    },
    /// A timer that a request started has ended.
    Timer {
        timer: PickTimer,
        serial: u64,
    },
    Hits {
        serial: u64,
        hits: Result<Vec<PickPassage>, String>,
    },
    Preview {
        key: PreviewKey,
        preview: PickPreview,
    },
    Measured {
        node: NodeId,
        tokens: PickTokens,
    },
    /// The server says that a resource changed; without a URI, that some list did.
    Changed(Option<String>),
    /// Nothing else waits: match some more names.
    Step,
}

/// What the picker waits for before it asks the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PickTimer {
    /// A pause in typing.
    Search,
    /// A rest of the cursor.
    Preview,
    /// A pause in the changes of the server.
    Refresh,
}

/// What the picker wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PickRequest {
    Mounts,
    Page {
        node: NodeId,
        uri: Option<Arc<str>>,
        cursor: Option<String>,
    },
    Timer {
        timer: PickTimer,
        serial: u64,
    },
    Search {
        serial: u64,
        query: String,
    },
    Preview {
        key: PreviewKey,
        uri: Arc<str>,
        format: Option<&'static str>,
    },
    Measure {
        node: NodeId,
        uri: Arc<str>,
        format: Option<&'static str>,
    },
    /// Tell of changes in a collection.
    Watch {
        uri: Arc<str>,
    },
    /// Draw everything again.
    Redraw,
}

/// A passage that the server found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PickPassage {
    pub(crate) uri: String,
    pub(crate) line: Option<u64>,
    /// Its text, with matches between pairs of `**`.
    pub(crate) snippet: String,
}

/// A passage in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PickHit {
    pub(crate) node: NodeId,
    pub(crate) line: Option<u64>,
    pub(crate) snippet: String,
}

/// How far the search over content is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HitStatus {
    Idle,
    Searching,
    Failed(String),
}

/// The tokens of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PickTokens {
    pub(crate) count: u64,
    /// Whether its whole text was looked at.
    pub(crate) is_whole: bool,
}

/// How the picker ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PickOutcome {
    Chosen(Vec<Arc<str>>),
    Left,
    Failed(String),
}

/// What is open above the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PickPanel {
    #[default]
    Closed,
    Help,
    Filter(FilterField),
}
