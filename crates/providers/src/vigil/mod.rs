//! How is it noticed that files change, and who is told?
//!
//! Knows folders that are open, the names in them, and who listens; what a change means to a
//! reader is for each source to say.

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

/// How changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Watching {
    /// The kernel tells, and where it cannot, one looks now and then.
    #[default]
    Auto,
    /// One looks now and then.
    Poll,
    /// Not at all.
    Off,
}

/// How often one looks where the kernel does not tell.
pub const POLL: Duration = Duration::from_secs(2);

/// How many folders are watched at most.
pub const WATCHES: usize = 65_536;

#[cfg(test)]
pub(crate) mod tests;
