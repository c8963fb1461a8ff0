//! The client that sends an HTTP request: its principal, address and connection.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::{Request, Version};
use parking_lot::Mutex;
use resource::Principal;

use super::accept::{ConnectionActivity, HttpConnection};
use super::audit_trail::AuditTrail;
use super::principal::with_request_locale;
use crate::audit::AuditedCall;
use crate::lifecycle::HandshakeResult;
use crate::transport::fair_share::Owner;

/// Who sends a request.
pub(crate) struct Requester {
    pub(crate) principal: Principal,
    /// The address of the client, also behind a trusted proxy; `None` for a Unix socket.
    address: Option<IpAddr>,
    connection: Arc<HttpConnection>,
    may_probe: bool,
    activity: Mutex<Option<ConnectionActivity>>,
    trail: Mutex<AuditTrail>,
}

impl Requester {
    pub(super) fn new<B>(
        principal: &Principal,
        mut trail: AuditTrail,
        request: &Request<B>,
        connection: Arc<HttpConnection>,
    ) -> Self {
        trail.add_principal(principal);
        let address = trail.client_address();
        let principal = with_request_locale(principal.clone(), request.headers());
        // A client of HTTP/1.0 does not know interim responses.
        let may_probe = request.version() == Version::HTTP_11;
        let (activity, trail) = (Mutex::default(), Mutex::new(trail));
        Self { principal, address, connection, may_probe, activity, trail }
    }

    /// Who owns what this client opens.
    pub(super) fn owner(&self) -> Owner {
        Owner::new(Some(&self.principal), self.address)
    }

    /// The whole request has arrived: its connection is active until the answer is sent.
    pub(super) fn begin_work(&self) {
        *self.activity.lock() = Some(self.connection.begin_work(self.may_probe));
    }

    /// Notes the client and the revision of the request's session, for the audit.
    pub(super) fn note_handshake(&self, handshake: Option<&HandshakeResult>) {
        if let Some(HandshakeResult { dialect, client_session }) = handshake {
            let name = client_session.name.clone();
            self.trail.lock().add_client(name, dialect.revision.as_str());
        }
    }

    /// Notes what the request calls, for the audit.
    pub(super) fn note_calls(&self, calls: impl FnOnce() -> Vec<AuditedCall>) {
        self.trail.lock().add_calls(calls);
    }

    /// What goes on until the answer is sent: the activity of the connection, if work has begun,
    /// and the audit trail.
    pub(super) fn into_parts(self) -> (Option<ConnectionActivity>, AuditTrail) {
        (self.activity.into_inner(), self.trail.into_inner())
    }
}
