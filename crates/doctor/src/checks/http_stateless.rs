//! HTTP of 2026-07-28: headers that repeat the body, and no sessions.

use serde_json::json;

use super::stateless::FUTURE_VERSION;
use super::{MISSING_URI, Visit};
use crate::transport::{HttpFacts, Probe, ProbeReply};

impl Visit<'_> {
    pub(super) async fn check_http_stateless(&mut self) {
        let reply = self.talk.send(&self.harmless()).await;
        if let Some(http) = &reply.http {
            self.log.judge("http-session-minted", http.session.is_none(), || {
                "the response has Mcp-Session-Id".to_owned()
            });
        }
        self.check_version_header().await;
        for value in [None, Some("tools/list")] {
            let reply = self.talk.send(&self.harmless().header("mcp-method", value)).await;
            let shown = value.unwrap_or("missing");
            self.judge_mismatch("http-method-header", &format!("Mcp-Method {shown}"), &reply);
        }
        if self.capability("resources").is_some() {
            let uri = self.resources.iter().find_map(|entry| entry["uri"].as_str());
            let params = json!({ "uri": uri.unwrap_or(MISSING_URI) });
            let other = Some("refdesk-doctor://nowhere/another");
            let probe = Probe::new("resources/read", params).header("mcp-name", other);
            let reply = self.talk.send(&probe).await;
            self.judge_mismatch("http-name-header", "a wrong Mcp-Name", &reply);
        }
        self.check_get_stateless().await;
    }

    async fn check_version_header(&mut self) {
        let probe = self.harmless().version(FUTURE_VERSION);
        let probe = probe.header("mcp-protocol-version", Some(self.revision.name()));
        let reply = self.talk.send(&probe).await;
        let what = format!("{} in the header and {FUTURE_VERSION} in the body", self.revision);
        self.judge_mismatch("http-version-mismatch", &what, &reply);
        let is_older = |version: &String| version.as_str() < "2025-06-18";
        if self.versions.iter().any(is_older) {
            let why = "a server of older revisions may read it as 2025-03-26";
            return self.log.skipped("http-version-header-missing", why);
        }
        let reply = self.talk.send(&self.harmless().header("mcp-protocol-version", None)).await;
        // A server of older revisions may read it as one of them, and refuse it for that reason.
        let is_refused = reply.http.as_ref().is_some_and(HttpFacts::is_client_error);
        if is_refused && reply.code() != Some(-32020) {
            let why = "the server reads it as a request of an older revision";
            return self.log.skipped("http-version-header-missing", why);
        }
        self.judge_mismatch("http-version-header-missing", "no version header", &reply);
    }

    fn judge_mismatch(&mut self, rule: &'static str, what: &str, reply: &ProbeReply) {
        if !reply.is_nothing() {
            let is_refused = reply.code() == Some(-32020) && reply.status() == Some(400);
            self.log.judge(rule, is_refused, || format!("{what} got {}", reply.describe()));
        }
    }
}
