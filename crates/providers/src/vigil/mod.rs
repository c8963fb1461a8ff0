//! File watching for the providers on disk: inotify, with polling as the fallback.
//!
//! It knows open folders, the names in them and the subscribers. Each provider decides itself
//! what a change means for its resources.

mod desk;
mod ears;
mod place;
mod version;

pub(crate) use crate::feed::Feed;
pub(crate) use desk::{Desk, Left, Lookout, Party, enlist};
pub(crate) use ears::{Deaf, Guard, Heard, Hold, Look, Touched, Trust};
pub(crate) use place::{is_local, way};
pub(crate) use version::{HASHED, Version};

use std::time::Duration;

/// How a provider notices changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Watching {
    /// By inotify, and by polling where inotify is not available.
    #[default]
    Auto,
    /// By polling only.
    Poll,
    /// Not at all.
    Off,
}

/// Default interval of polling.
pub const POLL: Duration = Duration::from_secs(2);

/// Default limit on the number of watched folders.
pub const WATCHES: usize = 65_536;

#[cfg(test)]
pub(crate) mod tests;
