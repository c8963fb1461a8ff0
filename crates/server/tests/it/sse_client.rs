//! SSE client for tests: reads a chunked stream of events.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::fixture::HttpFixture;

/// Longer than anything here takes, on any machine; reaching it fails the test.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// An open SSE stream.
pub(crate) struct SseClient {
    stream: BufReader<TcpStream>,
    pub(crate) status: u16,
    pub(crate) head: String,
    text: String,
    events: VecDeque<ReceivedEvent>,
    comments: usize,
}

/// One SSE event.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct ReceivedEvent {
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<u64>,
    pub(crate) kind: Option<String>,
    pub(crate) data: String,
}

impl ReceivedEvent {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }
}

impl SseClient {
    /// Sends a request and reads the head of the response.
    pub(crate) async fn open(
        fixture: &HttpFixture,
        verb: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Self {
        let mut stream = BufReader::new(fixture.connect(verb, headers, body).await);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = timeout(TEST_TIMEOUT, stream.read_line(&mut head)).await;
            assert_ne!(read.expect("a head in time").unwrap(), 0, "{head}");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let (text, events) = (String::new(), VecDeque::new());
        Self { stream, status, head, text, events, comments: 0 }
    }

    /// Opens a stream of a session.
    pub(crate) async fn session(fixture: &HttpFixture, id: &str, last: Option<&str>) -> Self {
        let mut headers = vec![("mcp-session-id", id)];
        headers.extend(last.map(|last| ("last-event-id", last)));
        let events = Self::open(fixture, "GET", &headers, "").await;
        assert_eq!(events.status, 200);
        events
    }

    /// Sends a stateless request whose answer is a stream.
    pub(crate) async fn alone(fixture: &HttpFixture, message: &Value) -> Self {
        let method = message["method"].as_str().unwrap();
        let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
        Self::open(fixture, "POST", &headers, &message.to_string()).await
    }

    /// The next event; `None` at the end.
    pub(crate) async fn try_next(&mut self) -> Option<ReceivedEvent> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    pub(crate) async fn next(&mut self) -> ReceivedEvent {
        self.try_next().await.expect("the stream goes on")
    }

    /// The next message.
    pub(crate) async fn message(&mut self) -> Value {
        self.next().await.json()
    }

    /// Waits for a keep-alive; fails if an event comes first.
    pub(crate) async fn wait_for_keep_alive(&mut self) {
        let seen = self.comments;
        while self.comments == seen {
            assert!(self.fill().await, "the stream ended");
            assert_eq!(self.events, [], "an event before a keep-alive");
        }
    }

    /// Reads one chunk; false at the end.
    async fn fill(&mut self) -> bool {
        let mut size = String::new();
        let read =
            timeout(TEST_TIMEOUT, self.stream.read_line(&mut size)).await.expect("news in time");
        if read.unwrap_or(0) == 0 {
            return false;
        }
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).await.unwrap();
        self.text.push_str(std::str::from_utf8(&chunk[..size]).unwrap());
        while let Some((event, rest)) = self.text.split_once("\n\n") {
            match parse(event) {
                Some(event) => self.events.push_back(event),
                None => self.comments += 1,
            }
            self.text = rest.to_owned();
        }
        size > 0
    }
}

fn parse(text: &str) -> Option<ReceivedEvent> {
    let mut event = ReceivedEvent::default();
    for line in text.lines() {
        match line.split_once(':') {
            Some(("", _)) | None => {}
            Some(("id", value)) => event.id = Some(value.trim().to_owned()),
            Some(("retry", value)) => event.retry = value.trim().parse().ok(),
            Some(("event", value)) => event.kind = Some(value.trim().to_owned()),
            Some(("data", value)) => event.data.push_str(value.strip_prefix(' ').unwrap_or(value)),
            Some(_) => panic!("not a field of an event: {line}"),
        }
    }
    (event != ReceivedEvent::default()).then_some(event)
}
