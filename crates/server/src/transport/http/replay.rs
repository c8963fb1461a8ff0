//! Replay buffer for the SSE streams of a session, for `Last-Event-ID` (through 2025-11-25).
//!
//! Notifications go over the newest stream: an older one may have broken unnoticed. When the
//! newest ends, the one before it takes over. One lock covers the choice of the stream, taking
//! the message and keeping it, so that no message is lost between two streams.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use protocol::Outgoing;
use tokio::sync::{Notify, watch};

use super::sessions::Session;

/// The most messages that the buffer keeps.
const MESSAGES: usize = 256;

/// The most bytes that the buffer keeps.
const BYTES: usize = 256 * 1024;

/// SSE event id: a stream and the number of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) strand: Strand,
    number: u64,
}

/// Stream id. One stream may span several connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Strand {
    /// Notifications, without an end.
    Changes(u64),
    /// The answer to one request.
    Answer(u64),
}

/// The replay buffer of one session.
pub(crate) struct Replay {
    kept: Mutex<Kept>,
    grew: Notify,
    /// Numbers of the newest stream, which sends notifications, and of the oldest not evicted.
    open: watch::Sender<(u64, u64)>,
    /// The most open streams of notifications.
    most: usize,
}

#[derive(Default)]
struct Kept {
    strands: u64,
    /// Numbers of the open streams, the newest last.
    streams: Vec<u64>,
    turns: u64,
    /// Whether a stream that has ended had sent something: it may not have arrived.
    unsure: bool,
    /// Streams of requests that are still running.
    open: HashSet<Strand>,
    numbers: u64,
    sent: VecDeque<(Mark, Bytes)>,
    bytes: usize,
}

/// The messages that a resuming client has missed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Missed {
    /// Exactly these.
    All(Vec<(Mark, Bytes)>),
    /// More than the buffer holds, or unknown.
    More,
}

/// One open stream of notifications. Dropping it hands over to the one before.
pub(crate) struct Turn {
    number: u64,
    pub(crate) strand: Strand,
    told: bool,
    session: Weak<Session>,
    open: watch::Receiver<(u64, u64)>,
}

/// Resolves when newer streams evict this one.
pub(crate) struct End {
    number: u64,
    open: watch::Receiver<(u64, u64)>,
}

impl Replay {
    /// An empty buffer for at most `most` streams (at least one).
    pub(crate) fn new(most: usize) -> Self {
        let (kept, grew) = (Mutex::default(), Notify::new());
        Self { kept, grew, open: watch::Sender::new((0, 0)), most: most.max(1) }
    }

    /// Opens a stream of notifications and returns what the client missed since `last`. Beyond
    /// the limit, the oldest stream ends.
    pub(crate) fn begin(&self, session: &Arc<Session>, last: Option<Mark>) -> (Turn, Missed) {
        let mut kept = self.kept();
        let known = last.and_then(|mark| Some((mark.strand, kept.after(mark)?)));
        let (strand, missed) = match known {
            Some(known) => known,
            None => {
                kept.strands += 1;
                let missed = if std::mem::take(&mut kept.unsure) {
                    Missed::More
                } else {
                    Missed::All(Vec::new())
                };
                (Strand::Changes(kept.strands), missed)
            }
        };
        kept.turns += 1;
        let number = kept.turns;
        kept.streams.push(number);
        let too_many = kept.streams.len().saturating_sub(self.most);
        kept.streams.drain(..too_many);
        self.open.send_replace(kept.open());
        let (session, open) = (Arc::downgrade(session), self.open.subscribe());
        (Turn { number, strand, told: false, session, open }, missed)
    }

    /// Takes, numbers and keeps the next message, if `turn` is the newest stream.
    pub(crate) fn tell(
        &self,
        turn: &mut Turn,
        take: impl FnOnce() -> Option<Outgoing>,
    ) -> Option<(Mark, Outgoing)> {
        let mut kept = self.kept();
        if kept.open().0 != turn.number {
            return None;
        }
        let message = take()?;
        turn.told = true;
        Some(match message.into_bytes() {
            Ok(bytes) => (kept.mark(turn.strand, Some(&bytes)), Outgoing::ready(bytes)),
            Err(message) => (kept.mark(turn.strand, None), message),
        })
    }

