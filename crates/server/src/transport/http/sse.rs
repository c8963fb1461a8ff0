//! SSE encoding of messages, keep-alives, and the HTTP+SSE transport of 2024-11-05.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use hyper::Response;
use protocol::Outgoing;
use resource::{Error, Principal};
use tokio::sync::{mpsc, watch};
use tokio::time::{self, Interval, MissedTickBehavior};

use super::body::HttpBody;
use super::replay::EventId;
use super::requester::Requester;
use super::{HttpServer, PATH, too_many_sessions, too_many_streams};
use crate::clients::ClientTransport;
use crate::transport::duplex_connection::{DuplexConnection, OUTBOUND_QUEUE};
use crate::transport::fair_share::{Eviction, Place};
use crate::transport::wait_for_signal;

/// Keep-alive interval of an idle stream.
const KEEP_ALIVE: Duration = Duration::from_secs(25);

/// Delay before a client should reconnect, in milliseconds.
const RETRY_MS: u32 = 1000;

const MESSAGE: &str = "event: message\ndata: ";

/// One SSE event.
pub(crate) enum OutgoingEvent {
    /// A message without an event id.
    Message(Outgoing),
    /// A message with an event id, from which a client can resume.
    MessageWithId(EventId, Outgoing),
    /// A priming event: an event id and a retry delay, without data.
    Prime(EventId),
    /// The address to which the client posts its messages (2024-11-05).
    Endpoint(String),
    /// A keep-alive.
    KeepAlive,
}

/// A response that sends `events` as SSE.
pub(crate) fn sse_response(
    events: impl Stream<Item = OutgoingEvent> + Send + 'static,
) -> Response<HttpBody> {
    HttpBody::sse(events.flat_map(|event| match event {
        OutgoingEvent::Message(message) => {
            frame_message(Bytes::from_static(MESSAGE.as_bytes()), message)
        }
        OutgoingEvent::MessageWithId(mark, message) => {
            frame_message(format!("id: {mark}\n{MESSAGE}").into(), message)
        }
        OutgoingEvent::Prime(mark) => {
            single_chunk(format!("id: {mark}\nretry: {RETRY_MS}\ndata: \n\n").into())
        }
        OutgoingEvent::Endpoint(uri) => {
            single_chunk(format!("event: endpoint\ndata: {uri}\n\n").into())
        }
        OutgoingEvent::KeepAlive => single_chunk(Bytes::from_static(b":\n\n")),
    }))
}

type EventBytes = Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send>>;

fn single_chunk(bytes: Bytes) -> EventBytes {
    Box::pin(stream::iter([Ok(bytes)]))
}

/// Frames a message as an event. A small one is a single chunk, so that it is written at once.
fn frame_message(head: Bytes, message: Outgoing) -> EventBytes {
    let tail = Bytes::from_static(b"\n\n");
    match message.into_bytes() {
        Ok(bytes) => single_chunk([head, bytes, tail].concat().into()),
        Err(message) => {
            let (head, tail) = (stream::iter([Ok(head)]), stream::iter([Ok(tail)]));
            Box::pin(head.chain(message).chain(tail))
        }
    }
}

/// Puts a priming event, if any, before `events`.
pub(crate) fn with_priming_event(
    prime: Option<EventId>,
    events: impl Stream<Item = OutgoingEvent> + Send,
) -> impl Stream<Item = OutgoingEvent> + Send {
    stream::iter(prime.map(OutgoingEvent::Prime)).chain(events)
}

/// Opens a session of HTTP+SSE (2024-11-05): one SSE stream for all answers; the client posts its
/// messages to the address in the first event.
pub(crate) fn open_sse_session(http: &Arc<HttpServer>, client: &Requester) -> Response<HttpBody> {
    let (principal, owner) = (client.principal.clone(), client.owner());
    let Some(place) = http.streams.take(&owner) else { return too_many_streams() };
    let (out, messages) = mpsc::channel(OUTBOUND_QUEUE);
    // The audit records what the client posts.
    let sender = (principal.clone(), ClientTransport::Sse);
    let pipe = DuplexConnection::new(Arc::clone(&http.server), out, sender, None);
    let opened = (None, Some(Arc::clone(&pipe)));
    let opener = (principal.clone(), &owner);
    let Some(id) = http.sessions.open_session(&http.server, opener, opened) else {
        return too_many_sessions();
    };
    let ended = http.sessions.find(&id, &principal).map(|session| session.end_signal());
    let endpoint = format!("{PATH}?sessionId={id}");
    let open = SseSessionGuard { http: Arc::clone(http), id, principal };
    let closing = http.closing.clone();
    let feed = SseSessionStream {
        messages,
        connection: pipe,
        draining: None,
        keep_alive: keep_alive_timer(),
        closing,
        ended,
        evicted: place.eviction(),
        place,
        _session_guard: open,
    };
    sse_response(stream::iter([OutgoingEvent::Endpoint(endpoint)]).chain(feed.into_events()))
}

/// Ends the session when the stream is dropped.
struct SseSessionGuard {
    http: Arc<HttpServer>,
    id: String,
    principal: Principal,
}

impl Drop for SseSessionGuard {
    fn drop(&mut self) {
        self.http.sessions.end_session(&self.id, &self.principal);
    }
}

/// State of the SSE stream: messages, and keep-alives in between.
struct SseSessionStream {
    messages: mpsc::Receiver<Outgoing>,
    connection: Arc<DuplexConnection>,
    /// Waits for the requests in flight, once the server shuts down.
    draining: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    keep_alive: Interval,
    closing: watch::Receiver<bool>,
    /// True once the session ends; `None` if it has ended already.
    ended: Option<watch::Receiver<bool>>,
    place: Place,
    evicted: Eviction,
    /// Ends the session on drop.
    _session_guard: SseSessionGuard,
}

impl SseSessionStream {
    fn into_events(self) -> impl Stream<Item = OutgoingEvent> + Send {
        stream::unfold(self, |mut feed| async move {
            feed.next_event().await.map(|event| (event, feed))
        })
    }

    async fn next_event(&mut self) -> Option<OutgoingEvent> {
        if self.draining.is_none() {
            tokio::select! {
                biased;
                message = self.messages.recv() => {
                    self.place.touch();
                    return message.map(OutgoingEvent::Message);
                }
                () = wait_for_signal(self.ended.as_mut()?) => return None,
                () = self.evicted.wait() => return None,
                _ = self.keep_alive.tick() => return Some(OutgoingEvent::KeepAlive),
                () = wait_for_signal(&mut self.closing) => {}
            }
            let pipe = Arc::clone(&self.connection);
            self.draining = Some(Box::pin(async move { pipe.drain().await }));
        }
        tokio::select! {
            biased;
            message = self.messages.recv() => message.map(OutgoingEvent::Message),
            () = self.draining.as_mut()? => {
                self.draining = Some(Box::pin(std::future::ready(())));
                self.messages.try_recv().ok().map(OutgoingEvent::Message)
            }
        }
    }
}

/// Timer of keep-alives.
pub(crate) fn keep_alive_timer() -> Interval {
    let mut beat = time::interval_at(time::Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}
