//! General errors: unknown methods, missing parameters, broken lines, notifications, batches.

use std::time::Duration;

use serde_json::json;

use super::Visit;
use super::opening::judge_notification;
use crate::plain_text::plain_json;
use crate::transport::Probe;

/// How long the answers to a batch may take.
const BATCH_WAIT: Duration = Duration::from_secs(3);

impl Visit<'_> {
    pub(super) async fn check_errors(&mut self) {
        if self.revision.has_handshake() {
            let reply = self.talk.request("ping", json!({})).await;
            if !reply.is_nothing() {
                let is_empty = reply.result().is_some_and(|result| {
                    result
                        .as_object()
                        .is_some_and(|members| members.keys().all(|key| key == "_meta"))
                });
                self.log.judge("ping", is_empty, || format!("ping got {}", reply.describe()));
            }
        }
        let reply = self.talk.request("refdesk-doctor/unknown", json!({})).await;
        if !reply.is_nothing() {
            self.log.judge("unknown-method", reply.code() == Some(-32601), || {
                format!("refdesk-doctor/unknown got {}", reply.describe())
            });
        }
        if self.talk.is_http() && !self.revision.has_handshake() && reply.code() == Some(-32601) {
            self.log.judge("http-unknown-method", reply.status() == Some(404), || {
                format!("refdesk-doctor/unknown got {}", reply.describe())
            });
        }
        self.check_missing_params().await;
        self.check_notification().await;
    }

    async fn check_missing_params(&mut self) {
        if self.capability("resources").is_none() {
            return self.log.skipped("missing-params", "the server offers no resources");
        }
        let mut probe = Probe::new("resources/read", json!({}));
        probe.is_bare = true;
        let reply = self.talk.send(&probe).await;
        // Over HTTP, a request without the header for the missing URI may fail for that reason.
        let is_right = matches!(reply.code(), Some(-32602 | -32020));
        if !reply.is_nothing() {
            self.log.judge("missing-params", is_right, || {
                format!("resources/read without a URI got {}", reply.describe())
            });
        }
    }

    /// Sends a notification and a request: an answer to the first would come before the second's.
    async fn check_notification(&mut self) {
        self.talk.keeps_null_ids = true;
        let before = self.talk.strays.len();
        let answered = self.talk.notify("notifications/refdesk-doctor/unknown", json!({})).await;
        judge_notification(self.log, answered.as_ref());
        let reply = self.ask_anything().await;
        let strays = self.talk.strays.split_off(before.min(self.talk.strays.len()));
        self.talk.keeps_null_ids = false;
        if !reply && strays.is_empty() {
            return;
        }
        self.log.judge("notification-unanswered", strays.is_empty(), || {
            let ids: Vec<String> = strays.iter().map(plain_json).collect();
            format!("an answer came, with the id {}", ids.join(", "))
        });
    }

    pub(super) async fn check_broken_line(&mut self) {
        if self.talk.is_http() {
            return self.log.skipped("invalid-json-survived", "this is about stdio");
        }
        if self.talk.is_unanswered() {
            return;
        }
        self.talk.keeps_null_ids = true;
        let before = self.talk.strays.len();
        if self.talk.write_raw("{\"jsonrpc\": \"2.0\", \"id\": 1, oops").await {
            let is_answered = self.ask_anything().await;
            self.log.judge("invalid-json-survived", is_answered, || {
                "the request after a broken line got no answer".to_owned()
            });
        }
        // An error without an id is the right answer to a line that has none.
        self.talk.strays.truncate(before);
        self.talk.keeps_null_ids = false;
    }

    /// Whether the server answers a request that every server must answer.
    pub(super) async fn ask_anything(&mut self) -> bool {
        let method = if self.revision.has_handshake() { "ping" } else { "server/discover" };
        let probe = Probe::new(method, json!({})).quiet(self.options.timeout);
        !self.talk.send(&probe).await.is_nothing()
    }

    pub(super) async fn check_batches(&mut self) {
        if !self.revision.has_batches() {
            return self.log.skipped("batch-accepted", "only 2025-03-26 has batches");
        }
        if self.talk.why_dead().is_some() {
            return;
        }
        let ids = [json!("batch-1"), json!("batch-2")];
        let batch = ids.iter().map(|id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        let batch = batch.collect();
        let answers = self.talk.send_batch(&batch, &ids, BATCH_WAIT).await;
        self.log.judge("batch-accepted", answers == ids.len(), || {
            format!("a batch of two pings got {answers} answers")
        });
    }
}
