//! SSE streams over HTTP, and the notification stream of a session with its reconnects.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};
use machinery::{Backoff, MemoryHold};
use tokio::time;

use super::Inner;
use super::pool;
use crate::error::{Error, TransportFailure};
use crate::transport::pending::PendingRequests;
use crate::transport::sse::{SseEvent, SseParser};

/// Delay before reopening a stream, if the server names none.
pub(super) const RETRY_DEFAULT: Duration = Duration::from_secs(1);
/// Shortest delay, whatever the server names.
pub(super) const RETRY_MIN: Duration = Duration::from_millis(50);
/// Longest delay, whatever the server names and however often the stream broke.
const RETRY_MAX: Duration = Duration::from_secs(60);

/// An SSE stream, and the event id to resume it from.
pub(super) struct SseStream {
    body: Incoming,
    parser: SseParser,
    max_bytes: usize,
    memory: MemoryHold,
    /// Parsed events that are not consumed yet.
    buffered: VecDeque<SseEvent>,
    has_events: bool,
    pub(super) last_event_id: Option<String>,
    pub(super) retry: Option<Duration>,
}

impl SseStream {
    pub(super) fn new(response: Response<Incoming>, max_bytes: usize, memory: MemoryHold) -> Self {
        let parser = SseParser::new(max_bytes);
        let body = response.into_body();
        Self {
            body,
            parser,
            max_bytes,
            memory,
            buffered: VecDeque::new(),
            has_events: false,
            last_event_id: None,
            retry: None,
        }
    }

    /// The next event; `None` when the stream has ended.
    pub(super) async fn next(&mut self) -> Result<Option<SseEvent>, Error> {
        loop {
            if let Some(event) = self.buffered.pop_front() {
                self.has_events = true;
                self.last_event_id =
                    event.id.clone().filter(|id| !id.is_empty()).or(self.last_event_id.take());
                self.retry = event.retry.map(Duration::from_millis).or(self.retry);
                return Ok(Some(event));
            }
            self.memory.set(self.parser.held_bytes());
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let frame = frame.map_err(|error| Error::Closed(error.to_string()))?;
            let Ok(chunk) = frame.into_data() else { continue };
            let events =
                self.parser.parse_chunk(&chunk).map_err(|_| Error::TooLarge(self.max_bytes))?;
            self.buffered = events.into();
            let parsed: usize = self.buffered.iter().map(|event| event.data.len()).sum();
            self.memory.set(parsed + self.parser.held_bytes());
        }
    }

    /// Dispatches messages to the board while `wanted` holds, until the stream ends. `during` is
    /// the request that this stream answers, if it answers one.
    pub(super) async fn dispatch_events(
        &mut self,
        pending: &Arc<PendingRequests>,
        during: Option<u64>,
        wanted: impl Fn(&PendingRequests) -> bool,
    ) -> Result<(), Error> {
        while wanted(pending) {
            let Some(event) = self.next().await? else { return Ok(()) };
            let is_message = event.name.as_deref().is_none_or(|name| name == "message");
            if !is_message || event.data.is_empty() {
                continue;
            }
            if let Err(error) = pending.dispatch(&event.data, during) {
                tracing::debug!(%error, "ignored an event that is not a message");
            }
        }
        Ok(())
    }
}

/// Keeps a session's notification stream open until the session ends (through 2025-11-25).
pub(super) async fn keep_notification_stream(inner: Weak<Inner>) {
    let (mut last, mut retry): (Option<String>, Option<Duration>) = (None, None);
    let mut failures = 0_u32;
    let mut was_open = false;
    loop {
        let opened = open_notification_stream(&inner, last.as_deref(), was_open).await;
        let _ = inner.upgrade().map(|inner| inner.stream_ready.send_replace(true));
        let Some(opened) = opened else { return };
        if let Some(mut stream) = opened {
            let Some(board) = inner.upgrade().map(|inner| Arc::clone(&inner.pending)) else {
                return;
            };
            // Without an event id to resume from, messages in between are lost.
            if was_open && last.is_none() {
                board.notifications().report_gap();
            }
            was_open = true;
            (stream.last_event_id, stream.retry) = (last, retry);
            let _ =
                stream.dispatch_events(&board, None, |board| board.end_reason().is_none()).await;
            if board.end_reason().is_some() {
                return;
            }
            // A stream without any event counts as a failure.
            failures = if stream.has_events { 0 } else { failures };
            (last, retry) = (stream.last_event_id, stream.retry);
        }
        failures = failures.saturating_add(1);
        let first = retry.unwrap_or(RETRY_DEFAULT).clamp(RETRY_MIN, RETRY_MAX);
        time::sleep(Backoff { first, max: RETRY_MAX }.delay(failures)).await;
    }
}

/// Opens the stream. `None`: there is none, stop. `Some(None)`: not now, try again.
async fn open_notification_stream(
    inner: &Weak<Inner>,
    last: Option<&str>,
    was_open: bool,
) -> Option<Option<SseStream>> {
    let inner = inner.upgrade()?;
    let heading: Vec<_> = last.map(|last| ("last-event-id", last.to_owned())).into_iter().collect();
    let request = inner.build_request(Method::GET, &heading, Vec::new());
    let Ok(response) = inner.pool.execute(request).await else { return Some(None) };
    match response.status() {
        status if status.is_success() && pool::has_content_type(&response, "text/event-stream") => {
            Some(Some(inner.follow_response(response)))
        }
        // A 404 before the first stream means that the server has no stream, not no session.
        StatusCode::NOT_FOUND if was_open && inner.session.get().is_some() => {
            inner.pending.stop_accepting(TransportFailure::SessionExpired);
            None
        }
        status if status.is_server_error() => Some(None),
        // MCP 2025-11-25, transports: 405 means that the server offers no stream.
        _ => None,
    }
}
