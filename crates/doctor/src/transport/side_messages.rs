//! Messages beside plain requests: notifications, raw lines, batches and streams.

use std::time::Duration;

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::http::{HttpAsk, HttpFacts};
use super::http_streams::is_of_stream;
use super::{Probe, Wire};

impl Conversation {
    /// Sends a notification. Over HTTP, returns the head of the response.
    pub(crate) async fn notify(&mut self, method: &str, params: Value) -> Option<HttpFacts> {
        let deadline = self.deadline(self.timeout).ok()?;
        let probe = Probe::new(method, params);
        let mut message = probe.message(&Value::Null, self.revision);
        message.as_object_mut()?.remove("id");
        let heading = probe.heading(self.revision, self.session.as_deref());
        match &mut self.wire {
            Wire::Pipe(pipe) => {
                let _ = pipe.send(&message.to_string(), deadline).await;
                None
            }
            Wire::HttpSse(_) => {
                let _ = self.send_line(&message.to_string(), deadline).await;
                None
            }
            Wire::Http(http) => {
                let ask = HttpAsk::post(message.to_string(), heading);
                let reply = http.exchange(&ask, deadline, |_| true).await.ok()?;
                Some(reply.facts)
            }
        }
    }

    /// Writes a line as it is, over pipes.
    pub(crate) async fn write_raw(&mut self, line: &str) -> bool {
        let Ok(deadline) = self.deadline(self.timeout) else { return false };
        matches!(self.wire, Wire::Pipe(_)) && self.send_line(line, deadline).await.is_ok()
    }

    /// Sends several messages as one batch and counts the answers among `ids`.
    pub(crate) async fn send_batch(
        &mut self,
        batch: &Value,
        ids: &[Value],
        wait: Duration,
    ) -> usize {
        let Ok(deadline) = self.deadline(wait) else { return 0 };
        let is_ours = |value: &Value| value.get("id").is_some_and(|id| ids.contains(id));
        let count_in = |value: &Value| match value.as_array() {
            Some(parts) => parts.iter().filter(|part| is_ours(part)).count(),
            None => usize::from(is_ours(value)),
        };
        let mut answers = 0;
        if let Wire::Http(http) = &self.wire {
            let heading = Probe::new("", json!({})).heading(self.revision, self.session.as_deref());
            let ask = HttpAsk::post(batch.to_string(), heading);
            let is_last = |value: &Value| {
                answers += count_in(value);
                answers >= ids.len()
            };
            let reply = http.exchange(&ask, deadline, is_last).await;
            return reply.map_or(0, |reply| reply.messages.iter().map(count_in).sum());
        }
        if self.send_line(&batch.to_string(), deadline).await.is_err() {
            return 0;
        }
        let mut count = 0;
        while answers < ids.len() {
            match self.next_value(deadline, &mut count).await {
                Ok(Some(value)) => answers += count_in(&value),
                Ok(None) => {}
                Err(_) => break,
            }
        }
        answers
    }

    /// Sends a request that opens a stream, and returns its id with what came up to and including
    /// the first message that carries it.
    pub(crate) async fn open_stream(
        &mut self,
        probe: &Probe,
    ) -> (Value, Vec<Value>, Option<HttpFacts>) {
        let id = self.new_id();
        let Ok(deadline) = self.deadline(self.timeout) else { return (id, Vec::new(), None) };
        let message = probe.message(&id, self.revision).to_string();
        let is_first = |value: &Value| is_of_stream(value, &id);
        if let Wire::Http(http) = &self.wire {
            let headers = probe.heading(self.revision, self.session.as_deref());
            let ask = HttpAsk::post(message, headers);
            return match http.exchange(&ask, deadline, is_first).await {
                Ok(reply) => (id, reply.messages, Some(reply.facts)),
                Err(_) => (id, Vec::new(), None),
            };
        }
        let mut messages = Vec::new();
        if self.send_line(&message, deadline).await.is_ok() {
            let mut count = 0;
            while let Ok(value) = self.next_value(deadline, &mut count).await {
                let is_over = value.as_ref().is_some_and(is_first);
                messages.extend(value);
                if is_over {
                    break;
                }
            }
        }
        (id, messages, None)
    }
}
