//! Subscription hub: fans out the changes of a provider to many subscribers.
//!
//! The [`Hub`] opens one change stream per interest, however many subscribers share it, debounces
//! the changes, and puts them into the [`Mailbox`] of each subscriber. It never waits for a
//! subscriber.

mod hub;
mod mailbox;
mod settle;

pub use hub::{Hub, Subscription};
pub use mailbox::{Letter, Mailbox, Words};
pub use settle::Calm;
