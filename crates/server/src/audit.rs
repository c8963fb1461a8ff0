//! Audit records: who requested what, and with which outcome. No content, and of the arguments
//! only the URIs that refdesk's own tools are called with.

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use protocol::inbound::tool::named_resources;
use protocol::json::frame::{self, Incoming, RawJson};
use protocol::json::outgoing::{AnswerFailure, AnswerWatcher};
use protocol::{Message, Method, RequestMeta};
use resource::ComponentKind;

use crate::lifecycle::IncomingRequest;
use crate::server::Server;

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
    /// The resources that one of refdesk's own tools is called with: URIs and paths, as many as are
    /// within the length of a URI.
    pub resources: Vec<String>,
    /// The HTTP status, or 200 over pipes; 0 if there was no answer, because the client left or
    /// cancelled the request.
    pub status: u16,
    /// The code of the JSON-RPC error, if the answer is one or failed halfway.
    pub error: Option<i64>,
    /// Whether the answer is the result of a tool that failed.
    pub has_failed_tool: bool,
    /// Bytes of the response body that were sent.
    pub bytes: u64,
    /// The time from the headers of the request to the end of the answer.
    pub elapsed: Duration,
}

impl AuditRecord {
    /// Notes how the answer fails, if it does.
    pub(crate) fn note_failure(&mut self, failure: Option<AnswerFailure>) {
        match failure {
            Some(AnswerFailure::Error(code)) => self.error = Some(code),
            Some(AnswerFailure::Tool) => self.has_failed_tool = true,
            None => {}
        }
    }
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
    pub(crate) resources: Vec<String>,
    /// The client's name, if the message has it.
    pub(crate) client: Option<Arc<str>>,
    /// The protocol revision, if the message has it.
    pub(crate) revision: Option<Arc<str>>,
}

/// The most bytes of a client's name.
pub(crate) const MAX_CLIENT_NAME: usize = 100;

/// The requests and notifications in a body that another connection handles: one, or those of a
/// batch.
pub(crate) fn audited_calls(server: &Server, body: &[u8]) -> Vec<AuditedCall> {
    let messages = match frame::parse(body, server.bounds()) {
        Ok(Incoming::Single(message)) => vec![message],
        Ok(Incoming::Batch(batch)) => batch.into_iter().flatten().collect(),
        Err(_) => Vec::new(),
    };
    let calls = messages.into_iter().filter_map(|message| match message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            Some(AuditedCall::of_message(server, &method, params))
        }
        Message::Response { .. } => None,
    });
    calls.collect()
}

impl AuditedCall {
    /// What the audit says of a request that was read.
    pub(crate) fn of_request(server: &Server, request: &IncomingRequest<'_>) -> Self {
        Self::new(server, request.name, (request.params, &request.meta))
    }

    /// What the audit says of a notification, or of a request that could not be read.
    pub(crate) fn of_message(server: &Server, method: &str, params: Option<&RawJson>) -> Self {
        let meta = RequestMeta::decode(params).unwrap_or_default();
        Self::new(server, method, (params, &meta))
    }

    fn new(
        server: &Server,
        method: &str,
        (params, meta): (Option<&RawJson>, &RequestMeta<'_>),
    ) -> Self {
        let max_target = server.limits.uri;
        let name = meta.name();
        let is_call =
            Method::from_name(method) == Some(Method::InvokeComponent(ComponentKind::Tool));
        let own_tool = name.as_deref().filter(|name| is_call && server.is_own_tool(name));
        let resources = own_tool.map(|_| named_resources(params, max_target)).unwrap_or_default();
        let target = meta.uri().or(name);
        let short = |text: &str| Arc::from(clip(text, MAX_CLIENT_NAME));
        Self {
            method: clip(method, max_target),
            target: target.map(|target| clip(&target, max_target)),
            resources,
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
    has_failed_tool: AtomicBool,
    pub(crate) bytes: AtomicU64,
}

impl AnswerOutcome {
    /// How the answer fails, if it does by now.
    pub(crate) fn failure(&self) -> Option<AnswerFailure> {
        match self.error.load(Ordering::Relaxed) {
            0 => self.has_failed_tool.load(Ordering::Relaxed).then_some(AnswerFailure::Tool),
            code => Some(AnswerFailure::Error(code)),
        }
    }
}

impl AnswerWatcher for AnswerOutcome {
    fn note_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn note_failure(&self, failure: AnswerFailure) {
        match failure {
            AnswerFailure::Error(code) => self.error.store(code, Ordering::Relaxed),
            AnswerFailure::Tool => self.has_failed_tool.store(true, Ordering::Relaxed),
        }
    }
}

pub(crate) fn clip(text: &str, max: usize) -> String {
    text[..text.floor_char_boundary(max)].to_owned()
}
