//! SSE encoding of messages, keep-alives, and the HTTP+SSE transport of 2024-11-05.

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

/// Keep-alive interval of an idle stream.
const KEEP_ALIVE: Duration = Duration::from_secs(25);

/// Delay before a client should reconnect, in milliseconds.
const RETRY_MS: u32 = 1000;

const MESSAGE: &str = "event: message\ndata: ";

/// One SSE event.
pub(crate) enum Event {
    /// A message without an event id.
    Message(Outgoing),
    /// A message with an event id, from which a client can resume.
    Marked(Mark, Outgoing),
    /// A priming event: an event id and a retry delay, without data.
    Prime(Mark),
    /// The address to which the client posts its messages (2024-11-05).
    Endpoint(String),
    /// A keep-alive.
    Comment,
}

/// A response that sends `events` as SSE.
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

/// Frames a message as an event. A small one is a single chunk, so that it is written at once.
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

/// Puts a priming event, if any, before `events`.
pub(crate) fn primed(
    prime: Option<Mark>,
    events: impl Stream<Item = Event> + Send,
) -> impl Stream<Item = Event> + Send {
    stream::iter(prime.map(Event::Prime)).chain(events)
}

/// Opens a session of HTTP+SSE (2024-11-05): one SSE stream for all answers; the client posts its
/// messages to the address in the first event.
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

/// Ends the session when the stream is dropped.
struct Open {
    site: Arc<Site>,
    id: String,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.site.sessions.end(&self.id);
    }
}

/// State of the SSE stream: messages, and keep-alives in between.
struct Feed {
    messages: mpsc::Receiver<Outgoing>,
    pipe: Arc<Conversation>,
    /// Waits for the requests in flight, once the server shuts down.
    finishing: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    beat: Interval,
    closing: watch::Receiver<bool>,
    /// Ends the session on drop.
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

/// Timer of keep-alives.
pub(crate) fn beat() -> Interval {
    let mut beat = time::interval_at(time::Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}
