//! HTTP+SSE of 2024-11-05: a stream of events for the server, and an endpoint for POST that it names.

use std::collections::VecDeque;

use bytes::Bytes;
use hyper::{Method, Uri};
use serde_json::Value;

use super::Deadline;
use super::event_stream::{DoctorEventStream, StreamItem};
use super::http::{HttpAsk, HttpFacts, HttpFailure, HttpWire};
use super::message::ShapeFault;
use super::pipe::PipeLine;
use crate::plain_text::plain;

/// The most bytes of an answer to POST that are looked at: the protocol has none.
const MAX_ANSWER: usize = 1_000;

/// An open stream, and where to send messages.
pub(crate) struct HttpSseWire {
    /// Requests to the stream's own URL.
    pub(super) stream_url: HttpWire,
    /// Requests to the endpoint.
    pub(super) endpoint: HttpWire,
    stream: DoctorEventStream,
    /// Messages that came as answers to POST.
    misplaced: VecDeque<Bytes>,
    faults: Vec<ShapeFault>,
}

/// Why there is no such transport.
pub(super) enum HttpSseRefusal {
    /// The URL offers none.
    Absent,
    /// It offers one that breaks a rule.
    Broken(ShapeFault),
}

impl HttpSseWire {
    /// Opens the stream and waits for the event that names the endpoint.
    pub(super) async fn open(http: &HttpWire, deadline: Deadline) -> Result<Self, HttpSseRefusal> {
        let ask = HttpAsk { method: Method::GET, ..HttpAsk::default() };
        let opened = http.open_events(&ask, deadline).await;
        let Ok((_, Some(mut stream))) = opened else { return Err(HttpSseRefusal::Absent) };
        let Some(StreamItem::Event(event)) = stream.next(deadline).await else {
            return Err(HttpSseRefusal::Absent);
        };
        let data = String::from_utf8_lossy(&event.data[..event.data.len().min(MAX_ANSWER)]);
        let broken = |rule, evidence| HttpSseRefusal::Broken((rule, evidence));
        let endpoint = resolve(http.url(), data.trim());
        let Some(endpoint) = endpoint.filter(|_| event.name == b"endpoint") else {
            let name = plain(&String::from_utf8_lossy(&event.name));
            let evidence = format!("the first event is \"{name}\" with \"{}\"", plain(&data));
            return Err(broken("sse-endpoint-first", evidence));
        };
        if !is_same_origin(http.url(), &endpoint) {
            let evidence = format!("the endpoint is {}", plain(&data));
            return Err(broken("sse-endpoint-origin", evidence));
        }
        Ok(Self {
            stream_url: http.clone(),
            endpoint: http.at(endpoint),
            stream,
            misplaced: VecDeque::new(),
            faults: Vec::new(),
        })
    }

    /// Sends a message to the endpoint.
    pub(super) async fn post(
        &mut self,
        message: &str,
        deadline: Deadline,
    ) -> Result<HttpFacts, HttpFailure> {
        let ask = HttpAsk::post(message, Vec::new());
        let reply = self.endpoint.exchange(&ask, deadline, |_| true).await?;
        let status = reply.facts.status;
        if reply.facts.is_success() && status != 202 {
            self.faults.push(("sse-post-accepted", format!("a message got HTTP status {status}")));
        }
        let answers = reply.messages.iter().filter(|value| value.get("jsonrpc").is_some());
        let answers: Vec<&Value> = answers.collect();
        if !answers.is_empty() && reply.facts.is_success() {
            let evidence = "an answer came in the response to POST".to_owned();
            self.faults.push(("sse-answer-stream", evidence));
            self.misplaced.extend(answers.iter().map(|value| Bytes::from(value.to_string())));
        }
        Ok(reply.facts)
    }

    /// The next message of the stream.
    pub(super) async fn next_message(&mut self, deadline: Deadline) -> PipeLine {
        if let Some(message) = self.misplaced.pop_front() {
            return PipeLine::Text(message);
        }
        match self.stream.next(deadline).await {
            None => PipeLine::Silence,
            Some(StreamItem::TooLarge) => PipeLine::TooLong,
            Some(StreamItem::End(why)) => PipeLine::End(why),
            Some(StreamItem::Event(event)) => {
                if !matches!(&event.name[..], b"" | b"message") {
                    let name = plain(&String::from_utf8_lossy(&event.name));
                    let evidence = format!("an event has the name \"{name}\"");
                    self.faults.push(("sse-message-event", evidence));
                }
                PipeLine::Text(Bytes::from(event.data))
            }
        }
    }

    pub(super) fn take_faults(&mut self) -> Vec<ShapeFault> {
        std::mem::take(&mut self.faults)
    }
}

/// The URI that a reference means, seen from the URL of the stream.
fn resolve(base: &Uri, reference: &str) -> Option<Uri> {
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    let text = match reference.as_bytes() {
        [] => return None,
        [b'/', b'/', ..] => format!("{scheme}:{reference}"),
        [b'/', ..] => format!("{scheme}://{authority}{reference}"),
        [b'?', ..] => format!("{scheme}://{authority}{}{reference}", base.path()),
        _ if reference.contains("://") => reference.to_owned(),
        _ => format!("{scheme}://{authority}{folder}/{reference}"),
    };
    let found: Uri = text.parse().ok()?;
    let is_web = matches!(found.scheme_str(), Some("http" | "https"));
    (is_web && found.host().is_some()).then_some(found)
}

fn is_same_origin(one: &Uri, other: &Uri) -> bool {
    let port = |uri: &Uri| {
        uri.port_u16().or(if uri.scheme_str() == Some("https") { Some(443) } else { Some(80) })
    };
    let host = |uri: &Uri| uri.host().map(str::to_ascii_lowercase);
    one.scheme_str() == other.scheme_str() && host(one) == host(other) && port(one) == port(other)
}

#[cfg(test)]
mod tests {
    use super::{is_same_origin, resolve};

    #[test]
    fn an_endpoint_is_resolved_against_the_url_of_the_stream() {
        let base = "http://127.0.0.1:8000/a/sse".parse().unwrap();
        for (reference, wanted) in [
            ("/messages/?s=1", Some("http://127.0.0.1:8000/messages/?s=1")),
            ("messages", Some("http://127.0.0.1:8000/a/messages")),
            ("?s=1", Some("http://127.0.0.1:8000/a/sse?s=1")),
            ("http://127.0.0.1:8000/m", Some("http://127.0.0.1:8000/m")),
            ("//evil.example/m", Some("http://evil.example/m")),
            ("file:///etc/passwd", None),
            ("", None),
            ("{\"jsonrpc\": \"2.0\"}", None),
        ] {
            let found = resolve(&base, reference).map(|uri| uri.to_string());
            assert_eq!(found.as_deref(), wanted, "{reference}");
        }
    }

    #[test]
    fn an_origin_has_scheme_host_and_port() {
        let base = "http://Example.org/sse".parse().unwrap();
        let is_same = |other: &str| is_same_origin(&base, &other.parse().unwrap());
        assert!(is_same("http://example.org:80/m"));
        assert!(!is_same("https://example.org/m"));
        assert!(!is_same("http://example.org:8080/m"));
        assert!(!is_same("http://example.org.evil.example/m"));
    }
}
