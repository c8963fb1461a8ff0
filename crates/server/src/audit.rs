//! Audit records: who requested what, and with which outcome. No content, no arguments.

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use protocol::json::frame::{self, FrameLimits, Incoming, RawJson};
use protocol::json::outgoing::AnswerWatcher;
use protocol::{Message, RequestMeta};

/// One request, after its answer was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// The key of the principal; `None` if the request was not authenticated.
    pub principal: Option<Arc<str>>,
    /// The address of the client; `None` for a Unix socket or pipes.
    pub peer: Option<IpAddr>,
    /// Whether the client uses TLS, also up to a trusted proxy.
    pub is_encrypted: bool,
    /// The HTTP method; `None` over pipes.
    pub http_method: Option<String>,
    /// The name that the client gives itself.
    pub client: Option<Arc<str>>,
    /// The protocol revision of the request, as the client wrote it or as its session has it.
    pub revision: Option<Arc<str>>,
    /// The method, if the request was read.
    pub method: Option<String>,
    /// The URI of the resource, or the name of the tool or prompt.
    pub target: Option<String>,
    /// The HTTP status, or 200 over pipes; 0 if there was no answer, because the client left or
    /// cancelled the request.
    pub status: u16,
    /// The code of the JSON-RPC error, if the answer is one or failed halfway.
    pub error: Option<i64>,
    /// Bytes of the response body that were sent.
    pub bytes: u64,
    /// The time from the headers of the request to the end of the answer.
    pub elapsed: Duration,
}

/// Receives the audit records.
pub trait AuditSink: Debug + Send + Sync {
    /// Takes one record. It is called on the way of a request, so it must not wait.
    fn record(&self, record: AuditRecord);
}

/// What the audit says of one request or notification in a body.
#[derive(Debug, Default)]
pub(crate) struct AuditedCall {
    pub(crate) method: String,
    pub(crate) target: Option<String>,
    /// The client's name, if the message has it.
    pub(crate) client: Option<Arc<str>>,
    /// The protocol revision, if the message has it.
    pub(crate) revision: Option<Arc<str>>,
}

/// The most bytes of a client's name.
pub(crate) const MAX_CLIENT_NAME: usize = 100;

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
            Some(AuditedCall::of(&method, params, max_target))
        }
        Message::Response { .. } => None,
    });
    calls.collect()
}

impl AuditedCall {
    pub(crate) fn of(method: &str, params: Option<&RawJson>, max_target: usize) -> Self {
        let meta = RequestMeta::decode(params).unwrap_or_default();
        let target = meta.uri().or_else(|| meta.name());
        let short = |text: &str| Arc::from(clip(text, MAX_CLIENT_NAME));
        Self {
            method: clip(method, max_target),
            target: target.map(|target| clip(&target, max_target)),
            client: meta.client_label().name.map(|name| short(&name)),
            revision: meta.protocol_version().ok().map(|date| short(&date)),
        }
    }
}

/// How an answer goes, noted while it is sent.
#[derive(Debug, Default)]
pub(crate) struct AnswerOutcome {
    pub(crate) is_answered: AtomicBool,
    /// The code of the error; 0 without one.
    error: AtomicI64,
    pub(crate) bytes: AtomicU64,
}

impl AnswerOutcome {
    /// The code of the error, if there is one by now.
    pub(crate) fn error(&self) -> Option<i64> {
        Some(self.error.load(Ordering::Relaxed)).filter(|code| *code != 0)
    }
}

impl AnswerWatcher for AnswerOutcome {
    fn note_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn note_error(&self, code: i64) {
        self.error.store(code, Ordering::Relaxed);
    }
}

pub(crate) fn clip(text: &str, max: usize) -> String {
    text[..text.floor_char_boundary(max)].to_owned()
}
