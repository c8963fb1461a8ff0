//! HTTP: origins, streams, sessions and the version header of revisions with a handshake.

use hyper::Method;
use serde_json::json;

use super::Visit;
use crate::revision::DoctorRevision;
use crate::transport::{HttpAsk, HttpFacts, Probe};

/// A session id in the form that most servers use, which no server has made.
const UNKNOWN_SESSION: &str = "00000000-0000-4000-8000-000000000000";
/// An address that no server allows.
pub(super) const FOREIGN_ORIGIN: &str = "http://refdesk-doctor.example";
pub(super) const FOREIGN_HOST: &str = "refdesk-doctor.example";

impl Visit<'_> {
    pub(super) async fn check_http(&mut self) {
        self.check_origin().await;
        self.check_body().await;
        if !self.revision.has_handshake() {
            return self.check_http_stateless().await;
        }
        self.check_get().await;
        if self.revision.has_version_header() {
            let probe = self.harmless().header("mcp-protocol-version", Some("1999-01-01"));
            if let Some(http) = self.look(&probe).await {
                self.log.judge("http-version-header", http.status == 400, || {
                    format!("version 1999-01-01 got HTTP status {}", http.status)
                });
            }
        }
        self.check_session().await;
    }

    /// A request that every server answers.
    pub(super) fn harmless(&self) -> Probe {
        let method = if self.revision.has_handshake() { "ping" } else { "server/discover" };
        Probe::new(method, json!({}))
    }

    /// Sends a probe and returns only the head of the response.
    async fn look(&self, probe: &Probe) -> Option<HttpFacts> {
        let (http, deadline) = self.talk.http()?;
        let message = probe.message(&json!("doctor-http"), self.revision);
        let heading = probe.heading(self.revision, self.talk.session.as_deref());
        http.look(&HttpAsk::post(message.to_string(), heading), deadline).await.ok()
    }

    async fn check_origin(&mut self) {
        let probe = self.harmless().header("origin", Some(FOREIGN_ORIGIN));
        if let Some(http) = self.look(&probe).await {
            let is_exact = self.revision.has_origin_status();
            let is_refused = http.status == 403 || (!is_exact && http.is_client_error());
            self.log.judge("http-origin", is_refused, || {
                format!("Origin {FOREIGN_ORIGIN} got HTTP status {}", http.status)
            });
        }
        let is_local = self.talk.http().is_some_and(|(http, _)| http.is_loopback());
        if !is_local {
            return self.log.skipped("http-host", "the server is not on this machine");
        }
        let probe = self.harmless().header("host", Some(FOREIGN_HOST));
        if let Some(http) = self.look(&probe).await {
            self.log.judge("http-host", http.is_client_error(), || {
                format!("Host {FOREIGN_HOST} got HTTP status {}", http.status)
            });
        }
    }

    async fn check_body(&mut self) {
        let heading = self.harmless().heading(self.revision, self.talk.session.as_deref());
        let Some((http, deadline)) = self.talk.http() else { return };
        let ask = HttpAsk::post("{\"jsonrpc\": \"2.0\", oops", heading);
        if let Ok(http) = http.look(&ask, deadline).await {
            self.log.judge("http-invalid-json", http.is_client_error(), || {
                format!("it got HTTP status {}", http.status)
            });
        }
    }

    async fn check_get(&mut self) {
        // The GET of 2024-11-05 belongs to another transport.
        if !self.revision.has_get_stream() {
            return;
        }
        // A session may have one stream only, and the one of the subscription may still be closing.
        let seen = match self.get_facts.take() {
            Some(seen) => Some(seen),
            None => self.look_bare(Method::GET).await,
        };
        if let Some(http) = seen {
            let is_stream = http.is_success() && http.has_type("text/event-stream");
            self.log.judge("http-get", is_stream || http.status == 405, || {
                format!("GET got HTTP status {} with \"{}\"", http.status, http.content_type)
            });
        }
    }

    /// Sends a request without a body.
    async fn look_bare(&self, method: Method) -> Option<HttpFacts> {
        let headers = self.harmless().heading(self.revision, self.talk.session.as_deref());
        let (http, deadline) = self.talk.http()?;
        http.look(&HttpAsk { method, headers, body: String::new() }, deadline).await.ok()
    }

    async fn check_session(&mut self) {
        if self.talk.session.is_none() {
            for id in ["http-session-required", "http-session-unknown", "http-session-end"] {
                self.log.skipped(id, "the server has no sessions");
            }
            return;
        }
        if let Some(http) = self.look(&self.harmless().header("mcp-session-id", None)).await {
            self.log.judge("http-session-required", http.status == 400, || {
                format!("a request without a session got HTTP status {}", http.status)
            });
        }
        let unknown = self.harmless().header("mcp-session-id", Some(UNKNOWN_SESSION));
        if let Some(http) = self.look(&unknown).await {
            self.log.judge("http-session-unknown", http.status == 404, || {
                format!("session {UNKNOWN_SESSION} got HTTP status {}", http.status)
            });
        }
        let Some(ended) = self.look_bare(Method::DELETE).await else { return };
        if ended.status == 405 {
            return self.log.passed("http-session-end");
        }
        let after = self.look(&self.harmless()).await;
        let status = after.map(|http| http.status).unwrap_or_default();
        self.log.judge("http-session-end", ended.is_success() && status == 404, || {
            format!("DELETE got HTTP status {}, a request after it {status}", ended.status)
        });
    }

    pub(super) async fn check_get_stateless(&mut self) {
        let older = |version: &String| {
            DoctorRevision::from_name(version).is_some_and(DoctorRevision::has_handshake)
        };
        if self.versions.iter().any(older) {
            return self.log.skipped("http-get", "the server has streams for older revisions");
        }
        if let Some(http) = self.look_bare(Method::GET).await {
            self.log.judge("http-get", http.status == 405, || {
                format!("GET got HTTP status {}", http.status)
            });
        }
    }
}
