//! How do messages travel as events?

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use hyper::{Response, StatusCode};
use protocol::Outgoing;
use resource::Error;
use tokio::sync::{mpsc, watch};
use tokio::time::{self, Interval, MissedTickBehavior};

use super::body::Body;
use super::replay::Mark;
use super::{PATH, Site};
use crate::transport::conversation::{Conversation, WAITING};
use crate::transport::over;

/// How often a silent stream says that it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(25);

/// How soon a client whose stream broke should come back.
const RETRY_MS: u32 = 1000;

const MESSAGE: &str = "event: message\ndata: ";

/// What a stream of events may carry.
pub(crate) enum Event {
    /// A message.
    Message(Outgoing),
    /// A message that can be asked for again.
    Marked(Mark, Outgoing),
    /// Nothing but where to go on from, and how soon.
    Prime(Mark),
    /// Where messages are to be posted (2024-11-05).
    Endpoint(String),
    /// A sign of life.
    Comment,
}

/// A response that carries `events` until they end.
pub(crate) fn respond(events: impl Stream<Item = Event> + Send + 'static) -> Response<Body> {
    Body::events(events.flat_map(|event| match event {
        Event::Message(message) => framed(Bytes::from_static(MESSAGE.as_bytes()), message),
        Event::Marked(mark, message) => framed(format!("id: {mark}\n{MESSAGE}").into(), message),
        Event::Prime(mark) => plain(format!("id: {mark}\nretry: {RETRY_MS}\ndata: \n\n").into()),
        Event::Endpoint(uri) => plain(format!("event: endpoint\ndata: {uri}\n\n").into()),
        Event::Comment => plain(Bytes::from_static(b":\n\n")),
    }))
}

type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send>>;

fn plain(bytes: Bytes) -> Chunks {
    Box::pin(stream::iter([Ok(bytes)]))
}

/// A small message is one chunk, so that it is written at once.
fn framed(head: Bytes, message: Outgoing) -> Chunks {
    let tail = Bytes::from_static(b"\n\n");
    match message.into_bytes() {
        Ok(bytes) => plain([head, bytes, tail].concat().into()),
        Err(message) => {
            let (head, tail) = (stream::iter([Ok(head)]), stream::iter([Ok(tail)]));
            Box::pin(head.chain(message).chain(tail))
        }
    }
}

/// The same events, after one that says where they begin.
pub(crate) fn primed(
    prime: Option<Mark>,
    events: impl Stream<Item = Event> + Send,
) -> impl Stream<Item = Event> + Send {
    stream::iter(prime.map(Event::Prime)).chain(events)
}

/// Opens a session over one lasting stream, whose messages are posted to another address
/// (HTTP+SSE, 2024-11-05).
pub(crate) fn open(site: &Arc<Site>) -> Response<Body> {
    let (out, messages) = mpsc::channel(WAITING);
    let pipe = Conversation::new(Arc::clone(&site.server), out);
    let Some(id) = site.sessions.begin(&site.server, None, Some(Arc::clone(&pipe))) else {
        return Body::refused(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open");
    };
    let endpoint = format!("{PATH}?sessionId={id}");
    let open = Open { site: Arc::clone(site), id };
    let closing = site.closing.clone();
    let feed = Feed { messages, pipe, finishing: None, beat: beat(), closing, _open: open };
    respond(stream::iter([Event::Endpoint(endpoint)]).chain(feed.stream()))
}

/// A session that ends when its one stream does.
struct Open {
    site: Arc<Site>,
    id: String,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.site.sessions.end(&self.id);
    }
}

/// Messages as they come, and signs of life in between.
struct Feed {
    messages: mpsc::Receiver<Outgoing>,
    pipe: Arc<Conversation>,
    /// What is still under way when the server stops.
    finishing: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    beat: Interval,
    closing: watch::Receiver<bool>,
    /// What is let go of when the stream ends.
    _open: Open,
}

impl Feed {
    fn stream(self) -> impl Stream<Item = Event> + Send {
        stream::unfold(self, |mut feed| async move { feed.next().await.map(|event| (event, feed)) })
    }

    async fn next(&mut self) -> Option<Event> {
        if self.finishing.is_none() {
            tokio::select! {
                biased;
                message = self.messages.recv() => return message.map(Event::Message),
                _ = self.beat.tick() => return Some(Event::Comment),
                () = over(&mut self.closing) => {}
            }
            let pipe = Arc::clone(&self.pipe);
            self.finishing = Some(Box::pin(async move { pipe.finish().await }));
        }
        tokio::select! {
            biased;
            message = self.messages.recv() => message.map(Event::Message),
            () = self.finishing.as_mut()? => {
                self.finishing = Some(Box::pin(std::future::ready(())));
                self.messages.try_recv().ok().map(Event::Message)
            }
        }
    }
}

/// The pace of signs of life.
pub(crate) fn beat() -> Interval {
    let mut beat = time::interval_at(time::Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}
