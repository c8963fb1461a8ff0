//! Audit trail of one HTTP request: filled on its way, recorded when its answer was sent.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::{Request, StatusCode};
use resource::Principal;

use super::HttpOptions;
use super::accept::HttpConnection;
use super::forwarded;
use crate::audit::{AuditRecord, AuditSink, AuditedCall};

/// What is known of a request so far. Records it when dropped, also if its client left before.
pub(super) struct AuditTrail {
    address: Option<IpAddr>,
    /// `None` without an audit. Boxed, because every open stream has one.
    entry: Option<Box<AuditEntry>>,
}

struct AuditEntry {
    sink: Arc<dyn AuditSink>,
    record: AuditRecord,
    calls: Vec<AuditedCall>,
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
                method: None,
                target: None,
                status: 0,
                error: None,
                bytes: 0,
            };
            Box::new(AuditEntry { sink, record, calls: Vec::new() })
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

    /// Counts bytes of the answer.
    pub(super) fn add_bytes(&mut self, bytes: usize) {
        if let Some(entry) = &mut self.entry {
            entry.record.bytes += bytes as u64;
        }
    }
}

impl Drop for AuditEntry {
    fn drop(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        if calls.is_empty() {
            self.sink.record(self.record.clone());
        }
        for (method, target) in calls {
            let method = Some(method);
            self.sink.record(AuditRecord { method, target, ..self.record.clone() });
            // The answers of a batch are one body.
            self.record.bytes = 0;
        }
    }
}
