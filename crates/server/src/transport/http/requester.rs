//! The client that sends an HTTP request: its principal, address and connection.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::{Request, Version};
use parking_lot::Mutex;
use resource::Principal;

use super::accept::{Connection, ConnectionActivity};
use super::principal::with_request_locale;
use crate::audit::AuditedCall;
use crate::transport::fair_share::Owner;

/// Who sends a request.
pub(crate) struct Requester {
    pub(crate) principal: Principal,
    /// The address of the client, also behind a trusted proxy; `None` for a Unix socket.
    pub(super) address: Option<IpAddr>,
    connection: Arc<Connection>,
    may_probe: bool,
    activity: Mutex<Option<ConnectionActivity>>,
    /// What the request calls, for the audit.
    calls: Mutex<Vec<AuditedCall>>,
}

impl Requester {
    pub(super) fn new<B>(
        principal: &Principal,
        address: Option<IpAddr>,
        request: &Request<B>,
        connection: Arc<Connection>,
    ) -> Self {
        let principal = with_request_locale(principal.clone(), request.headers());
        // A client of HTTP/1.0 does not know interim responses.
        let may_probe = request.version() == Version::HTTP_11;
        let (activity, calls) = (Mutex::default(), Mutex::default());
        Self { principal, address, connection, may_probe, activity, calls }
    }

    /// Who owns what this client opens.
    pub(super) fn owner(&self) -> Owner {
        Owner::new(Some(&self.principal), self.address)
    }

    /// The whole request has arrived: its connection is active until the answer is sent.
    pub(super) fn begin_work(&self) {
        *self.activity.lock() = Some(self.connection.begin_work(self.may_probe));
    }

    /// Notes what the request calls.
    pub(super) fn note_calls(&self, calls: Vec<AuditedCall>) {
        *self.calls.lock() = calls;
    }

    /// Takes what the request calls.
    pub(super) fn take_calls(&self) -> Vec<AuditedCall> {
        std::mem::take(&mut *self.calls.lock())
    }

    /// The guard that keeps the connection active, if work has begun.
    pub(super) fn into_activity(self) -> Option<ConnectionActivity> {
        self.activity.into_inner()
    }
}
