//! Replay buffer for the SSE streams of a session, for `Last-Event-ID` (through 2025-11-25).
//!
//! Notifications go over the newest stream: an older one may have broken unnoticed. When the
//! newest ends, the one before it takes over. One lock covers the choice of the stream, taking
//! the message and keeping it, so that no message is lost between two streams.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use parking_lot::Mutex;
use protocol::Outgoing;
use tokio::sync::{Notify, watch};

use super::sessions::HttpSession;

/// The most messages that the buffer keeps.
const MAX_MESSAGES: usize = 256;

/// The most bytes that the buffer keeps.
const MAX_BYTES: usize = 256 * 1024;

/// SSE event id: a stream and the number of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventId {
    pub(crate) stream: StreamId,
    number: u64,
}

/// Stream id. One stream may span several connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum StreamId {
    /// Notifications, without an end.
    Notifications(u64),
    /// The answer to one request.
    Answer(u64),
}

/// The replay buffer of one session.
pub(crate) struct ReplayBuffer {
    state: Mutex<ReplayState>,
    changed: Notify,
    /// Numbers of the newest stream, which sends notifications, and of the oldest not evicted.
    live_range: watch::Sender<(u64, u64)>,
    /// The most open streams of notifications.
    max_live: usize,
}

#[derive(Default)]
struct ReplayState {
    last_stream: u64,
    /// Numbers of the open streams, the newest last.
    live: Vec<u64>,
    last_live: u64,
    /// Whether a stream that has ended had sent something: it may not have arrived.
    maybe_undelivered: bool,
    /// Streams of requests that are still running.
    open_answers: HashSet<StreamId>,
    last_number: u64,
    messages: VecDeque<(EventId, Bytes)>,
    bytes: usize,
}

/// The messages that a resuming client has missed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MissedMessages {
    /// Exactly these.
    All(Vec<(EventId, Bytes)>),
    /// More than the buffer holds, or unknown.
    Unknown,
}

/// One open stream of notifications. Dropping it hands over to the one before.
pub(crate) struct LiveStream {
    number: u64,
    pub(crate) stream: StreamId,
    has_sent: bool,
    session: Weak<HttpSession>,
    live_range: watch::Receiver<(u64, u64)>,
}

/// Resolves when newer streams evict this one.
pub(crate) struct EvictionSignal {
    number: u64,
    live_range: watch::Receiver<(u64, u64)>,
}

impl ReplayBuffer {
    /// An empty buffer for at most `most` streams (at least one).
    pub(crate) fn new(most: usize) -> Self {
        let (state, changed) = (Mutex::default(), Notify::new());
        Self { state, changed, live_range: watch::Sender::new((0, 0)), max_live: most.max(1) }
    }

    /// Opens a stream of notifications and returns what the client missed since `last`. Beyond
    /// the limit, the oldest stream ends.
    pub(crate) fn open_live_stream(
        &self,
        session: &Arc<HttpSession>,
        last: Option<EventId>,
    ) -> (LiveStream, MissedMessages) {
        let mut kept = self.state.lock();
        let known = last.and_then(|mark| Some((mark.stream, kept.find_missed(mark)?)));
        let (stream, missed) = match known {
            Some(known) => known,
            None => {
                kept.last_stream += 1;
                let missed = if std::mem::take(&mut kept.maybe_undelivered) {
                    MissedMessages::Unknown
                } else {
                    MissedMessages::All(Vec::new())
                };
                (StreamId::Notifications(kept.last_stream), missed)
            }
        };
        kept.last_live += 1;
        let number = kept.last_live;
        kept.live.push(number);
        let too_many = kept.live.len().saturating_sub(self.max_live);
        kept.live.drain(..too_many);
        self.live_range.send_replace(kept.live_range());
        let (session, open) = (Arc::downgrade(session), self.live_range.subscribe());
        (LiveStream { number, stream, has_sent: false, session, live_range: open }, missed)
    }

    /// Takes, numbers and keeps the next message, if `turn` is the newest stream.
    pub(crate) fn send_next(
        &self,
        live: &mut LiveStream,
        take: impl FnOnce() -> Option<Outgoing>,
    ) -> Option<(EventId, Outgoing)> {
        let mut kept = self.state.lock();
        if kept.live_range().0 != live.number {
            return None;
        }
        let message = take()?;
        live.has_sent = true;
        Some(match message.into_bytes() {
            Ok(bytes) => (kept.assign_id(live.stream, Some(&bytes)), Outgoing::from_bytes(bytes)),
            Err(message) => (kept.assign_id(live.stream, None), message),
        })
    }

    /// Opens a stream for the answer to a request, until its [`end`](Self::close_answer_stream).
    pub(crate) fn open_answer_stream(&self) -> StreamId {
        let mut kept = self.state.lock();
        kept.last_stream += 1;
        let stream = StreamId::Answer(kept.last_stream);
        kept.open_answers.insert(stream);
        stream
    }

