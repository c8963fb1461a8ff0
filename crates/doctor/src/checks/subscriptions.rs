//! Subscriptions: one is open during the other checks, and what arrives meanwhile is judged.

use serde_json::{Map, Value, json};

use super::{MISSING_URI, Visit};
use crate::plain_text::{plain, plain_json};
use crate::transport::{CHANGING_LISTS, Probe, SUBSCRIPTION_ID};

impl Visit<'_> {
    /// Notes which lists may announce their changes, from the first request on.
    pub(super) fn set_declared_lists(&mut self) {
        let declared = CHANGING_LISTS.into_iter().filter(|list| self.has_flag(list, "listChanged"));
        self.talk.watch.declared = declared.collect();
    }

    /// Subscribes to what the server declares.
    pub(super) async fn start_watching(&mut self) {
        if !self.revision.has_handshake() {
            return self.check_listen().await;
        }
        let is_announced =
            !self.talk.watch.declared.is_empty() || self.has_flag("resources", "subscribe");
        if is_announced && self.revision.has_get_stream() {
            self.get_facts = self.talk.open_get_stream().await;
        }
        self.check_subscribe().await;
    }

    /// Ends the subscription; what comes for it later breaks a rule.
    pub(super) async fn end_watching(&mut self) {
        self.talk.drain_side_stream().await;
        self.check_change().await;
        if self.revision.has_handshake() {
            self.check_unsubscribe().await;
            self.check_subscribe_unknown().await;
        } else if let Some(listen) = &self.talk.watch.listen {
            let id = listen.id.clone();
            self.end_stream(&id).await;
            // What was under way when the stream ended comes before the next answer.
            self.ask_anything().await;
            self.talk.watch.listen = None;
            self.talk.watch.ended_listen = Some(id);
        }
    }

    /// What is subscribed to: one resource, or several where a tool is to change one of them.
    fn watched_uris(&self) -> Vec<String> {
        let uris = self.resources.iter().filter_map(|entry| entry["uri"].as_str());
        let count = if self.options.change_tool.is_some() { self.options.read_limit } else { 1 };
        uris.take(count).map(str::to_owned).collect()
    }

    /// Calls the tool that changes something, and waits for the notification.
    async fn check_change(&mut self) {
        let Some(tool) = &self.options.change_tool else {
            return self.log.skipped("change-announced", "--change names no tool");
        };
        let watch = &self.talk.watch;
        if watch.subscribed.is_empty() && watch.declared.is_empty() && watch.listen.is_none() {
            let why = "the server declares neither subscribe nor listChanged";
            return self.log.skipped("change-announced", why);
        }
        let has_stream = self.revision.has_get_stream() || !self.revision.has_handshake();
        if self.talk.is_http() && !has_stream {
            let why = "the revision has no stream at this URL that it could come on";
            return self.log.skipped("change-announced", why);
        }
        let before = watch.announced();
        let reply = self.talk.request("tools/call", json!({ "name": tool, "arguments": {} })).await;
        let is_called = reply.result().is_some_and(|result| result["isError"] != json!(true));
        if !is_called {
            let why = format!("the tool {} got {}", plain(tool), reply.describe());
            return self.log.skipped("change-announced", why);
        }
        let is_announced = self.talk.await_change(before).await;
        self.log.judge_at("change-announced", tool, is_announced, || {
            "no notification came after its call".to_owned()
        });
    }

    async fn check_subscribe(&mut self) {
        if self.capability("resources").is_none() {
            return;
        }
        let uris = self.watched_uris();
        let Some((uri, others)) = uris.split_first() else {
            return self.log.skipped("subscribe-answers", "no resource is listed");
        };
        // The server may announce a change before it answers.
        self.talk.watch.subscribed.push(uri.clone());
        let reply = self.talk.request("resources/subscribe", json!({ "uri": uri })).await;
        let is_accepted = reply.result().is_some_and(Value::is_object);
        if !is_accepted {
            self.talk.watch.subscribed.clear();
        }
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
        self.log.judge_at("subscribe-answers", uri, is_accepted, || reply.describe());
        for uri in others {
            self.talk.watch.subscribed.push(uri.clone());
            self.talk.request("resources/subscribe", json!({ "uri": uri })).await;
        }
    }

    async fn check_unsubscribe(&mut self) {
        let mut uris = self.talk.watch.subscribed.clone().into_iter();
        let Some(uri) = uris.next() else { return };
        for other in uris {
            self.talk.request("resources/unsubscribe", json!({ "uri": other })).await;
        }
        let reply = self.talk.request("resources/unsubscribe", json!({ "uri": uri })).await;
        if reply.is_nothing() || !self.has_flag("resources", "subscribe") {
            return;
        }
        self.log
            .judge_at("unsubscribe-answers", &uri, reply.result().is_some(), || reply.describe());
        // What was under way comes before the next answer.
        self.ask_anything().await;
        self.talk.drain_side_stream().await;
        self.talk.watch.subscribed.clear();
        if reply.result().is_some() {
            self.talk.watch.ended.push(uri);
        }
    }

    async fn check_subscribe_unknown(&mut self) {
        if !self.has_flag("resources", "subscribe") || self.resources.is_empty() {
            return;
        }
        self.talk.watch.subscribed.push(MISSING_URI.to_owned());
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
        let (id, messages) = self.talk.open_listen(&probe).await;
        let first = messages.last().cloned().unwrap_or_default();
        let is_acknowledged = first["method"] == "notifications/subscriptions/acknowledged";
        self.log.judge("listen-acknowledged", is_acknowledged, || match messages.is_empty() {
            true => "no acknowledgement came".to_owned(),
            false => format!("the first message is {}", plain_json(&first)),
        });
        if !is_acknowledged {
            return self.end_stream(&id).await;
        }
        let params = &first["params"];
        let came = &params["_meta"][SUBSCRIPTION_ID];
        self.log.judge("listen-id", *came == id, || {
            format!("the request has the id {id}, the acknowledgement {}", plain_json(came))
        });
        let accepted = &params["notifications"];
        self.log.judge("listen-subset", is_subset(accepted, &filter), || {
            format!("{} of {}", plain_json(accepted), plain_json(&filter))
        });
        self.talk.set_listen(id, accepted.clone());
    }

    /// What the server says that it can send.
    fn listen_filter(&self) -> Map<String, Value> {
        let mut filter = Map::new();
        for list in &self.talk.watch.declared {
            filter.insert(format!("{list}ListChanged"), json!(true));
        }
        let uris = self.watched_uris();
        if self.has_flag("resources", "subscribe") && !uris.is_empty() {
            filter.insert("resourceSubscriptions".to_owned(), json!(uris));
        }
        filter
    }

    pub(super) async fn check_listen_filter(&mut self) {
        if self.listen_filter().is_empty() || self.talk.is_unanswered() {
            return;
        }
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
        if self.talk.is_http() {
            return self.talk.close_side_stream().await;
        }
        let params = json!({ "requestId": id, "reason": "checked" });
        self.talk.notify("notifications/cancelled", params).await;
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
