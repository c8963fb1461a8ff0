//! SSE streams of a session, opened by GET: notifications, or the rest of an answer
//! (through 2025-11-25).

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, stream};
use hyper::{Response, StatusCode};
use protocol::Outgoing;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::Interval;

use super::Site;
use super::body::Body;
use super::events::{self, Event};
use super::replay::{End, Mark, Missed, Strand, Turn};
use super::sessions::Session;
use crate::transport::over;

/// Opens a stream, or resumes the one of the event id `last`.
pub(crate) async fn open(site: &Site, session: Arc<Session>, last: Option<Mark>) -> Response<Body> {
    if let Some(mark @ Mark { strand: Strand::Answer(_), .. }) = last {
        return match session.stream() {
            Some(place) => events::respond(answer(session, mark, place)),
            None => Body::refused(
                StatusCode::TOO_MANY_REQUESTS,
                "this session has too many open streams; close one",
            ),
        };
    }
    session.subscriber.hear_of_lists().await;
    let (turn, missed) = session.replay.begin(&session, last);
    let resumed = last.filter(|mark| mark.strand == turn.strand);
    let again = match missed {
        Missed::All(missed) => VecDeque::from(missed),
        Missed::More => {
            // A notification is only a hint to read again: sending all of them loses nothing.
            session.subscriber.recall();
            VecDeque::new()
        }
    };
    let primes = session.terms().is_some_and(|terms| terms.revision.primes_streams());
    // A resumed stream repeats the id it resumes from: if it breaks here, nothing is lost.
    let prime = primes.then(|| match resumed {
        Some(mark) => mark,
        None => session.replay.mark(turn.strand, None),
    });
    let feed = Feed {
        ended: session.ended(),
        closing: site.closing.clone(),
        beat: events::beat(),
        end: turn.end(),
        session,
        turn,
        again,
    };
    let rest = stream::unfold(feed, |mut feed| async move {
        let event = feed.next().await?;
        Some((event, feed))
    });
    events::respond(events::primed(prime, rest))
}

/// The rest of an answer whose stream broke.
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

/// State of a stream of notifications: messages to replay, then new ones, and keep-alives.
struct Feed {
    session: Arc<Session>,
    turn: Turn,
    end: End,
    /// Messages to replay.
    again: VecDeque<(Mark, Bytes)>,
    beat: Interval,
    ended: watch::Receiver<bool>,
    closing: watch::Receiver<bool>,
}

impl Feed {
    async fn next(&mut self) -> Option<Event> {
        if let Some((mark, message)) = self.again.pop_front() {
            return Some(Event::Marked(mark, Outgoing::ready(message)));
        }
        let Self { session, turn, end, beat, ended, closing, .. } = self;
        loop {
            tokio::select! {
                biased;
                () = over(ended) => return None,
                () = over(closing) => return None,
                () = end.comes() => return None,
                _ = beat.tick() => return Some(Event::Comment),
                () = is_due(turn, session) => {}
            }
            let take = || session.subscriber.take().map(|notice| notice.encode());
            if let Some((mark, message)) = session.replay.tell(turn, take) {
                return Some(Event::Marked(mark, message));
            }
        }
    }
}

/// Waits until this stream is the newest and a notification is ready.
async fn is_due(turn: &mut Turn, session: &Session) {
    loop {
        turn.comes().await;
        tokio::select! {
            biased;
            () = turn.passes() => {}
            () = session.subscriber.ready() => return,
        }
    }
}
