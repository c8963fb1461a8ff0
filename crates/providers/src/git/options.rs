//! Options of the git provider.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use redaction::Redaction;

use super::visibility::FileVisibility;

pub use crate::file_watch::{DEFAULT_POLL_INTERVAL, WatchMode};

/// Options for serving one repository.
#[derive(Clone)]
pub struct Options {
    /// The repository, its worktree, or a folder in it.
    pub path: PathBuf,
    /// How long clients may cache what can change.
    pub ttl: Duration,
    /// How changes are detected.
    pub watch: WatchMode,
    /// Polling interval where inotify does not work.
    pub poll: Duration,
    /// Longest URI that a client can send, in bytes. Files with a longer one are not listed.
    pub max_uri: usize,
    /// Which texts are masked.
    pub redaction: Redaction,
    /// Which files principals may know of; `None` if everyone may know of all.
    pub visibility: Option<Arc<dyn FileVisibility>>,
}

impl Options {
    /// Default options for the repository at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            ttl: Duration::ZERO,
            watch: WatchMode::default(),
            poll: DEFAULT_POLL_INTERVAL,
            max_uri: usize::MAX,
            redaction: Redaction::default(),
            visibility: None,
        }
    }
}
