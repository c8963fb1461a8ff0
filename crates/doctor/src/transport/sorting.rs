//! Sorting of what a server sends: the awaited answer, messages that are judged, and strays.

use serde_json::{Value, json};

use super::conversation::{Conversation, MAX_KEPT, ProbeReply, WireBreak};
use super::http::{HttpEnd, HttpExchange};
use super::message;
use super::{PeerMessage, ReplyOutcome};
use crate::plain_text::{plain, plain_json};

impl Conversation {
    pub(super) fn sort_http(
        &mut self,
        reply: HttpExchange,
        id: &Value,
    ) -> Result<ProbeReply, WireBreak> {
        let HttpExchange { facts, messages, unreadable, end } = reply;
        let is_wordy = facts.is_success() || facts.has_type("application/json");
        for text in unreadable.into_iter().filter(|_| is_wordy) {
            self.note("message-json", format!("it sent \"{text}\""));
        }
        self.is_refused = !facts.is_success();
        let mut found = None;
        for value in &messages {
            found = found.or(self.sort(value, Some(id)));
        }
        let outcome = match (found, end) {
            (Some(outcome), _) => outcome,
            (None, HttpEnd::Silence) => return Err(WireBreak::Silence),
            (None, HttpEnd::TooLarge) => return Err(WireBreak::TooLarge),
            (None, HttpEnd::TooMany) => return Err(WireBreak::TooMany),
            (None, HttpEnd::Broken(why)) => return Err(WireBreak::Closed(why)),
            (None, HttpEnd::Complete) => ReplyOutcome::Status,
        };
        if facts.is_success() && outcome == ReplyOutcome::Status {
            let status = facts.status;
            self.note("http-answer", format!("HTTP status {status} came without an answer"));
            return Ok(ProbeReply { outcome: ReplyOutcome::Nothing, http: Some(facts) });
        }
        if outcome != ReplyOutcome::Status
            && !facts.has_type("application/json")
            && !facts.has_type("text/event-stream")
        {
            self.note("http-content-type", format!("it is \"{}\"", facts.content_type));
        }
        Ok(ProbeReply { outcome, http: Some(facts) })
    }

    /// Takes one message: returns the awaited answer, keeps or judges everything else.
    pub(super) fn sort(&mut self, value: &Value, expected: Option<&Value>) -> Option<ReplyOutcome> {
        if let Some(batch) = value.as_array().filter(|_| self.revision.has_batches()) {
            let parts = batch.iter().take(MAX_KEPT);
            return parts.fold(None, |found, part| found.or(self.sort(part, expected)));
        }
        let mut faults = Vec::new();
        let message = message::read(value, &mut faults);
        faults.into_iter().for_each(|(id, evidence)| self.note(id, evidence));
        match message? {
            PeerMessage::Response { id, outcome } => {
                let expected = expected.filter(|expected| self.answers(&id, expected, &outcome))?;
                // An HTTP error status may come with a JSON-RPC error that has no id.
                let is_excused = id.is_null() && self.is_refused;
                if id != *expected && !is_excused {
                    let (sent, came) = (plain_json(expected), plain_json(&id));
                    self.note(
                        "id-echoed",
                        format!("the request has the id {sent}, the answer {came}"),
                    );
                }
                Some(outcome)
            }
            PeerMessage::Request { id, method } if method.starts_with("notifications/") => {
                let evidence = format!("{} has the id {}", plain(&method), plain_json(&id));
                self.note("notification-id", evidence);
                self.judge_notification(&method, &value["params"]);
                None
            }
            PeerMessage::Request { id, method } => {
                self.judge_request(&method);
                let error =
                    json!({ "code": -32601, "message": "the doctor offers no such method" });
                let answer = match method == "ping" {
                    true => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
                    false => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
                };
                if self.owed.len() < MAX_KEPT {
                    self.owed.push(answer);
                }
                None
            }
            PeerMessage::Notification { method, params } => {
                self.judge_notification(&method, &params);
                None
            }
        }
    }

    /// Whether a response answers the request; one that answers no request is a stray.
    fn answers(&mut self, id: &Value, expected: &Value, outcome: &ReplyOutcome) -> bool {
        let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        let is_error = matches!(outcome, ReplyOutcome::Error(_));
        let is_nameless = id.is_null() && is_error && !self.keeps_null_ids;
        let is_answer =
            id == expected || is_nameless || (!id.is_null() && text(id) == text(expected));
        let is_end = !is_answer && self.watch.is_end(id);
        if !is_answer && !is_end && self.strays.len() < MAX_KEPT {
            self.strays.push(id.clone());
        }
        is_answer
    }

    fn judge_request(&mut self, method: &str) {
        let shown = plain(method);
        if !self.revision.has_handshake() {
            self.note("server-request-forbidden", format!("it sent the request {shown}"));
        } else if method != "ping" {
            let id = match self.is_open {
                true => "server-request-capability",
                false => "before-initialized",
            };
            self.note(id, format!("it sent the request {shown}"));
        }
    }

    fn judge_notification(&mut self, method: &str, params: &Value) {
        if let Some((id, evidence)) =
            self.watch.judge(self.revision.has_handshake(), method, params)
        {
            self.note(id, evidence);
        }
        // No probe asks for progress.
        if method == "notifications/progress" {
            let token = plain_json(&params["progressToken"]);
            self.note("progress-unasked", format!("the token is {token}"));
        }
        if method == "notifications/message" && !self.revision.has_handshake() {
            let shown = plain_json(&params["data"]);
            self.note("log-unasked", format!("it sent the log message {shown}"));
        }
    }

    /// Judges what every result of a revision without handshake has.
    pub(super) fn judge_result(&mut self, method: &str, result: &Value) {
        if REMOVED_METHODS.contains(&method) {
            return;
        }
        let kind = result["resultType"].as_str();
        if !matches!(kind, Some("complete" | "input_required")) {
            let shown = plain_json(&result["resultType"]);
            self.note("result-type", format!("that of {method} is {shown}"));
        }
        if kind == Some("input_required") {
            if !INPUT_METHODS.contains(&method) {
                self.note("input-required", format!("{method} got input_required"));
            }
            return;
        }
        if CACHED_METHODS.contains(&method) {
            let (ttl, scope) = (&result["ttlMs"], &result["cacheScope"]);
            if !ttl.is_u64() || !matches!(scope.as_str(), Some("public" | "private")) {
                let (ttl, scope) = (plain_json(ttl), plain_json(scope));
                self.note("cache-hints", format!("{method} has ttlMs {ttl}, cacheScope {scope}"));
            }
        }
        let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        if !info["name"].is_string() || !info["version"].is_string() {
            self.note("server-info-meta", format!("it is missing in the result of {method}"));
        }
    }
}

/// Methods of older revisions. A result of one of them breaks a rule of its own.
pub(crate) const REMOVED_METHODS: [&str; 4] =
    ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// Methods whose result may ask for input.
const INPUT_METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// Methods whose complete results have hints for caches.
const CACHED_METHODS: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];
