//! Options of the file system provider.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use crate::vigil::{POLL, WATCHES, Watching};

/// Options for serving one folder.
#[derive(Clone)]
pub struct Options {
    /// The folder to serve.
    pub root: PathBuf,
    /// What a list without parent shows.
    pub listing: Listing,
    /// True to show names that start with a dot.
    pub hidden: bool,
    /// How long clients may cache a result.
    pub ttl: Duration,
    /// Hides paths, in addition to the ignore files.
    pub hide: Option<Hide>,
    /// How changes are detected.
    pub watch: Watching,
    /// Polling interval where inotify does not work.
    pub poll: Duration,
    /// Most folders watched with inotify.
    pub watches: usize,
}

impl Options {
    /// Default options for the folder `root`.
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

/// Filter that returns true for a path below the root, such as `docs/a.md` or the folder `docs`, if
/// that path and everything below it is hidden.
///
/// The filter must check a path's parent folders itself and must be deterministic. A path that is
/// not UTF-8 is passed with U+FFFD in place of invalid bytes.
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

/// What a list without parent shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listing {
    /// Every file of a small tree, the top level of a large one.
    #[default]
    Auto,
    /// Every file, depth first.
    Flat,
    /// The top level; clients list its folders one by one.
    Tree,
}

/// Number of files, as far as a bounded walk counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Files; folders are not counted.
    pub leaves: usize,
    /// True if the walk reached the end.
    pub all: bool,
}
