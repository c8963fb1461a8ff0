//! What may be chosen about a folder that is served?

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use crate::vigil::{POLL, WATCHES, Watching};

/// How one folder is served.
#[derive(Clone)]
pub struct Options {
    /// The folder.
    pub root: PathBuf,
    /// What a plain list shows.
    pub listing: Listing,
    /// Whether names that begin with a dot are shown.
    pub hidden: bool,
    /// How long an answer may be kept.
    pub ttl: Duration,
    /// What is as if it were not there, beside what ignore files leave out.
    pub hide: Option<Hide>,
    /// How changes are noticed.
    pub watch: Watching,
    /// How often they are looked for where the kernel does not tell.
    pub poll: Duration,
    /// How many folders are watched at most.
    pub watches: usize,
}

impl Options {
    /// What holds for the folder `root` if nothing is said about it.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            listing: Listing::default(),
            hidden: false,
            ttl: Duration::ZERO,
            hide: None,
            watch: Watching::default(),
            poll: POLL,
            watches: WATCHES,
        }
    }
}

/// Says of a path below the root, such as `docs/a.md` or the folder `docs`, whether it and all
/// that lies in it is hidden.
///
/// It looks at the folders around a path itself, and answers alike each time. Of a path that is
/// not UTF-8 it is given the nearest that is.
pub type Hide = Arc<dyn Fn(&str) -> bool + Send + Sync>;

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { root, listing, hidden, ttl, hide, watch, poll, watches } = self;
        f.debug_struct("Options")
            .field("root", root)
            .field("listing", listing)
            .field("hidden", hidden)
            .field("ttl", ttl)
            .field("hide", &hide.is_some())
            .field("watch", watch)
            .field("poll", poll)
            .field("watches", watches)
            .finish()
    }
}

/// What a plain list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listing {
    /// Every file of a small tree, the top level of a large one.
    #[default]
    Auto,
    /// Every file, depth first.
    Flat,
    /// The top level, whose folders can be opened.
    Tree,
}

/// How many files a bounded walk has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Files, folders not counted.
    pub leaves: usize,
    /// Whether the walk saw the end.
    pub all: bool,
}
