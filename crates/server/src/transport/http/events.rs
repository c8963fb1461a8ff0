//! How do messages travel as events?

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use hyper::{Response, StatusCode};
use protocol::Outgoing;
use resource::Error;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::{self, Interval, MissedTickBehavior};

use super::body::Body;
use super::{PATH, Site, over};
use crate::transport::conversation::{Conversation, WAITING};

/// How often a silent stream says that it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What a stream of events may carry.
pub(crate) enum Event {
    /// A message.
    Message(Outgoing),
    /// Where messages are to be posted (2024-11-05).
    Endpoint(String),
    /// A sign of life.
    Comment,
}

/// A response that carries `events` until they end.
pub(crate) fn respond(events: impl Stream<Item = Event> + Send + 'static) -> Response<Body> {
    Body::events(events.flat_map(|event| match event {
        Event::Message(message) => {
            framed("event: message\ndata: ", message).left_stream().left_stream()
        }
        Event::Endpoint(uri) => {
            let text = format!("event: endpoint\ndata: {uri}\n\n");
            stream::iter([Ok(Bytes::from(text))]).right_stream().left_stream()
        }
        Event::Comment => stream::iter([Ok(Bytes::from_static(b":\n\n"))]).right_stream(),
    }))
}

fn framed(
    head: &'static str,
    message: Outgoing,
) -> impl Stream<Item = Result<Bytes, Error>> + Send {
    let head = stream::iter([Ok(Bytes::from_static(head.as_bytes()))]);
    head.chain(message).chain(stream::iter([Ok(Bytes::from_static(b"\n\n"))]))
}

/// The stream of a session that has nothing to say but that it lives.
pub(crate) fn idle(
    place: OwnedSemaphorePermit,
    ended: watch::Receiver<bool>,
    closing: watch::Receiver<bool>,
) -> Response<Body> {
    let feed = Feed { messages: None, beat: beat(), ended: Some(ended), closing, _kept: place };
    respond(feed.stream())
}

/// Opens a session over one lasting stream, whose messages are posted to another address
/// (HTTP+SSE, 2024-11-05).
pub(crate) fn open(site: &Arc<Site>) -> Response<Body> {
    let (out, messages) = mpsc::channel(WAITING);
    let conversation = Conversation::new(Arc::clone(&site.server), out);
    let Some(id) = site.sessions.begin(None, Some(conversation)) else {
        return Body::refused(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open");
    };
    let endpoint = format!("{PATH}?sessionId={id}");
    let open = Open { site: Arc::clone(site), id };
    let closing = site.closing.clone();
    let feed = Feed { messages: Some(messages), beat: beat(), ended: None, closing, _kept: open };
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
struct Feed<K> {
    messages: Option<mpsc::Receiver<Outgoing>>,
    beat: Interval,
    /// Turns true with the end of a session that may outlive the stream.
    ended: Option<watch::Receiver<bool>>,
    closing: watch::Receiver<bool>,
    /// What is let go of when the stream ends.
    _kept: K,
}

impl<K: Send + 'static> Feed<K> {
    fn stream(self) -> impl Stream<Item = Event> + Send {
        stream::unfold(self, |mut feed| async move { feed.next().await.map(|event| (event, feed)) })
    }

    async fn next(&mut self) -> Option<Event> {
        let Self { messages, beat, ended, closing, .. } = self;
        let message = async {
            match messages {
                Some(messages) => messages.recv().await,
                None => std::future::pending().await,
            }
        };
        let ended = async {
            match ended {
                Some(ended) => over(ended).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            message = message => message.map(Event::Message),
            _ = beat.tick() => Some(Event::Comment),
            () = ended => None,
            () = over(closing) => None,
        }
    }
}

fn beat() -> Interval {
    let mut beat = time::interval_at(time::Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}
