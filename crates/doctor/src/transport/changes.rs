//! Change notifications: which ones a server may send now, and the judgement of those that come.

use serde_json::{Value, json};

use super::SUBSCRIPTION_ID;
use super::message::ShapeFault;
use crate::plain_text::{plain, plain_json};

const UPDATED: &str = "notifications/resources/updated";

/// What the doctor subscribed to, and what came.
#[derive(Default)]
pub(crate) struct ChangeWatch {
    /// Lists whose `listChanged` is declared.
    pub(crate) declared: Vec<&'static str>,
    /// URIs with a subscription.
    pub(crate) subscribed: Vec<String>,
    /// URIs whose subscription has ended.
    pub(crate) ended: Vec<String>,
    /// The open stream of 2026-07-28.
    pub(crate) listen: Option<DoctorListen>,
    /// The id of a stream that the doctor has ended.
    pub(crate) ended_listen: Option<Value>,
    notifications: usize,
    updates: usize,
    list_changes: usize,
}

/// A `subscriptions/listen` that the server has acknowledged.
pub(crate) struct DoctorListen {
    pub(crate) id: Value,
    /// What the server agreed to.
    pub(crate) filter: Value,
}

/// The lists that announce their changes.
pub(crate) const CHANGING_LISTS: [&str; 3] = ["resources", "tools", "prompts"];

impl ChangeWatch {
    /// Judges one notification.
    pub(super) fn judge(
        &mut self,
        has_handshake: bool,
        method: &str,
        params: &Value,
    ) -> Option<ShapeFault> {
        self.notifications += 1;
        if method == UPDATED {
            self.updates += 1;
            let Some(uri) = params["uri"].as_str() else {
                return Some(("update-shape", format!("its params are {}", plain_json(params))));
            };
            return match has_handshake {
                true => self.judge_update(uri),
                false => self.judge_listen(params, &plain(uri), |filter| {
                    let uris = filter["resourceSubscriptions"].as_array().into_iter().flatten();
                    uris.filter_map(Value::as_str).any(|asked| uri.starts_with(asked))
                }),
            };
        }
        let list = CHANGING_LISTS
            .into_iter()
            .find(|list| method == format!("notifications/{list}/list_changed"))?;
        self.list_changes += 1;
        if !has_handshake {
            return self.judge_listen(params, method, |filter| {
                filter[format!("{list}ListChanged")] == json!(true)
            });
        }
        let is_declared = self.declared.contains(&list);
        (!is_declared).then(|| ("list-changed-undeclared", format!("it sent {method}")))
    }

    fn judge_update(&self, uri: &str) -> Option<ShapeFault> {
        // What changed may be a part of what was subscribed to.
        let covers = |uris: &[String]| uris.iter().any(|known| uri.starts_with(known.as_str()));
        if covers(&self.subscribed) {
            return None;
        }
        let rule = if covers(&self.ended) { "update-ended" } else { "update-subscribed" };
        Some((rule, format!("an update of {} came", plain(uri))))
    }

    fn judge_listen(
        &self,
        params: &Value,
        what: &str,
        is_asked: impl Fn(&Value) -> bool,
    ) -> Option<ShapeFault> {
        let id = &params["_meta"][SUBSCRIPTION_ID];
        if self.ended_listen.as_ref() == Some(id) {
            return Some(("listen-ended", format!("{what} came after the end")));
        }
        let Some(listen) = &self.listen else {
            return Some(("listen-honoured", format!("{what} came without a subscription")));
        };
        if *id != listen.id {
            let (sent, came) = (plain_json(&listen.id), plain_json(id));
            return Some(("listen-id", format!("the request has the id {sent}, {what} {came}")));
        }
        let filter = plain_json(&listen.filter);
        (!is_asked(&listen.filter))
            .then(|| ("listen-honoured", format!("{what} came, acknowledged is {filter}")))
    }

    /// How many changes were announced.
    pub(crate) fn announced(&self) -> usize {
        self.updates + self.list_changes
    }

    /// Whether a response ends the open stream, which a server may do.
    pub(super) fn is_end(&mut self, id: &Value) -> bool {
        self.listen.take_if(|listen| listen.id == *id).is_some()
    }

    /// Rules that some notification could have broken, each with whether there was one.
    pub(crate) fn tried(&self, has_handshake: bool) -> Vec<(&'static str, bool)> {
        let (updates, lists) = (self.updates > 0, self.list_changes > 0);
        let mut tried =
            vec![("notification-id", self.notifications > 0), ("update-shape", updates)];
        tried.extend(match has_handshake {
            true => [
                ("update-subscribed", updates),
                ("update-ended", updates && !self.ended.is_empty()),
                ("list-changed-undeclared", lists),
            ]
            .to_vec(),
            false => {
                let any = updates || lists;
                let is_over = any && self.ended_listen.is_some();
                vec![("listen-honoured", any), ("listen-ended", is_over)]
            }
        });
        tried
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ChangeWatch, DoctorListen};

    fn rule(watch: &mut ChangeWatch, has_handshake: bool, method: &str, params: &Value) -> String {
        let fault = watch.judge(has_handshake, &format!("notifications/{method}"), params);
        fault.map(|(id, _)| id.to_owned()).unwrap_or_default()
    }

    #[test]
    fn updates_are_judged_by_what_is_subscribed() {
        let mut watch = ChangeWatch {
            declared: vec!["tools"],
            subscribed: vec!["a:/x".to_owned()],
            ended: vec!["a:/y".to_owned()],
            ..ChangeWatch::default()
        };
        for (method, params, wanted) in [
            ("resources/updated", json!({ "uri": "a:/x" }), ""),
            ("resources/updated", json!({ "uri": "a:/x/part" }), ""),
            ("resources/updated", json!({ "uri": "a:/y" }), "update-ended"),
            ("resources/updated", json!({ "uri": "a:/z" }), "update-subscribed"),
            ("resources/updated", json!({ "uri": 1 }), "update-shape"),
            ("resources/updated", json!(null), "update-shape"),
            ("tools/list_changed", json!(null), ""),
            ("prompts/list_changed", json!({}), "list-changed-undeclared"),
            ("other", json!({}), ""),
        ] {
            assert_eq!(rule(&mut watch, true, method, &params), wanted, "{method} {params}");
        }
    }

    #[test]
    fn a_stream_carries_what_was_acknowledged_with_its_id() {
        let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["a:/x"] });
        let listen = Some(DoctorListen { id: json!(7), filter });
        let ended_listen = Some(json!("doctor-2"));
        let mut watch = ChangeWatch { listen, ended_listen, ..ChangeWatch::default() };
        let params = |id: Value, uri: &str| json!({ "uri": uri, "_meta": { "io.modelcontextprotocol/subscriptionId": id } });
        for (method, params, wanted) in [
            ("resources/updated", params(json!(7), "a:/x"), ""),
            ("resources/updated", params(json!("7"), "a:/x"), "listen-id"),
            ("resources/updated", params(json!(7), "a:/z"), "listen-honoured"),
            ("resources/updated", params(json!("doctor-2"), "a:/x"), "listen-ended"),
            ("tools/list_changed", params(json!(7), ""), ""),
            ("prompts/list_changed", params(json!(7), ""), "listen-honoured"),
        ] {
            assert_eq!(rule(&mut watch, false, method, &params), wanted, "{method} {params}");
        }
        assert!(watch.is_end(&json!(7)) && !watch.is_end(&json!(7)));
        let late = params(json!(7), "a:/x");
        assert_eq!(rule(&mut watch, false, "resources/updated", &late), "listen-honoured");
    }
}
