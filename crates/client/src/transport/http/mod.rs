//! HTTP transport: one POST per message, and SSE streams for answers and notifications.

mod feed;
mod older;
mod origin;
mod pool;
mod post;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use hyper::header::HeaderValue;
use hyper::{Method, Uri};
use protocol::{ask, header};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;

use super::board::Board;
use super::{Parcel, Wire};
use crate::error::Error;
pub(crate) use pool::Pool;

/// How many answers to server requests may be in flight.
const ANSWERS: usize = 64;
/// How long callers wait for the session's notification stream to open.
const LISTENING: Duration = Duration::from_secs(2);

/// The variant of the HTTP transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// No session; closing a request's stream cancels it (2026-07-28).
    Alone,
    /// Streamable HTTP with a session and a notification stream.
    Session,
    /// HTTP+SSE: all answers come on one stream (2024-11-05).
    Older,
}

/// An HTTP transport to one server.
pub(crate) struct Http(Arc<Inner>);

struct Inner {
    pool: Arc<Pool>,
    /// Where to POST messages.
    url: Uri,
    style: Style,
    board: Arc<Board>,
    most: usize,
    /// The session id that the server assigned.
    session: OnceLock<HeaderValue>,
    /// The revision that the handshake agreed on.
    revision: OnceLock<HeaderValue>,
    tasks: Mutex<HashMap<Task, AbortHandle>>,
    /// Whether the notification stream is open, or the first attempt to open it has failed.
    heard: watch::Sender<bool>,
    /// Stored because a request may be dropped outside the runtime.
    runtime: Handle,
    is_over: AtomicBool,
}

/// Key of a running task.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Task {
    Request(u64),
    Feed,
}

/// A transport for Streamable HTTP, with a session or without.
pub(crate) fn open(pool: Arc<Pool>, style: Style, board: &Arc<Board>, most: usize) -> Http {
    let url = pool.url().clone();
    Http::new(pool, url, style, board, most)
}

/// A transport for HTTP+SSE (2024-11-05); opens the stream first.
pub(crate) async fn open_older(
    pool: Arc<Pool>,
    board: Arc<Board>,
    most: usize,
) -> Result<Http, Error> {
    let (stream, url) = older::open(&pool, most).await?;
    let http = Http::new(pool, url, Style::Older, &board, most);
    http.0.keep(Task::Feed, tokio::spawn(older::listen(stream, board)).abort_handle());
    Ok(http)
}

impl Http {
    fn new(pool: Arc<Pool>, url: Uri, style: Style, board: &Arc<Board>, most: usize) -> Self {
        let inner = Arc::new(Inner {
            pool,
            url,
            style,
            board: Arc::clone(board),
            most,
            session: OnceLock::new(),
            revision: OnceLock::new(),
            tasks: Mutex::default(),
            heard: watch::Sender::new(style != Style::Session),
            runtime: Handle::current(),
            is_over: AtomicBool::new(false),
        });
        // MCP 2026-07-28: servers send no requests, so there is nothing to answer.
        if style != Style::Alone {
            let (voice, places) = (Arc::downgrade(&inner), Arc::new(Semaphore::new(ANSWERS)));
            board.speak(move |message| answer(&voice, &places, message));
        }
        Self(inner)
    }
}

/// Posts an answer to a server request; drops it when too many are in flight.
fn answer(voice: &Weak<Inner>, places: &Arc<Semaphore>, message: Vec<u8>) {
    let place = Arc::clone(places).try_acquire_owned();
    if let (Some(inner), Ok(place)) = (voice.upgrade(), place) {
        let runtime = inner.runtime.clone();
        runtime.spawn(async move {
            post::post(inner, Parcel::plain(message)).await;
            drop(place);
        });
    }
}

#[async_trait]
impl Wire for Http {
    fn send(&self, parcel: Parcel) {
        self.0.send(parcel);
    }

    async fn deliver(&self, message: Vec<u8>) {
        post::post(Arc::clone(&self.0), Parcel::plain(message)).await;
    }

    fn cancel(&self, id: u64, reason: &str) {
        let task = self.0.tasks().remove(&Task::Request(id));
        // MCP 2026-07-28, cancellation: over HTTP, closing the stream cancels. In earlier revisions
        // closing it means nothing.
        if self.0.style != Style::Alone {
            self.0.send(Parcel::plain(ask::cancelled(id, reason)));
        }
        if let Some(task) = task {
            task.abort();
        }
    }

    fn settle(&self, revision: &str) {
        if self.0.style == Style::Alone {
            return;
        }
        if let Ok(revision) = HeaderValue::from_str(revision) {
            let _ = self.0.revision.set(revision);
        }
    }

    fn listen(&self) {
        if self.0.style == Style::Session {
            let feed = tokio::spawn(feed::listen(Arc::downgrade(&self.0)));
            self.0.keep(Task::Feed, feed.abort_handle());
        }
    }

    async fn listening(&self) {
        let mut heard = self.0.heard.subscribe();
        let _ = tokio::time::timeout(LISTENING, heard.wait_for(|heard| *heard)).await;
    }

    async fn finish(&self) {
        if !self.0.end() {
            self.0.leave().await;
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        if self.0.end() {
            return;
        }
        let inner = Arc::clone(&self.0);
        self.0.runtime.spawn(async move { inner.leave().await });
    }
}

impl Inner {
    fn send(self: &Arc<Self>, parcel: Parcel) {
        let id = parcel.id;
        let posting = self.runtime.spawn(post::post(Arc::clone(self), parcel));
        if let Some(id) = id {
            self.keep(Task::Request(id), posting.abort_handle());
        }
    }

    fn keep(&self, task: Task, handle: AbortHandle) {
        let mut tasks = self.tasks();
        tasks.retain(|_, handle| !handle.is_finished());
        tasks.insert(task, handle);
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<Task, AbortHandle>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Aborts all tasks. Returns whether this was done before.
    fn end(&self) -> bool {
        self.tasks().drain().for_each(|(_, task)| task.abort());
        self.is_over.swap(true, Ordering::Relaxed)
    }

    /// Ends the session with DELETE; the server need not support it.
    async fn leave(&self) {
        if self.style == Style::Session && self.session.get().is_some() {
            let request = self.request(Method::DELETE, &[], Vec::new());
            let sent = tokio::time::timeout(pool::LEAVING, self.pool.send(request)).await;
            if !matches!(sent, Ok(Ok(_))) {
                tracing::debug!("cannot end a session at the server");
            }
        }
    }

    /// Builds an HTTP request with the session and revision headers.
    fn request(
        &self,
        method: Method,
        heading: &[(&'static str, String)],
        body: Vec<u8>,
    ) -> pool::Outbound {
        let mut outbound = pool::Outbound::new(method, self.url.clone(), body);
        if self.style == Style::Session {
            outbound.set(header::SESSION, self.session.get().cloned());
        }
        outbound.set(header::REVISION, self.revision.get().cloned());
        for (name, value) in heading {
            outbound.set(name, HeaderValue::from_str(value).ok());
        }
        outbound
    }
}
