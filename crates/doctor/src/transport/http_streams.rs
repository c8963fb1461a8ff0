//! What a conversation over HTTP has beside POST: the older transport, and streams of events.

use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};

use super::changes::DoctorListen;
use super::conversation::Conversation;
use super::event_stream::{DoctorEventStream, StreamItem};
use super::http::{HttpAsk, HttpFacts, HttpWire};
use super::http_sse::{HttpSseRefusal, HttpSseWire};
use super::sse::DoctorEvent;
use super::{Deadline, MAX_MESSAGES, Probe, SUBSCRIPTION_ID, Wire};
use crate::plain_text::plain;

/// How long the event that names the endpoint may take.
const ENDPOINT_WAIT: Duration = Duration::from_secs(5);

impl Conversation {
    /// Turns to HTTP+SSE, as the specification says for a URL that refuses `initialize`. Whether it
    /// is there.
    pub(crate) async fn fall_back(&mut self) -> bool {
        let Wire::Http(http) = &self.wire else { return false };
        let Ok(deadline) = self.deadline(ENDPOINT_WAIT) else { return false };
        match HttpSseWire::open(http, deadline).await {
            Ok(wire) => {
                // What the URL did with POST is not about this transport.
                self.faults.clear();
                self.wire = Wire::HttpSse(Box::new(wire));
                true
            }
            Err(HttpSseRefusal::Absent) => false,
            Err(HttpSseRefusal::Broken((id, evidence))) => {
                self.faults.clear();
                self.note(id, evidence);
                false
            }
        }
    }

    pub(crate) fn is_http_sse(&self) -> bool {
        matches!(self.wire, Wire::HttpSse(_))
    }

    /// The URLs of HTTP+SSE, of the stream and of the endpoint, for probes of its own.
    pub(crate) fn http_sse(&self) -> Option<(&HttpWire, &HttpWire, Deadline)> {
        match &self.wire {
            Wire::HttpSse(events) => {
                Some((&events.stream_url, &events.endpoint, self.deadline(self.timeout).ok()?))
            }
            Wire::Http(_) | Wire::Pipe(_) => None,
        }
    }

    /// Opens the stream of messages that no request asks for. Returns the head of the response.
    pub(crate) async fn open_get_stream(&mut self) -> Option<HttpFacts> {
        let (http, deadline) = self.http()?;
        let headers = Probe::new("", json!({})).heading(self.revision, self.session.as_deref());
        let ask = HttpAsk { method: Method::GET, headers, body: String::new() };
        let (reply, stream) = http.open_events(&ask, deadline).await.ok()?;
        self.side_stream = stream;
        Some(reply.facts)
    }

    /// Sends a `subscriptions/listen` and keeps its stream. Returns its id, and what came up to and
    /// including the first message that carries it.
    pub(crate) async fn open_listen(&mut self, probe: &Probe) -> (Value, Vec<Value>) {
        let Some((http, deadline)) = self.http() else {
            let (id, messages, _) = self.open_stream(probe).await;
            return (id, messages);
        };
        let http = http.clone();
        let id = self.new_id();
        let headers = probe.heading(self.revision, self.session.as_deref());
        let ask = HttpAsk::post(probe.message(&id, self.revision).to_string(), headers);
        let Ok((reply, stream)) = http.open_events(&ask, deadline).await else {
            return (id, Vec::new());
        };
        let Some(mut stream) = stream else { return (id, reply.messages) };
        let mut messages = Vec::new();
        for _ in 0..MAX_MESSAGES {
            let Some(StreamItem::Event(event)) = stream.next(deadline).await else { break };
            let Some(value) = self.read_event(&event) else { continue };
            let is_over = is_of_stream(&value, &id);
            messages.push(value);
            if is_over {
                break;
            }
        }
        self.side_stream = Some(stream);
        (id, messages)
    }

    /// Notes that a stream is open, and what the server agreed to.
    pub(crate) fn set_listen(&mut self, id: Value, filter: Value) {
        self.watch.listen = Some(DoctorListen { id, filter });
    }

    /// Judges what has come on the stream beside the requests.
    pub(crate) async fn drain_side_stream(&mut self) {
        for _ in 0..MAX_MESSAGES {
            let event = self.side_stream.as_mut().and_then(DoctorEventStream::take);
            let Some(event) = event else { break };
            if let Some(value) = self.read_event(&event) {
                self.sort(&value, None);
            }
        }
        self.settle().await;
    }

    /// Closes the stream beside the requests, after what came on it was judged.
    pub(crate) async fn close_side_stream(&mut self) {
        self.drain_side_stream().await;
        self.side_stream = None;
    }

    /// Waits until more changes than these were announced. Whether they were, in time.
    pub(crate) async fn await_change(&mut self, before: usize) -> bool {
        let Ok(deadline) = self.deadline(self.timeout) else { return false };
        let mut count = 0;
        while self.watch.announced() <= before && count < MAX_MESSAGES {
            let value = match (self.is_http(), &mut self.side_stream) {
                (true, None) => return false,
                (true, Some(stream)) => {
                    count += 1;
                    match stream.next(deadline).await {
                        Some(StreamItem::Event(event)) => self.read_event(&event),
                        _ => return false,
                    }
                }
                (false, _) => match self.next_value(deadline, &mut count).await {
                    Ok(value) => value,
                    Err(_) => return false,
                },
            };
            value.and_then(|value| self.sort(&value, None));
            self.settle().await;
        }
        self.watch.announced() > before
    }

    fn read_event(&mut self, event: &DoctorEvent) -> Option<Value> {
        let value = serde_json::from_slice(&event.data).ok();
        if value.is_none() {
            let text = String::from_utf8_lossy(&event.data[..event.data.len().min(1_000)]);
            self.note("message-json", format!("it sent the event \"{}\"", plain(&text)));
        }
        value
    }
}

/// Whether a message belongs to the stream that a request opened: its answer, or a notification.
pub(super) fn is_of_stream(value: &Value, id: &Value) -> bool {
    let has_method = value.get("method").is_some();
    let is_answer = !has_method && value.get("id").is_some_and(|came| came == id);
    let text = value["method"].as_str().unwrap_or_default();
    is_answer
        || text.starts_with("notifications/subscriptions/")
        || value["params"]["_meta"].get(SUBSCRIPTION_ID).is_some()
}
