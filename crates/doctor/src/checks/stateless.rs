//! The revision without a handshake: `_meta`, versions, removed methods.

use serde_json::{Value, json};

use super::Visit;
use crate::plain_text::plain_json;
use crate::transport::{CLIENT_CAPABILITIES, CLIENT_INFO, Probe, ProbeReply, REMOVED_METHODS};

/// A version that does not exist yet.
pub(super) const FUTURE_VERSION: &str = "2099-01-01";

impl Visit<'_> {
    pub(super) async fn check_stateless(&mut self) {
        let discover = || Probe::new("server/discover", json!({}));
        let reply = self.talk.send(&discover().without(CLIENT_CAPABILITIES)).await;
        if !reply.is_nothing() {
            self.log.judge("meta-required", reply.code() == Some(-32602), || {
                format!("a request without client capabilities got {}", reply.describe())
            });
            self.judge_status(&reply, -32602);
        }
        let reply = self.talk.send(&discover().without(CLIENT_INFO)).await;
        if !reply.is_nothing() {
            self.log.judge("client-info-optional", reply.result().is_some(), || {
                format!("a request without clientInfo got {}", reply.describe())
            });
        }
        // Not by discovery, with which a client may ask for the versions.
        let mut lists = ["resources", "tools", "prompts"].into_iter();
        let list = lists.find(|list| self.capability(list).is_some());
        let method = list.map_or("server/discover".to_owned(), |list| format!("{list}/list"));
        self.check_versions(&Probe::new(&method, json!({})).version(FUTURE_VERSION)).await;
        self.check_removed().await;
        self.check_listen_filter().await;
    }

    async fn check_versions(&mut self, probe: &Probe) {
        let reply = self.talk.send(probe).await;
        if reply.is_nothing() {
            return;
        }
        let is_right = reply.fault().is_some_and(|fault| {
            let supported = fault.data["supported"].as_array();
            fault.code == -32022
                && supported.is_some_and(|versions| versions.iter().any(Value::is_string))
                && fault.data["requested"] == FUTURE_VERSION
        });
        self.log.judge("version-unsupported", is_right, || {
            let data = reply.fault().map(|fault| plain_json(&fault.data)).unwrap_or_default();
            format!("{FUTURE_VERSION} got {}, data {data}", reply.describe())
        });
        self.judge_status(&reply, -32022);
    }

    /// Judges the HTTP status of a refusal that has the right code.
    fn judge_status(&mut self, reply: &ProbeReply, code: i64) {
        if let (Some(status), true) = (reply.status(), reply.code() == Some(code)) {
            self.log.judge("http-meta-status", status == 400, || {
                format!("error {code} came with HTTP status {status}")
            });
        }
    }

    async fn check_removed(&mut self) {
        let uri = self.resources.first().and_then(|entry| entry["uri"].as_str());
        let params = json!({ "uri": uri.unwrap_or(super::MISSING_URI), "level": "info" });
        for method in REMOVED_METHODS {
            let reply = self.talk.request(method, params.clone()).await;
            if !reply.is_nothing() {
                self.log.judge("removed-methods", reply.code() == Some(-32601), || {
                    format!("{method} got {}", reply.describe())
                });
            }
        }
    }
}
