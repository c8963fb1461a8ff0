//! Audit records: who requested what over HTTP, and with which outcome. No content, no arguments.

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::Arc;

use protocol::json::frame::{self, FrameLimits, Incoming};
use protocol::{Message, RequestMeta};

/// One request, after its answer was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// The key of the principal; `None` if the request was not authenticated.
    pub principal: Option<Arc<str>>,
    /// The address of the client; `None` for a Unix socket.
    pub peer: Option<IpAddr>,
    /// Whether the client uses TLS, also up to a trusted proxy.
    pub is_encrypted: bool,
    /// The method, if the request was read.
    pub method: Option<String>,
    /// The URI of the resource, or the name of the tool or prompt.
    pub target: Option<String>,
    /// The HTTP status; 0 if the client left before there was an answer.
    pub status: u16,
    /// The code of the JSON-RPC error, if the answer is one. A streamed answer is not looked into.
    pub error: Option<i64>,
    /// Bytes of the response body that were sent.
    pub bytes: u64,
}

/// Receives the audit records.
pub trait AuditSink: Debug + Send + Sync {
    /// Takes one record. It is called on the way of a request, so it must not wait.
    fn record(&self, record: AuditRecord);
}

/// The method and the target of a request.
pub(crate) type AuditedCall = (String, Option<String>);

/// The requests and notifications in a body: one, or those of a batch.
pub(crate) fn audited_calls(
    body: &[u8],
    limits: FrameLimits,
    max_target: usize,
) -> Vec<AuditedCall> {
    let messages = match frame::parse(body, limits) {
        Ok(Incoming::Single(message)) => vec![message],
        Ok(Incoming::Batch(batch)) => batch.into_iter().flatten().collect(),
        Err(_) => Vec::new(),
    };
    let calls = messages.into_iter().filter_map(|message| match message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            let meta = RequestMeta::decode(params).ok();
            let target = meta.and_then(|meta| meta.uri().or_else(|| meta.name()));
            let target = target.map(|target| clip(&target, max_target));
            Some((clip(&method, max_target), target))
        }
        Message::Response { .. } => None,
    });
    calls.collect()
}

fn clip(text: &str, max: usize) -> String {
    text[..text.floor_char_boundary(max)].to_owned()
}
