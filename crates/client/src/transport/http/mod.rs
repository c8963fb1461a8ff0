//! HTTP transport: one POST per message, and SSE streams for answers and notifications.

mod event_stream;
mod http_sse;
mod origin;
mod pool;
mod post;
mod unix_connector;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Method, Response, Uri};
use parking_lot::Mutex;
use protocol::header;
use protocol::outbound::request;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;

use super::pending::PendingRequests;
use super::{OutboundMessage, Transport};
use crate::error::Error;
use event_stream::SseStream;
pub(crate) use pool::HttpPool;

/// How many answers to server requests may be in flight.
const MAX_ANSWERS: usize = 64;
/// How long callers wait for the session's notification stream to open.
const STREAM_OPEN_TIMEOUT: Duration = Duration::from_secs(2);

/// The variant of the HTTP transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpVariant {
    /// No session; closing a request's stream cancels it (2026-07-28).
    Stateless,
    /// Streamable HTTP with a session and a notification stream.
    Session,
    /// HTTP+SSE: all answers come on one stream (2024-11-05).
    HttpSse,
}

/// An HTTP transport to one server.
pub(crate) struct HttpTransport(Arc<Inner>);

struct Inner {
    pool: Arc<HttpPool>,
    /// Where to POST messages.
    url: Uri,
    variant: HttpVariant,
    pending: Arc<PendingRequests>,
    max_bytes: usize,
    /// The session id that the server assigned.
    session: OnceLock<HeaderValue>,
    /// The revision that the handshake agreed on.
    revision: OnceLock<HeaderValue>,
    tasks: Mutex<HashMap<TaskKey, AbortHandle>>,
    /// Whether the notification stream is open, or the first attempt to open it has failed.
    stream_ready: watch::Sender<bool>,
    /// Stored because a request may be dropped outside the runtime.
    runtime: Handle,
    is_closed: AtomicBool,
}

/// Key of a running task.
#[derive(Debug, PartialEq, Eq, Hash)]
enum TaskKey {
    Request(u64),
    Notifications,
}

/// A transport for Streamable HTTP, with a session or without.
pub(crate) fn open_streamable(
    pool: Arc<HttpPool>,
    style: HttpVariant,
    pending: &Arc<PendingRequests>,
    most: usize,
) -> HttpTransport {
    let url = pool.url().clone();
    HttpTransport::new(pool, url, style, pending, most)
}

/// A transport for HTTP+SSE (2024-11-05); opens the stream first.
pub(crate) async fn open_http_sse(
    pool: Arc<HttpPool>,
    pending: Arc<PendingRequests>,
    most: usize,
) -> Result<HttpTransport, Error> {
    let (stream, url) = http_sse::open_stream(&pool, most, pending.count_buffer()).await?;
    let http = HttpTransport::new(pool, url, HttpVariant::HttpSse, &pending, most);
    http.0.track_task(
        TaskKey::Notifications,
        tokio::spawn(http_sse::dispatch_until_end(stream, pending)).abort_handle(),
    );
    Ok(http)
}

impl HttpTransport {
    fn new(
        pool: Arc<HttpPool>,
        url: Uri,
        style: HttpVariant,
        pending: &Arc<PendingRequests>,
        most: usize,
    ) -> Self {
        let inner = Arc::new(Inner {
            pool,
            url,
            variant: style,
            pending: Arc::clone(pending),
            max_bytes: most,
            session: OnceLock::new(),
            revision: OnceLock::new(),
            tasks: Mutex::default(),
            stream_ready: watch::Sender::new(style != HttpVariant::Session),
            runtime: Handle::current(),
            is_closed: AtomicBool::new(false),
        });
        // MCP 2026-07-28: servers send no requests, so there is nothing to answer.
        if style != HttpVariant::Stateless {
            let (inner, places) = (Arc::downgrade(&inner), Arc::new(Semaphore::new(MAX_ANSWERS)));
            pending.set_answer_sender(move |message| post_answer(&inner, &places, message));
        }
        Self(inner)
    }
}

