//! What goes over the streams that a session opens by GET? (through 2025-11-25)
//!
//! Changes go over the stream that was opened last: an older one may have broken without our
//! knowing. When it ends, the one before it takes over.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::{Stream, stream};
use hyper::Response;
use protocol::{Notice, Outgoing};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::Interval;

use super::Site;
use super::body::Body;
use super::events::{self, Event};
use super::replay::{Mark, Missed, Strand};
use super::sessions::Session;
use crate::methods::subscriptions::Subscriber;
use crate::transport::over;

/// Opens a stream, or goes on with one whose last message seen was `last`.
pub(crate) async fn open(
    site: &Site,
    session: Arc<Session>,
    place: OwnedSemaphorePermit,
    last: Option<Mark>,
) -> Response<Body> {
    let missed = last.and_then(|mark| Some((mark, session.replay.after(mark)?)));
    if let Some((mark @ Mark { strand: Strand::Answer(_), .. }, _)) = missed {
        return events::respond(answer(session, mark, place));
    }
    session.subscriber.hear_of_lists().await;
    let (strand, again) = match missed {
        Some((mark, Missed::All(missed))) => (mark.strand, missed.into()),
        Some((mark, Missed::More)) => {
            // Notices are hints to read again: to give all of them loses nothing.
            session.subscriber.recall();
            (mark.strand, VecDeque::new())
        }
        None => (session.replay.changes(), VecDeque::new()),
    };
    let primes = session.terms.is_some_and(|terms| terms.revision.primes_streams());
    let prime = primes.then(|| session.replay.mark(strand, None));
    let feed = Feed {
        turn: session.turns.begin(),
        ended: session.ended(),
        closing: site.closing.clone(),
        beat: events::beat(),
        session,
        strand,
        again,
        _place: place,
    };
    let rest = stream::unfold(feed, |mut feed| async move {
        let event = feed.next().await?;
        Some((event, feed))
    });
    events::respond(events::primed(prime, rest))
}

/// The rest of the answer to a request whose own stream broke.
fn answer(
    session: Arc<Session>,
    mark: Mark,
    place: OwnedSemaphorePermit,
) -> impl Stream<Item = Event> + Send {
    let state = (session, mark, VecDeque::new(), place);
    stream::unfold(state, |(session, mut mark, mut again, place)| async move {
        if again.is_empty() {
            again = VecDeque::from(session.replay.wait_after(mark).await?);
        }
        let message: Bytes;
        (mark, message) = again.pop_front()?;
        Some((Event::Marked(mark, Outgoing::ready(message)), (session, mark, again, place)))
    })
}

/// Changes as they come, and signs of life in between.
struct Feed {
    session: Arc<Session>,
    strand: Strand,
    /// What is sent once more.
    again: VecDeque<(Mark, Bytes)>,
    turn: Turn,
    beat: Interval,
    ended: watch::Receiver<bool>,
    closing: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
}

impl Feed {
    async fn next(&mut self) -> Option<Event> {
        if let Some((mark, message)) = self.again.pop_front() {
            return Some(Event::Marked(mark, Outgoing::ready(message)));
        }
        let Self { session, turn, beat, ended, closing, .. } = self;
        let notice = tokio::select! {
            biased;
            () = over(ended) => return None,
            () = over(closing) => return None,
            notice = turn.next(&session.subscriber) => notice,
            _ = beat.tick() => return Some(Event::Comment),
        };
        let message = notice.encode();
        Some(match message.into_bytes() {
            Ok(bytes) => {
                let mark = session.replay.mark(self.strand, Some(&bytes));
                Event::Marked(mark, Outgoing::ready(bytes))
            }
            Err(message) => Event::Marked(session.replay.mark(self.strand, None), message),
        })
    }
}

/// The streams of a session that wait to tell of changes.
#[derive(Default)]
pub(crate) struct Turns {
    waiting: Arc<Mutex<Vec<u64>>>,
    /// Whose turn it is.
    newest: watch::Sender<u64>,
}

/// One stream's place among them.
struct Turn {
    number: u64,
    waiting: Arc<Mutex<Vec<u64>>>,
    newest: watch::Sender<u64>,
    turns: watch::Receiver<u64>,
}

impl Turns {
    fn begin(&self) -> Turn {
        let mut waiting = lock(&self.waiting);
        let number = waiting.last().map_or(1, |last| last + 1);
        waiting.push(number);
        self.newest.send_replace(number);
        let (newest, turns) = (self.newest.clone(), self.newest.subscribe());
        Turn { number, waiting: Arc::clone(&self.waiting), newest, turns }
    }
}

impl Turn {
    /// The next thing to tell, while no newer stream is open.
    async fn next(&mut self, subscriber: &Subscriber) -> Notice {
        loop {
            self.is_ours(true).await;
            tokio::select! {
                biased;
                () = self.is_ours(false) => {}
                notice = subscriber.next() => return notice,
            }
        }
    }

    async fn is_ours(&mut self, ours: bool) {
        let number = self.number;
        let _ = self.turns.wait_for(|newest| (*newest == number) == ours).await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut waiting = lock(&self.waiting);
        waiting.retain(|number| *number != self.number);
        self.newest.send_replace(waiting.last().copied().unwrap_or(0));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::Turns;

    #[tokio::test]
    async fn the_newest_stream_tells_and_the_one_before_takes_over() {
        let turns = Turns::default();
        let (mut first, mut second) = (turns.begin(), turns.begin());
        assert!(first.is_ours(true).now_or_never().is_none());
        assert!(second.is_ours(true).now_or_never().is_some());
        let third = turns.begin();
        assert!(second.is_ours(true).now_or_never().is_none());
        drop(second);
        assert!(first.is_ours(true).now_or_never().is_none());
        drop(third);
        assert!(first.is_ours(true).now_or_never().is_some());
    }
}
