//! MCP wire format: parses and writes the JSON-RPC messages of every protocol revision.
//!
//! Only this crate parses and writes protocol JSON. It uses no sockets, no files and no clock.
//! Differences between revisions are methods of [`Revision`].

#![warn(missing_docs)]

pub mod cursor;
pub mod header;
pub mod inbound;
pub mod json;
pub mod log_level;
pub mod outbound;
pub mod param_headers;
pub mod revision;

pub use cursor::{CursorMac, CursorSeal, SealedCursor};
pub use inbound::call::{Call, Method};
pub use inbound::listen_filter::ListenFilter;
pub use inbound::notice::Notice;
pub use inbound::refusal::Refusal;
pub use inbound::reply::{Reply, ServerInfo, ServerProfile};
pub use inbound::request_meta::{ClientLabel, RequestMeta};
pub use inbound::row_cache::{MountPath, RowCache};
pub use inbound::tool::{BuiltinTool, ToolResult};
pub use json::frame::{Incoming, Message, RequestId};
pub use json::outgoing::Outgoing;
pub use log_level::LogLevel;
pub use outbound::peer::Peer;
pub use outbound::request::ClientIdentity;
pub use outbound::response::{MalformedMessage, RpcError, UpstreamNotification};
pub use param_headers::ParamHeaders;
pub use revision::{Dialect, Revision};
