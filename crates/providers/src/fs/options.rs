//! What may be chosen about a folder that is served?

use std::path::PathBuf;
use std::time::Duration;

/// How one folder is served.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder.
    pub root: PathBuf,
    /// What a plain list shows.
    pub listing: Listing,
    /// Whether names that begin with a dot are shown.
    pub hidden: bool,
    /// How long an answer may be kept.
    pub ttl: Duration,
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
