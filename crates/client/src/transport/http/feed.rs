//! SSE streams over HTTP, and the notification stream of a session with its reconnects.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};
use tokio::time;

use super::Inner;
use super::pool;
use crate::error::{Error, Lapse};
use crate::transport::board::Board;
use crate::transport::sse::{Event, Events};

/// Delay before reopening a stream, if the server names none.
pub(super) const AGAIN: Duration = Duration::from_secs(1);
/// Shortest delay, whatever the server names.
pub(super) const SOONEST: Duration = Duration::from_millis(50);
/// Longest delay, whatever the server names and however often the stream broke.
const LATEST: Duration = Duration::from_secs(60);

/// An SSE stream, and the event id to resume it from.
pub(super) struct Stream {
    body: Incoming,
    events: Events,
    most: usize,
    /// Parsed events that are not consumed yet.
    arrived: VecDeque<Event>,
    has_spoken: bool,
    pub(super) last: Option<String>,
    pub(super) retry: Option<Duration>,
}

impl Stream {
    pub(super) fn new(response: Response<Incoming>, most: usize) -> Self {
        let events = Events::new(most);
        let body = response.into_body();
        Self {
            body,
            events,
            most,
            arrived: VecDeque::new(),
            has_spoken: false,
            last: None,
            retry: None,
        }
    }

    /// The next event; `None` when the stream has ended.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if let Some(event) = self.arrived.pop_front() {
                self.has_spoken = true;
                self.last = event.id.clone().filter(|id| !id.is_empty()).or(self.last.take());
                self.retry = event.retry.map(Duration::from_millis).or(self.retry);
                return Ok(Some(event));
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            let frame = frame.map_err(|error| Error::Closed(error.to_string()))?;
            let Ok(chunk) = frame.into_data() else { continue };
            let events = self.events.feed(&chunk).map_err(|_| Error::TooLarge(self.most))?;
            self.arrived = events.into();
        }
    }

    /// Dispatches messages to the board while `wanted` holds, until the stream ends. `during` is
    /// the request that this stream answers, if it answers one.
    pub(super) async fn hear(
        &mut self,
        board: &Arc<Board>,
        during: Option<u64>,
        wanted: impl Fn(&Board) -> bool,
    ) -> Result<(), Error> {
        while wanted(board) {
            let Some(event) = self.next().await? else { return Ok(()) };
            let is_message = event.name.as_deref().is_none_or(|name| name == "message");
            if !is_message || event.data.is_empty() {
                continue;
            }
            if let Err(error) = board.hear(&event.data, during) {
                tracing::debug!(%error, "ignored an event that is not a message");
            }
        }
        Ok(())
    }
}

/// Keeps a session's notification stream open until the session ends (through 2025-11-25).
pub(super) async fn listen(inner: Weak<Inner>) {
    let (mut last, mut retry): (Option<String>, Option<Duration>) = (None, None);
    let mut failures = 0_u32;
    let mut was_open = false;
    loop {
        let opened = open(&inner, last.as_deref(), was_open).await;
        let _ = inner.upgrade().map(|inner| inner.heard.send_replace(true));
        let Some(opened) = opened else { return };
        if let Some(mut stream) = opened {
            let Some(board) = inner.upgrade().map(|inner| Arc::clone(&inner.board)) else { return };
            // Without an event id to resume from, messages in between are lost.
            if was_open && last.is_none() {
                board.herald().catch_up();
            }
            was_open = true;
            (stream.last, stream.retry) = (last, retry);
            let _ = stream.hear(&board, None, |board| board.ended().is_none()).await;
            if board.ended().is_some() {
                return;
            }
            // A stream without any event counts as a failure.
            failures = if stream.has_spoken { 0 } else { failures };
            (last, retry) = (stream.last, stream.retry);
        }
        let wait = retry.unwrap_or(AGAIN).clamp(SOONEST, LATEST) * 2_u32.pow(failures.min(6));
        failures = failures.saturating_add(1);
        time::sleep(wait.min(LATEST)).await;
    }
}

/// Opens the stream. `None`: there is none, stop. `Some(None)`: not now, try again.
async fn open(inner: &Weak<Inner>, last: Option<&str>, was_open: bool) -> Option<Option<Stream>> {
    let inner = inner.upgrade()?;
    let heading: Vec<_> = last.map(|last| ("last-event-id", last.to_owned())).into_iter().collect();
    let request = inner.request(Method::GET, &heading, Vec::new());
    let Ok(response) = inner.pool.send(request).await else { return Some(None) };
    match response.status() {
        status if status.is_success() && pool::is(&response, "text/event-stream") => {
            Some(Some(Stream::new(response, inner.most)))
        }
        // A 404 before the first stream means that the server has no stream, not no session.
        StatusCode::NOT_FOUND if was_open && inner.session.get().is_some() => {
            inner.board.retire(Lapse::Expired);
            None
        }
        status if status.is_server_error() => Some(None),
        // MCP 2025-11-25, transports: 405 means that the server offers no stream.
        _ => None,
    }
}
