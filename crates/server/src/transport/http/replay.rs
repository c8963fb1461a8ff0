//! What was sent on the streams of a session, in case one of them broke? (through 2025-11-25)
//!
//! Changes go over the stream that was opened last: an older one may have broken without our
//! knowing. When it ends, the one before it takes over. Who may tell, what is told and what is
//! kept of it is decided under one lock, so that nothing falls between two streams.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use protocol::Outgoing;
use tokio::sync::{Notify, watch};

use super::sessions::Session;

/// How many messages are kept.
const MESSAGES: usize = 256;

/// How many bytes they may take.
const BYTES: usize = 256 * 1024;

/// Which message it was, on which stream: the id of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) strand: Strand,
    number: u64,
}

/// One stream of a session, which may go over several connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Strand {
    /// It tells of changes, without an end.
    Changes(u64),
    /// It answers one request.
    Answer(u64),
}

/// The messages sent last.
pub(crate) struct Replay {
    kept: Mutex<Kept>,
    grew: Notify,
    /// The streams that may be open: the newest, which tells, and the oldest that is not ended.
    open: watch::Sender<(u64, u64)>,
    /// How many streams may be open.
    most: usize,
}

#[derive(Default)]
struct Kept {
    strands: u64,
    /// The streams that are open, the newest last.
    streams: Vec<u64>,
    turns: u64,
    /// Whether something was told over a stream that has ended since.
    unsure: bool,
    /// Requests that are still being answered.
    open: HashSet<Strand>,
    numbers: u64,
    sent: VecDeque<(Mark, Bytes)>,
    bytes: usize,
}

/// What a client that comes back has missed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Missed {
    /// These.
    All(Vec<(Mark, Bytes)>),
    /// More than was kept, or what cannot be known.
    More,
}

/// One stream of changes, until it is dropped.
pub(crate) struct Turn {
    number: u64,
    pub(crate) strand: Strand,
    told: bool,
    session: Weak<Session>,
    open: watch::Receiver<(u64, u64)>,
}

/// The end of a stream for which there is no place any more.
pub(crate) struct End {
    number: u64,
    open: watch::Receiver<(u64, u64)>,
}

impl Replay {
    /// Nothing sent yet; at most so many streams at once.
    pub(crate) fn new(most: usize) -> Self {
        let (kept, grew) = (Mutex::default(), Notify::new());
        Self { kept, grew, open: watch::Sender::new((0, 0)), most: most.max(1) }
    }

    /// A stream that tells of changes, and what was missed since `last` of them. Where there are
    /// too many, the oldest ends.
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

    /// The next message of `turn`, if it may still tell and `take` gives one.
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

    /// A stream that answers a request, until it is [`ended`](Self::end).
    pub(crate) fn answer(&self) -> Strand {
        let mut kept = self.kept();
        kept.strands += 1;
        let strand = Strand::Answer(kept.strands);
        kept.open.insert(strand);
        strand
    }

    /// Nothing more is sent on `strand`.
    pub(crate) fn end(&self, strand: Strand) {
        self.kept().open.remove(&strand);
        self.grew.notify_waiters();
    }

    /// Keeps what is about to be sent, unless it is too much to keep, and marks it.
    pub(crate) fn mark(&self, strand: Strand, message: Option<&Bytes>) -> Mark {
        let mark = self.kept().mark(strand, message);
        self.grew.notify_waiters();
        mark
    }

    /// What was sent on the stream of `mark` after it; nothing, if it is no mark of ours.
    fn after(&self, mark: Mark) -> Option<Missed> {
        self.kept().after(mark)
    }

    /// The same, once there is something; nothing, if there will never be.
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
    /// Waits until no newer stream is open.
    pub(crate) async fn comes(&mut self) {
        let number = self.number;
        let _ = self.open.wait_for(|(newest, _)| *newest == number).await;
    }

    /// Waits until a newer stream is open.
    pub(crate) async fn passes(&mut self) {
        let number = self.number;
        let _ = self.open.wait_for(|(newest, _)| *newest != number).await;
    }

    /// Tells when there are too many that are newer.
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
    /// Reads what a client says it has seen last.
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
