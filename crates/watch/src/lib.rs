//! How does one change reach many subscribers?

mod mailbox;

pub use mailbox::{Mailbox, Post};
