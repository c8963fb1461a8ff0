//! File watching for the providers on disk: inotify, with polling as the fallback.
//!
//! It knows open folders, the names in them and the subscribers. Each provider decides itself
//! what a change means for its resources.

mod inotify;
mod location;
mod rescan;
mod scan_rest;
mod version;

pub(crate) use crate::change_channel::ChangeSender;
pub(crate) use inotify::{
    CacheGuard, CheckStamp, DirtyDir, DirtySet, Validity, WatchError, WatchHandle,
};
pub(crate) use location::{is_local, lookup_steps};
pub(crate) use rescan::{RescanLoop, RescanOutcome, Rescanner, ScanSubscriber, subscribe};
pub(crate) use scan_rest::ScanRest;
pub(crate) use version::{FileVersion, MAX_HASHED_SIZE};

use std::time::Duration;

/// How a provider notices changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WatchMode {
    /// By inotify, and by polling where inotify is not available.
    #[default]
    Auto,
    /// By polling only.
    Poll,
    /// Not at all.
    Off,
}

/// Default interval of polling.
pub const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Default limit on the number of watched folders.
pub const DEFAULT_MAX_WATCHES: usize = 65_536;

#[cfg(test)]
pub(crate) mod tests;
