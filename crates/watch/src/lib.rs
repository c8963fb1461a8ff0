//! How does one change reach many subscribers?
//!
//! A provider tells of changes as a stream. The [`Hub`] opens one for each interest, however many
//! share it, waits until a burst is over, and puts what changed into the [`Mailbox`] of everybody
//! who asked. Nobody is waited for.

mod hub;
mod mailbox;
mod settle;

pub use hub::{Hub, Subscription};
pub use mailbox::{Letter, Mailbox, Words};
pub use settle::Calm;