/// Posts an answer to a server request; drops it when too many are in flight.
fn post_answer(inner: &Weak<Inner>, places: &Arc<Semaphore>, message: Vec<u8>) {
    let place = Arc::clone(places).try_acquire_owned();
    if let (Some(inner), Ok(place)) = (inner.upgrade(), place) {
        let runtime = inner.runtime.clone();
        runtime.spawn(async move {
            post::post_message(inner, OutboundMessage::plain(message)).await;
            drop(place);
        });
    }
}

#[async_trait]
impl Transport for HttpTransport {
    fn send(&self, message: OutboundMessage) {
        self.0.spawn_post(message);
    }

    async fn send_and_wait(&self, message: Vec<u8>) {
        post::post_message(Arc::clone(&self.0), OutboundMessage::plain(message)).await;
    }

    fn cancel(&self, id: u64, reason: &str) {
        let task = self.0.tasks.lock().remove(&TaskKey::Request(id));
        // MCP 2026-07-28, cancellation: over HTTP, closing the stream cancels. In earlier revisions
        // closing it means nothing.
        if self.0.variant != HttpVariant::Stateless {
            self.0.spawn_post(OutboundMessage::plain(request::encode_cancelled(id, reason)));
        }
        if let Some(task) = task {
            task.abort();
        }
    }

    fn set_revision(&self, revision: &str) {
        if self.0.variant == HttpVariant::Stateless {
            return;
        }
        if let Ok(revision) = HeaderValue::from_str(revision) {
            let _ = self.0.revision.set(revision);
        }
    }

    fn open_notifications(&self) {
        if self.0.variant == HttpVariant::Session {
            let feed =
                tokio::spawn(event_stream::keep_notification_stream(Arc::downgrade(&self.0)));
            self.0.track_task(TaskKey::Notifications, feed.abort_handle());
        }
    }

    async fn wait_for_notifications(&self) {
        let mut heard = self.0.stream_ready.subscribe();
        let _ = tokio::time::timeout(STREAM_OPEN_TIMEOUT, heard.wait_for(|heard| *heard)).await;
    }

    async fn shut_down(&self) {
        if !self.0.abort_tasks() {
            self.0.end_session().await;
        }
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        if self.0.abort_tasks() {
            return;
        }
        let inner = Arc::clone(&self.0);
        self.0.runtime.spawn(async move { inner.end_session().await });
    }
}

impl Inner {
    fn spawn_post(self: &Arc<Self>, message: OutboundMessage) {
        let id = message.id;
        let posting = self.runtime.spawn(post::post_message(Arc::clone(self), message));
        if let Some(id) = id {
            self.track_task(TaskKey::Request(id), posting.abort_handle());
        }
    }

    fn track_task(&self, task: TaskKey, handle: AbortHandle) {
        let mut tasks = self.tasks.lock();
        tasks.retain(|_, handle| !handle.is_finished());
        tasks.insert(task, handle);
    }

    /// Aborts all tasks. Returns whether this was done before.
    fn abort_tasks(&self) -> bool {
        self.tasks.lock().drain().for_each(|(_, task)| task.abort());
        self.is_closed.swap(true, Ordering::Relaxed)
    }

    /// Ends the session with DELETE; the server need not support it.
    async fn end_session(&self) {
        if self.variant == HttpVariant::Session && self.session.get().is_some() {
            let request = self.build_request(Method::DELETE, &[], Vec::new());
            let sent =
                tokio::time::timeout(pool::END_SESSION_TIMEOUT, self.pool.execute(request)).await;
            if !matches!(sent, Ok(Ok(_))) {
                tracing::debug!("cannot end a session at the server");
            }
        }
    }

    /// The events of a response.
    fn follow_response(&self, response: Response<Incoming>) -> SseStream {
        SseStream::new(response, self.max_bytes, self.pending.count_buffer())
    }

    /// Builds an HTTP request with the session and revision headers.
    fn build_request(
        &self,
        method: Method,
        heading: &[(&'static str, String)],
        body: Vec<u8>,
    ) -> pool::OutboundHttpRequest {
        let mut outbound = pool::OutboundHttpRequest::new(method, self.url.clone(), body);
        if self.variant == HttpVariant::Session {
            outbound.set_header(header::SESSION_ID, self.session.get().cloned());
        }
        outbound.set_header(header::PROTOCOL_VERSION, self.revision.get().cloned());
        for (name, value) in heading {
            outbound.set_header(name, HeaderValue::from_str(value).ok());
        }
        outbound
    }
}
