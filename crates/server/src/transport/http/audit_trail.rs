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
    sink: Option<Arc<dyn AuditSink>>,
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
        let through_tls = |peer| forwarded::client_uses_tls(peer, headers, trusted);
        let record = AuditRecord {
            principal: None,
            peer: connection.peer.map(|peer| forwarded::client_address(peer, headers, trusted)),
            is_encrypted: connection.has_tls || connection.peer.is_some_and(through_tls),
            method: None,
            target: None,
            status: 0,
            error: None,
            bytes: 0,
        };
        Self { sink: options.audit.clone(), record, calls: Vec::new() }
    }

    /// The address of the client, also behind a trusted proxy.
    pub(super) fn client_address(&self) -> Option<IpAddr> {
        self.record.peer
    }

    /// Adds on whose behalf the request is made.
    pub(super) fn add_principal(&mut self, principal: &Principal) {
        self.record.principal = Some(Arc::clone(principal.key()));
    }

    /// Adds what the request calls.
    pub(super) fn add_calls(&mut self, calls: Vec<AuditedCall>) {
        self.calls = calls;
    }

    /// Adds the outcome.
    pub(super) fn add_outcome(&mut self, status: StatusCode, error: Option<i64>) {
        self.record.status = status.as_u16();
        self.record.error = error;
    }

    /// Counts bytes of the answer.
    pub(super) fn add_bytes(&mut self, bytes: usize) {
        self.record.bytes += bytes as u64;
    }
}

impl Drop for AuditTrail {
    fn drop(&mut self) {
        let Some(sink) = &self.sink else { return };
        let calls = std::mem::take(&mut self.calls).into_iter();
        let calls = calls.map(|(method, target)| (Some(method), target));
        let mut record = self.record.clone();
        let mut is_recorded = false;
        for (method, target) in calls {
            sink.record(AuditRecord { method, target, ..record.clone() });
            // The answers of a batch are one body.
            record.bytes = 0;
            is_recorded = true;
        }
        if !is_recorded {
            sink.record(record);
        }
    }
}
