//! Subscriptions of revisions with a handshake: subscribe and unsubscribe.

use serde_json::{Value, json};

use super::{MISSING_URI, Visit};

impl Visit<'_> {
    pub(super) async fn check_subscriptions(&mut self) {
        if !self.revision.has_handshake() || self.capability("resources").is_none() {
            return;
        }
        let uri = self.resources.iter().find_map(|entry| entry["uri"].as_str()).map(str::to_owned);
        let Some(uri) = uri else {
            return self.log.skipped("subscribe-answers", "no resource is listed");
        };
        let reply = self.talk.request("resources/subscribe", json!({ "uri": uri })).await;
        if reply.is_nothing() {
            return;
        }
        if !self.has_flag("resources", "subscribe") {
            self.log.judge("subscribe-undeclared", reply.result().is_none(), || {
                format!("{uri} got {}", reply.describe())
            });
            self.log.skipped("subscribe-answers", "the server does not declare subscribe");
            return;
        }
        let is_accepted = reply.result().is_some_and(Value::is_object);
        self.log.judge_at("subscribe-answers", &uri, is_accepted, || reply.describe());
        if is_accepted {
            let reply = self.talk.request("resources/unsubscribe", json!({ "uri": uri })).await;
            if !reply.is_nothing() {
                self.log.judge_at("unsubscribe-answers", &uri, reply.result().is_some(), || {
                    reply.describe()
                });
            }
        }
        let reply = self.talk.request("resources/subscribe", json!({ "uri": MISSING_URI })).await;
        if reply.is_nothing() {
            return;
        }
        self.log.judge("subscribe-unknown", reply.result().is_none(), || {
            format!("{MISSING_URI} got {}", reply.describe())
        });
        if reply.result().is_some() {
            self.talk.request("resources/unsubscribe", json!({ "uri": MISSING_URI })).await;
        }
    }
}
