//! What goes over the wire, in which revision?
//!
//! All JSON of the house is read and written here, and nothing else happens: no sockets, no
//! files, no clock. Revisions are data: whoever needs to know asks [`Revision`] a question.

#![warn(missing_docs)]

pub mod answer;
pub mod ask;
pub mod asking;
pub mod call;
pub mod cursor;
pub mod frame;
pub mod header;
pub mod ingest;
pub mod level;
pub mod links;
mod member;
pub mod meta;
pub mod mirror;
pub mod notice;
pub mod outgoing;
pub mod peer;
pub mod press;
pub mod refusal;
pub mod relay;
pub mod reply;
pub mod revision;
pub mod shape;
pub mod tool;
mod unescape;
pub mod wish;

pub use answer::{Denial, Heard, Malformed, News};
pub use ask::Asker;
pub use call::{Call, Method};
pub use cursor::Seal;
pub use frame::{Id, Incoming, Message};
pub use level::Level;
pub use meta::Meta;
pub use mirror::Mirrors;
pub use notice::Notice;
pub use outgoing::Outgoing;
pub use peer::Peer;
pub use press::Press;
pub use refusal::Refusal;
pub use reply::{Reply, Welcome};
pub use revision::{Revision, Terms};
pub use tool::{Given, Tool};
pub use wish::Wishes;