    /// Closes the stream of an answer.
    pub(crate) fn close_answer_stream(&self, stream: StreamId) {
        self.state.lock().open_answers.remove(&stream);
        self.changed.notify_waiters();
    }

    /// Numbers a message and keeps it for replay; `None` only takes a number.
    pub(crate) fn record(&self, stream: StreamId, message: Option<&Bytes>) -> EventId {
        let mark = self.state.lock().assign_id(stream, message);
        self.changed.notify_waiters();
        mark
    }

    /// The messages after `mark` on its stream; `None` if the session has not got that far.
    fn missed_after(&self, event: EventId) -> Option<MissedMessages> {
        self.state.lock().find_missed(event)
    }

    /// Waits for messages after `mark`; `None` if there will be none.
    pub(crate) async fn wait_for_missed(&self, event: EventId) -> Option<Vec<(EventId, Bytes)>> {
        loop {
            let grew = self.changed.notified();
            tokio::pin!(grew);
            grew.as_mut().enable();
            let open = self.state.lock().open_answers.contains(&event.stream);
            match self.missed_after(event) {
                Some(MissedMessages::All(missed)) if !missed.is_empty() => return Some(missed),
                Some(MissedMessages::All(_)) if open => grew.await,
                _ => return None,
            }
        }
    }
}

impl ReplayState {
    fn live_range(&self) -> (u64, u64) {
        let newest = self.live.last().copied().unwrap_or(0);
        (newest, self.live.first().copied().unwrap_or(0))
    }

    fn assign_id(&mut self, stream: StreamId, message: Option<&Bytes>) -> EventId {
        self.last_number += 1;
        let mark = EventId { stream, number: self.last_number };
        if let Some(message) = message {
            self.bytes += message.len();
            self.messages.push_back((mark, message.clone()));
        }
        while self.messages.len() > MAX_MESSAGES || self.bytes > MAX_BYTES {
            let Some((_, gone)) = self.messages.pop_front() else { break };
            self.bytes -= gone.len();
        }
        mark
    }

    fn find_missed(&self, event: EventId) -> Option<MissedMessages> {
        if event.stream.number() > self.last_stream || event.number > self.last_number {
            return None;
        }
        let oldest =
            self.messages.front().map_or(self.last_number + 1, |(oldest, _)| oldest.number);
        if matches!(event.stream, StreamId::Notifications(_)) && event.number + 1 < oldest {
            return Some(MissedMessages::Unknown);
        }
        let later = |(sent, _): &&(EventId, Bytes)| {
            sent.stream == event.stream && sent.number > event.number
        };
        Some(MissedMessages::All(self.messages.iter().filter(later).cloned().collect()))
    }
}

impl LiveStream {
    /// Waits until this is the newest stream.
    pub(crate) async fn wait_until_newest(&mut self) {
        let number = self.number;
        let _ = self.live_range.wait_for(|(newest, _)| *newest == number).await;
    }

    /// Waits until a newer stream opens.
    pub(crate) async fn wait_until_superseded(&mut self) {
        let number = self.number;
        let _ = self.live_range.wait_for(|(newest, _)| *newest != number).await;
    }

    /// Watches for the eviction of this stream.
    pub(crate) fn eviction(&self) -> EvictionSignal {
        EvictionSignal { number: self.number, live_range: self.live_range.clone() }
    }
}

impl EvictionSignal {
    pub(crate) async fn wait(&mut self) {
        let number = self.number;
        if self.live_range.wait_for(|(_, oldest)| *oldest > number).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for LiveStream {
    fn drop(&mut self) {
        let Some(session) = self.session.upgrade() else { return };
        let mut kept = session.replay_buffer.state.lock();
        kept.maybe_undelivered |= self.has_sent;
        kept.live.retain(|number| *number != self.number);
        session.replay_buffer.live_range.send_replace(kept.live_range());
    }
}

impl StreamId {
    fn number(self) -> u64 {
        match self {
            Self::Notifications(number) | Self::Answer(number) => number,
        }
    }
}

impl EventId {
    /// Parses a `Last-Event-ID`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (stream, number) = text.split_once('.')?;
        let number = number.parse().ok()?;
        let stream = match stream.split_at_checked(1)? {
            ("c", stream) => StreamId::Notifications(stream.parse().ok()?),
            ("a", stream) => StreamId::Answer(stream.parse().ok()?),
            _ => return None,
        };
        Some(Self { stream, number })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.stream {
            StreamId::Notifications(_) => 'c',
            StreamId::Answer(_) => 'a',
        };
        write!(f, "{kind}{}.{}", self.stream.number(), self.number)
    }
}

#[cfg(test)]
mod tests;
