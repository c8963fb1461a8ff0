//! Options of the file system provider.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use encoding_rs::Encoding;

pub use super::platform::FileApi;
pub use crate::file_watch::{DEFAULT_MAX_WATCHES, DEFAULT_POLL_INTERVAL, WatchMode};

/// Most folders kept open between requests, unless the options say otherwise.
pub const DEFAULT_OPEN_FOLDERS: usize = 64;

/// Options for serving one folder.
#[derive(Clone)]
pub struct Options {
    /// The folder to serve.
    pub root: PathBuf,
    /// What a list without parent shows.
    pub listing: ListingMode,
    /// True to show names that start with a dot.
    pub hidden: bool,
    /// True to hide what ignore files name.
    pub ignore_files: bool,
    /// How long clients may cache a result.
    pub ttl: Duration,
    /// Hides paths, in addition to the ignore files.
    pub hide: Option<HideFilter>,
    /// Gives files a charset, instead of the one that their bytes show.
    pub charsets: Option<CharsetRule>,
    /// How changes are detected.
    pub watch: WatchMode,
    /// Polling interval where inotify does not work.
    pub poll: Duration,
    /// Most folders watched with inotify.
    pub watches: usize,
    /// Longest URI that a client can send, in bytes. Files and folders with a longer one are
    /// neither listed nor found.
    pub max_uri: usize,
    /// Most folders kept open between requests.
    pub open_folders: usize,
    /// Which file system calls are made.
    pub file_api: FileApi,
}

impl Options {
    /// Default options for the folder `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            listing: ListingMode::default(),
            hidden: false,
            ignore_files: true,
            ttl: Duration::ZERO,
            hide: None,
            charsets: None,
            watch: WatchMode::default(),
            poll: DEFAULT_POLL_INTERVAL,
            watches: DEFAULT_MAX_WATCHES,
            max_uri: usize::MAX,
            open_folders: DEFAULT_OPEN_FOLDERS,
            file_api: FileApi::default(),
        }
    }
}

/// Filter that returns true for a path below the root, such as `docs/a.md` or the folder `docs`, if
/// that path and everything below it is hidden.
///
/// The filter must check a path's parent folders itself and must be deterministic. A path that is
/// not UTF-8 is passed with U+FFFD in place of invalid bytes.
pub type HideFilter = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Rule that returns the charset of the file at a path below the root; `None` to detect it.
pub type CharsetRule = Arc<dyn Fn(&str) -> Option<Charset> + Send + Sync>;

/// A charset of text files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

impl Charset {
    /// Finds a charset by a label such as `shift_jis`, as the Encoding Standard lists them; `None`
    /// if there is none.
    pub fn for_label(label: &str) -> Option<Self> {
        Encoding::for_label_no_replacement(label.as_bytes()).map(Self)
    }

    pub(super) fn encoding(self) -> &'static Encoding {
        self.0
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            root,
            listing,
            hidden,
            ignore_files,
            ttl,
            hide,
            charsets,
            watch,
            poll,
            watches,
            max_uri,
            open_folders,
            file_api,
        } = self;
        f.debug_struct("Options")
            .field("root", root)
            .field("listing", listing)
            .field("hidden", hidden)
            .field("ignore_files", ignore_files)
            .field("ttl", ttl)
            .field("hide", &hide.is_some())
            .field("charsets", &charsets.is_some())
            .field("watch", watch)
            .field("poll", poll)
            .field("watches", watches)
            .field("max_uri", max_uri)
            .field("open_folders", open_folders)
            .field("file_api", file_api)
            .finish()
    }
}

/// What a list without parent shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListingMode {
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
pub struct FileCount {
    /// Files; folders are not counted.
    pub files: usize,
    /// True if the walk reached the end.
    pub is_complete: bool,
}
