//! Subscription hub: fans out the changes of a provider to many subscribers.
//!
//! The [`Hub`] opens one change stream per interest, however many subscribers share it, debounces
//! the changes, and puts them into the [`Mailbox`] of each subscriber. It never waits for a
//! subscriber.

mod debounce;
mod hub;
mod mailbox;
mod monitor;
mod subscription_shares;

pub use debounce::DebounceConfig;
pub use hub::{Hub, Subscription};
pub use mailbox::{ExtraFields, Mailbox, PendingChange};
pub use monitor::{HubMonitor, InterestStatus};
