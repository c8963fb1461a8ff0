//! What was sent on the streams of a session, in case one of them broke? (through 2025-11-25)

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

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
#[derive(Default)]
pub(crate) struct Replay {
    kept: Mutex<Kept>,
    grew: Notify,
}

#[derive(Default)]
struct Kept {
    strands: u64,
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
    /// More than was kept.
    More,
}

impl Replay {
    /// A stream that tells of changes.
    pub(crate) fn changes(&self) -> Strand {
        let mut kept = self.kept();
        kept.strands += 1;
        Strand::Changes(kept.strands)
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
        let mut kept = self.kept();
        kept.numbers += 1;
        let mark = Mark { strand, number: kept.numbers };
        if let Some(message) = message {
            kept.bytes += message.len();
            kept.sent.push_back((mark, message.clone()));
        }
        while kept.sent.len() > MESSAGES || kept.bytes > BYTES {
            let Some((_, gone)) = kept.sent.pop_front() else { break };
            kept.bytes -= gone.len();
        }
        drop(kept);
        self.grew.notify_waiters();
        mark
    }

    /// What was sent on the stream of `mark` after it; nothing, if it is no mark of ours.
    pub(crate) fn after(&self, mark: Mark) -> Option<Missed> {
        let kept = self.kept();
        if mark.strand.number() > kept.strands || mark.number > kept.numbers {
            return None;
        }
        let oldest = kept.sent.front().map_or(kept.numbers + 1, |(oldest, _)| oldest.number);
        if matches!(mark.strand, Strand::Changes(_)) && mark.number + 1 < oldest {
            return Some(Missed::More);
        }
        let later =
            |(sent, _): &&(Mark, Bytes)| sent.strand == mark.strand && sent.number > mark.number;
        Some(Missed::All(kept.sent.iter().filter(later).cloned().collect()))
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
mod tests {
    use bytes::Bytes;

    use super::{Mark, Missed, Replay};

    fn missed(replay: &Replay, mark: Mark) -> Vec<Bytes> {
        match replay.after(mark) {
            Some(Missed::All(missed)) => missed.into_iter().map(|(_, message)| message).collect(),
            other => panic!("{other:?}"),
        }
    }

    /// HL-07.
    #[test]
    fn what_was_missed_on_one_stream_is_given_and_nothing_of_another() {
        let replay = Replay::default();
        let [one, other] = [replay.changes(), replay.changes()];
        let messages: Vec<Bytes> = (0..10).map(|at| Bytes::from(format!("{at}"))).collect();
        let marks: Vec<Mark> = messages
            .iter()
            .enumerate()
            .map(|(at, message)| replay.mark(if at % 2 == 0 { one } else { other }, Some(message)))
            .collect();
        assert_eq!(missed(&replay, marks[2]), ["4", "6", "8"]);
        assert_eq!(missed(&replay, marks[9]), Vec::<Bytes>::new());
        for mark in marks {
            assert_eq!(Mark::parse(&mark.to_string()), Some(mark));
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_its_loss_is_known() {
        let replay = Replay::default();
        let strand = replay.changes();
        let first = replay.mark(strand, None);
        for _ in 0..1000 {
            replay.mark(strand, Some(&Bytes::from_static(b"message")));
        }
        assert_eq!(replay.after(first), Some(Missed::More));
        assert_eq!(replay.kept().sent.len(), super::MESSAGES);
        for _ in 0..100 {
            replay.mark(strand, Some(&Bytes::from(vec![0; 100_000])));
        }
        assert!(replay.kept().bytes <= super::BYTES);
    }

    #[test]
    fn marks_that_are_not_ours_are_none() {
        let replay = Replay::default();
        for text in
            ["", "c", "c1", "c1.", "x1.1", "c-1.1", "c1.1.1", "é1.1", "c1.99999999999999999999"]
        {
            assert_eq!(Mark::parse(text), None, "{text}");
        }
        assert_eq!(replay.after(Mark::parse("c7.1").unwrap()), None);
        let mark = replay.mark(replay.changes(), None);
        assert_eq!(replay.after(Mark { number: 99, ..mark }), None);
    }
}