    /// Opens a stream for the answer to a request, until its [`end`](Self::end).
    pub(crate) fn answer(&self) -> Strand {
        let mut kept = self.kept();
        kept.strands += 1;
        let strand = Strand::Answer(kept.strands);
        kept.open.insert(strand);
        strand
    }

    /// Closes the stream of an answer.
    pub(crate) fn end(&self, strand: Strand) {
        self.kept().open.remove(&strand);
        self.grew.notify_waiters();
    }

    /// Numbers a message and keeps it for replay; `None` only takes a number.
    pub(crate) fn mark(&self, strand: Strand, message: Option<&Bytes>) -> Mark {
        let mark = self.kept().mark(strand, message);
        self.grew.notify_waiters();
        mark
    }

    /// The messages after `mark` on its stream; `None` if the session has not got that far.
    fn after(&self, mark: Mark) -> Option<Missed> {
        self.kept().after(mark)
    }

    /// Waits for messages after `mark`; `None` if there will be none.
    pub(crate) async fn wait_after(&self, mark: Mark) -> Option<Vec<(Mark, Bytes)>> {
        loop {
            let grew = self.grew.notified();
            tokio::pin!(grew);
            grew.as_mut().enable();
            let open = self.kept().open.contains(&mark.strand);
            match self.after(mark) {
                Some(Missed::All(missed)) if !missed.is_empty() => return Some(missed),
                Some(Missed::All(_)) if open => grew.await,
                _ => return None,
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn open(&self) -> (u64, u64) {
        let newest = self.streams.last().copied().unwrap_or(0);
        (newest, self.streams.first().copied().unwrap_or(0))
    }

    fn mark(&mut self, strand: Strand, message: Option<&Bytes>) -> Mark {
        self.numbers += 1;
        let mark = Mark { strand, number: self.numbers };
        if let Some(message) = message {
            self.bytes += message.len();
            self.sent.push_back((mark, message.clone()));
        }
        while self.sent.len() > MESSAGES || self.bytes > BYTES {
            let Some((_, gone)) = self.sent.pop_front() else { break };
            self.bytes -= gone.len();
        }
        mark
    }

    fn after(&self, mark: Mark) -> Option<Missed> {
        if mark.strand.number() > self.strands || mark.number > self.numbers {
            return None;
        }
        let oldest = self.sent.front().map_or(self.numbers + 1, |(oldest, _)| oldest.number);
        if matches!(mark.strand, Strand::Changes(_)) && mark.number + 1 < oldest {
            return Some(Missed::More);
        }
        let later =
            |(sent, _): &&(Mark, Bytes)| sent.strand == mark.strand && sent.number > mark.number;
        Some(Missed::All(self.sent.iter().filter(later).cloned().collect()))
    }
}

impl Turn {
    /// Waits until this is the newest stream.
    pub(crate) async fn comes(&mut self) {
        let number = self.number;
        let _ = self.open.wait_for(|(newest, _)| *newest == number).await;
    }

    /// Waits until a newer stream opens.
    pub(crate) async fn passes(&mut self) {
        let number = self.number;
        let _ = self.open.wait_for(|(newest, _)| *newest != number).await;
    }

    /// Watches for the eviction of this stream.
    pub(crate) fn end(&self) -> End {
        End { number: self.number, open: self.open.clone() }
    }
}

impl End {
    pub(crate) async fn comes(&mut self) {
        let number = self.number;
        if self.open.wait_for(|(_, oldest)| *oldest > number).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(session) = self.session.upgrade() else { return };
        let mut kept = session.replay.kept();
        kept.unsure |= self.told;
        kept.streams.retain(|number| *number != self.number);
        session.replay.open.send_replace(kept.open());
    }
}

impl Strand {
    fn number(self) -> u64 {
        match self {
            Self::Changes(number) | Self::Answer(number) => number,
        }
    }
}

impl Mark {
    /// Parses a `Last-Event-ID`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (strand, number) = text.split_once('.')?;
        let number = number.parse().ok()?;
        let strand = match strand.split_at_checked(1)? {
            ("c", strand) => Strand::Changes(strand.parse().ok()?),
            ("a", strand) => Strand::Answer(strand.parse().ok()?),
            _ => return None,
        };
        Some(Self { strand, number })
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.strand {
            Strand::Changes(_) => 'c',
            Strand::Answer(_) => 'a',
        };
        write!(f, "{kind}{}.{}", self.strand.number(), self.number)
    }
}

#[cfg(test)]
mod tests;
