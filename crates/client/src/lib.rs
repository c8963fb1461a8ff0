//! MCP client for other servers, in every protocol revision, over stdio and HTTP.
//!
//! The client detects which revision a server speaks, reconnects after a failure, and returns
//! results byte for byte as the server wrote them.

mod client;
mod error;
mod listen;
mod negotiate;
mod notifications;
mod options;
mod reconnect;
mod resources;
mod session;
mod transport;

pub use client::{Client, Request, ServerResponse};
pub use error::Error;
pub use notifications::{NotificationKind, NotificationReceiver, ServerNotification};
pub use options::{
    Backoff, Options, PipeOpener, PipeReader, PipeWriter, ServerRequestHandler, ServerTarget,
};
pub use protocol::json::frame::RawJson;
pub use protocol::outbound::decode::{ContentElement, DecodedPage, ReadResult};
pub use protocol::outbound::request::methods;
pub use protocol::outbound::response::UpstreamProgress;
pub use protocol::outbound::{components, input_request};
pub use protocol::{LogLevel, MalformedMessage, ParamHeaders, Peer, RpcError};
pub use reconnect::{ConnectionStatus, State};
pub use resources::ListScope;
