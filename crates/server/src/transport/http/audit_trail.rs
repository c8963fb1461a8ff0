//! Audit trail of one HTTP request: filled on its way, recorded when its answer was sent.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::{Request, StatusCode};
use protocol::json::outgoing::AnswerFailure;
use resource::Principal;

use super::HttpOptions;
use super::accept::HttpConnection;
use super::forwarded;
use crate::audit::{AuditRecord, AuditSink, AuditedCall};

/// What is known of a request so far; the default records nothing. Records it when dropped, also if its client left before.
#[derive(Default)]
pub(super) struct AuditTrail {
    address: Option<IpAddr>,
    /// `None` without an audit. Boxed, because every open stream has one.
    entry: Option<Box<AuditEntry>>,
}

struct AuditEntry {
    sink: Arc<dyn AuditSink>,
    record: AuditRecord,
    calls: Vec<AuditedCall>,
    started: Instant,
}

impl AuditTrail {
    pub(super) fn begin<B>(
        options: &HttpOptions,
        request: &Request<B>,
        connection: &HttpConnection,
    ) -> Self {
        let (headers, trusted) = (request.headers(), &options.trusted_proxies);
        let peer = connection.peer.map(|peer| forwarded::client_address(peer, headers, trusted));
        let through_tls = |peer| forwarded::client_uses_tls(peer, headers, trusted);
        let entry = options.audit.clone().map(|sink| {
            let record = AuditRecord {
                principal: None,
                peer,
                is_encrypted: connection.has_tls || connection.peer.is_some_and(through_tls),
                http_method: Some(request.method().to_string()),
                client: None,
                revision: None,
                method: None,
                target: None,
                resources: Vec::new(),
                status: 0,
                error: None,
                has_failed_tool: false,
                bytes: 0,
                elapsed: Duration::ZERO,
            };
            Box::new(AuditEntry { sink, record, calls: Vec::new(), started: Instant::now() })
        });
        Self { address: peer, entry }
    }

    /// The address of the client, also behind a trusted proxy.
    pub(super) fn client_address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Adds on whose behalf the request is made.
    pub(super) fn add_principal(&mut self, principal: &Principal) {
        if let Some(entry) = &mut self.entry {
            entry.record.principal = Some(Arc::clone(principal.key()));
        }
    }

    /// Adds which client sent the request, and in which revision, as its session knows.
    pub(super) fn add_client(&mut self, client: Option<Arc<str>>, revision: &str) {
        if let Some(entry) = &mut self.entry {
            entry.record.client = client;
            entry.record.revision = Some(revision.into());
        }
    }

    /// Adds what the request calls, if it is recorded.
    pub(super) fn add_calls(&mut self, calls: impl FnOnce() -> Vec<AuditedCall>) {
        if let Some(entry) = &mut self.entry {
            entry.calls = calls();
        }
    }

    /// Adds the outcome.
    pub(super) fn add_outcome(&mut self, status: StatusCode, failure: Option<AnswerFailure>) {
        if let Some(entry) = &mut self.entry {
            entry.record.status = status.as_u16();
        }
        self.add_failure(failure);
    }

    /// Adds how the answer fails, or failed while it was sent.
    pub(super) fn add_failure(&mut self, failure: Option<AnswerFailure>) {
        if let Some(entry) = &mut self.entry {
            entry.record.note_failure(failure);
        }
    }

    /// Counts bytes of the answer.
    pub(super) fn add_bytes(&mut self, bytes: usize) {
        if let Some(entry) = &mut self.entry {
            entry.record.bytes += bytes as u64;
        }
    }
}

impl Drop for AuditEntry {
    fn drop(&mut self) {
        self.record.elapsed = self.started.elapsed();
        let calls = std::mem::take(&mut self.calls);
        if calls.is_empty() {
            self.sink.record(self.record.clone());
        }
        for AuditedCall { method, target, resources, client, revision } in calls {
            let method = Some(method);
            let mut record = AuditRecord { method, target, resources, ..self.record.clone() };
            record.client = client.or(record.client);
            record.revision = revision.or(record.revision);
            self.sink.record(record);
            // The answers of a batch are one body.
            self.record.bytes = 0;
        }
    }
}
