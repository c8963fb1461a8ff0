//! Audit trail of one HTTP request: filled on its way, recorded when its answer was sent.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::{Request, StatusCode};
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
                status: 0,
                error: None,
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

    /// Adds what the request calls.
    pub(super) fn add_calls(&mut self, calls: Vec<AuditedCall>) {
        if let Some(entry) = &mut self.entry {
            entry.calls = calls;
        }
    }

    /// Adds the outcome.
    pub(super) fn add_outcome(&mut self, status: StatusCode, error: Option<i64>) {
        if let Some(entry) = &mut self.entry {
            (entry.record.status, entry.record.error) = (status.as_u16(), error);
        }
    }

    /// Adds that the answer became an error while it was sent.
    pub(super) fn add_error(&mut self, code: i64) {
        if let Some(entry) = &mut self.entry {
            entry.record.error = Some(code);
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
        for AuditedCall { method, target, client, revision } in calls {
            let mut record = AuditRecord { method: Some(method), target, ..self.record.clone() };
            record.client = client.or(record.client);
            record.revision = revision.or(record.revision);
            self.sink.record(record);
            // The answers of a batch are one body.
            self.record.bytes = 0;
        }
    }
}
