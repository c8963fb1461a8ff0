//! MCP client for other servers, in every protocol revision, over stdio and HTTP.
//!
//! The client detects which revision a server speaks, reconnects after a failure, and returns
//! results byte for byte as the server wrote them.

mod client;
mod error;
mod link;
mod listen;
mod negotiate;
mod notices;
mod options;
mod pages;
mod resources;
mod session;
mod transport;

pub use client::{Answer, Client, Request};
pub use error::Error;
pub use link::{Standing, State};
pub use notices::{About, Notice, Notices};
pub use options::{Backoff, Handler, Options, Pipes, Reading, Target, Writing};
pub use pages::Pages;
pub use protocol::answer::Progress;
pub use protocol::ask::verb;
pub use protocol::frame::Raw;
pub use protocol::ingest::{Element, Listed, Opened};
pub use protocol::{Denial, Level, Malformed, Mirrors, Peer};
pub use protocol::{asking, relay};
pub use resources::List;
