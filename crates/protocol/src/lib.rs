//! MCP wire format: parses and writes the JSON-RPC messages of every protocol revision.
//!
//! Only this crate parses and writes protocol JSON. It uses no sockets, no files and no clock.
//! Differences between revisions are methods of [`Revision`].

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
