//! MCP client for other servers, in every protocol revision, over stdio and HTTP.
//!
//! The client detects which revision a server speaks, reconnects after a failure, and returns
//! results byte for byte as the server wrote them.

mod client;
mod components;
mod error;
mod listen;
mod negotiate;
mod notifications;
mod options;
mod reconnect;
mod remote_server;
mod resources;
mod search;
mod secret_mask;
mod server_requests;
mod session;
mod skills;
mod trace;
mod transport;

pub use client::{Client, Request};
pub use error::{CallError, Error};
pub use machinery::Backoff;
pub use notifications::{NotificationKind, NotificationReceiver, ServerNotification};
pub use options::{
    AnsweredRequests, Options, PipeOpener, PipeReader, PipeWriter, RevisionChoice, ServerTarget,
};
pub use protocol::RpcError;
pub use protocol::outbound::decode::{ContentElement, DecodedPage, ReadResult};
pub use reconnect::{ConnectionStatus, State};
pub use remote_server::{ChildListing, RemoteCapabilities, RemoteServer};
pub use resources::ListScope;
pub use search::{embedded_hit, hits_in_text};
pub use skills::{decode_skill_index, derive_index_entry};
pub use trace::with_trace;
