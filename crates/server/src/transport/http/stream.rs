//! What goes over the streams that a session opens by GET? (through 2025-11-25)

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

/// Opens a stream, or goes on with one whose last message seen was `last`.
pub(crate) async fn open(site: &Site, session: Arc<Session>, last: Option<Mark>) -> Response<Body> {
    if let Some(mark @ Mark { strand: Strand::Answer(_), .. }) = last {
        return match session.stream() {
            Some(place) => events::respond(answer(session, mark, place)),
            None => Body::refused(
                StatusCode::TOO_MANY_REQUESTS,
                "this session has as many streams as it may",
            ),
        };
    }
    session.subscriber.hear_of_lists().await;
    let (turn, missed) = session.replay.begin(&session, last);
    let resumed = last.filter(|mark| mark.strand == turn.strand);
    let again = match missed {
        Missed::All(missed) => VecDeque::from(missed),
        Missed::More => {
            // Notices are hints to read again: to give all of them loses nothing.
            session.subscriber.recall();
            VecDeque::new()
        }
    };
    let primes = session.terms().is_some_and(|terms| terms.revision.primes_streams());
    // Whoever goes on is told where it was, so that it can come back for the same once more.
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
    turn: Turn,
    end: End,
    /// What is sent once more.
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

/// Waits until there is something to tell, and it is for this stream to tell it.
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
