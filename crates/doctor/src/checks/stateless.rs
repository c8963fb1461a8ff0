//! The revision without a handshake: `_meta`, versions, removed methods, subscriptions.

use serde_json::{Map, Value, json};

use super::Visit;
use crate::plain_text::plain_json;
use crate::transport::{
    CLIENT_CAPABILITIES, CLIENT_INFO, Probe, ProbeReply, REMOVED_METHODS, SUBSCRIPTION_ID,
};

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
        self.check_listen().await;
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

    async fn check_listen(&mut self) {
        let filter = self.listen_filter();
        if filter.is_empty() || self.talk.is_unanswered() {
            for id in ["listen-acknowledged", "listen-id", "listen-subset", "listen-filter"] {
                self.log.skipped(id, "the server declares neither subscribe nor listChanged");
            }
            return;
        }
        let filter = Value::Object(filter);
        let probe = Probe::new("subscriptions/listen", json!({ "notifications": filter }));
        let (id, messages, _) = self.talk.open_stream(&probe).await;
        let first = messages.last().cloned().unwrap_or_default();
        let is_acknowledged = first["method"] == "notifications/subscriptions/acknowledged";
        self.log.judge("listen-acknowledged", is_acknowledged, || match messages.is_empty() {
            true => "no acknowledgement came".to_owned(),
            false => format!("the first message is {}", plain_json(&first)),
        });
        if is_acknowledged {
            let params = &first["params"];
            let came = &params["_meta"][SUBSCRIPTION_ID];
            self.log.judge("listen-id", *came == id, || {
                format!("the request has the id {id}, the acknowledgement {}", plain_json(came))
            });
            let accepted = &params["notifications"];
            self.log.judge("listen-subset", is_subset(accepted, &filter), || {
                format!("{} of {}", plain_json(accepted), plain_json(&filter))
            });
        }
        self.end_stream(&id).await;
        self.check_listen_filter().await;
    }

    /// What the server says that it can send.
    fn listen_filter(&self) -> Map<String, Value> {
        let mut filter = Map::new();
        for list in ["resources", "tools", "prompts"] {
            if self.has_flag(list, "listChanged") {
                filter.insert(format!("{list}ListChanged"), json!(true));
            }
        }
        let uri = self.resources.iter().find_map(|entry| entry["uri"].as_str());
        if let Some(uri) = uri.filter(|_| self.has_flag("resources", "subscribe")) {
            filter.insert("resourceSubscriptions".to_owned(), json!([uri]));
        }
        filter
    }

    async fn check_listen_filter(&mut self) {
        let probe = Probe::new("subscriptions/listen", json!({}));
        let (id, messages, _) = self.talk.open_stream(&probe).await;
        let Some(first) = messages.last() else { return };
        self.log.judge("listen-filter", first["error"]["code"] == json!(-32602), || {
            format!("it got {}", plain_json(first))
        });
        if first.get("method").is_some() {
            self.end_stream(&id).await;
        }
    }

    /// Over HTTP a stream ends with its connection.
    async fn end_stream(&mut self, id: &Value) {
        if !self.talk.is_http() {
            let params = json!({ "requestId": id, "reason": "checked" });
            self.talk.notify("notifications/cancelled", params).await;
        }
    }
}

fn is_subset(accepted: &Value, asked: &Value) -> bool {
    let Some(accepted) = accepted.as_object() else { return false };
    accepted.iter().all(|(kind, value)| match value.as_array() {
        Some(uris) => {
            uris.iter().all(|uri| asked[kind].as_array().is_some_and(|asked| asked.contains(uri)))
        }
        None => *value == json!(false) || asked[kind] == *value,
    })
}
