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

use super::body::HttpBody;
use super::replay::{EventId, EvictionSignal, LiveStream, MissedMessages, StreamId};
use super::requester::Requester;
use super::sessions::HttpSession;
use super::sse::{self, OutgoingEvent};
use super::{HttpServer, too_many_streams};
use crate::transport::fair_share::{Activity, Eviction, Place};
use crate::transport::wait_for_signal;

/// Opens a stream, or resumes the one of the event id `last`.
pub(crate) async fn open_or_resume(
    http: &HttpServer,
    session: Arc<HttpSession>,
    client: &Requester,
    last: Option<EventId>,
) -> Response<HttpBody> {
    let Some(place) = http.streams.take(&client.owner()) else { return too_many_streams() };
    if let Some(mark @ EventId { stream: StreamId::Answer(_), .. }) = last {
        return match session.try_stream_permit() {
            Some(permit) => sse::sse_response(resume_answer(session, mark, (permit, place))),
            None => HttpBody::refusal(
                StatusCode::TOO_MANY_REQUESTS,
                "this session has too many open streams; close one",
            ),
        };
    }
    session.subscriber.subscribe_to_lists().await;
    let (turn, missed) = session.replay_buffer.open_live_stream(&session, last);
    let resumed = last.filter(|mark| mark.stream == turn.stream);
    let again = match missed {
        MissedMessages::All(missed) => VecDeque::from(missed),
        MissedMessages::Unknown => {
            // A notification is only a hint to read again: sending all of them loses nothing.
            session.subscriber.resend_all();
            VecDeque::new()
        }
    };
    let primes = session.terms().is_some_and(|terms| terms.revision.primes_streams());
    // A resumed stream repeats the id it resumes from: if it breaks here, nothing is lost.
    let prime = primes.then(|| match resumed {
        Some(mark) => mark,
        None => session.replay_buffer.record(turn.stream, None),
    });
    let feed = NotificationStream {
        ended: session.end_signal(),
        _activity: session.begin_activity(),
        evicted: place.eviction(),
        place,
        closing: http.closing.clone(),
        keep_alive: sse::keep_alive_timer(),
        eviction: turn.eviction(),
        session,
        live: turn,
        replayed: again,
    };
    let rest = stream::unfold(feed, |mut feed| async move {
        let event = feed.next_event().await?;
        Some((event, feed))
    });
    sse::sse_response(sse::with_priming_event(prime, rest))
}

/// The rest of an answer whose stream broke.
fn resume_answer(
    session: Arc<HttpSession>,
    event: EventId,
    place: (OwnedSemaphorePermit, Place),
) -> impl Stream<Item = OutgoingEvent> + Send {
    let state = (session, event, VecDeque::new(), place);
    stream::unfold(state, |(session, mut mark, mut again, place)| async move {
        if again.is_empty() {
            again = VecDeque::from(session.replay_buffer.wait_for_missed(mark).await?);
        }
        let message: Bytes;
        (mark, message) = again.pop_front()?;
        Some((
            OutgoingEvent::MessageWithId(mark, Outgoing::from_bytes(message)),
            (session, mark, again, place),
        ))
    })
}

/// State of a stream of notifications: messages to replay, then new ones, and keep-alives.
struct NotificationStream {
    session: Arc<HttpSession>,
    live: LiveStream,
    eviction: EvictionSignal,
    /// Messages to replay.
    replayed: VecDeque<(EventId, Bytes)>,
    keep_alive: Interval,
    ended: watch::Receiver<bool>,
    closing: watch::Receiver<bool>,
    /// Keeps the session alive.
    _activity: Activity,
    place: Place,
    evicted: Eviction,
}

impl NotificationStream {
    async fn next_event(&mut self) -> Option<OutgoingEvent> {
        if let Some((mark, message)) = self.replayed.pop_front() {
            return Some(OutgoingEvent::MessageWithId(mark, Outgoing::from_bytes(message)));
        }
        let Self { session, live: turn, eviction: end, keep_alive: beat, .. } = self;
        let Self { ended, closing, place, evicted, .. } = self;
        loop {
            tokio::select! {
                biased;
                () = wait_for_signal(ended) => return None,
                () = wait_for_signal(closing) => return None,
                () = end.wait() => return None,
                () = evicted.wait() => return None,
                _ = beat.tick() => return Some(OutgoingEvent::KeepAlive),
                () = wait_for_notification(turn, session) => {}
            }
            let take = || session.subscriber.try_next().map(|notice| notice.encode());
            if let Some((mark, message)) = session.replay_buffer.send_next(turn, take) {
                place.touch();
                return Some(OutgoingEvent::MessageWithId(mark, message));
            }
        }
    }
}

/// Waits until this stream is the newest and a notification is ready.
async fn wait_for_notification(live: &mut LiveStream, session: &HttpSession) {
    loop {
        live.wait_until_newest().await;
        tokio::select! {
            biased;
            () = live.wait_until_superseded() => {}
            () = session.subscriber.ready() => return,
        }
    }
}
