//! Session table of the HTTP transport (through 2025-11-25): bounded, with idle timeout.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::AbortHandle;
use protocol::{Id, Refusal, Terms};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use super::replay::Replay;
use crate::lifecycle::Agreed;
use crate::limits::Limits;
use crate::methods::subscriptions::Subscriber;
use crate::server::Server;
use crate::transport::conversation::Conversation;

/// Idle time after which a session may be evicted for a new one, if the table is full.
const YIELDS: Duration = Duration::from_secs(60);

/// All open sessions, by id.
pub(crate) struct Sessions {
    open: Mutex<HashMap<Box<str>, Arc<Session>>>,
    most: usize,
    idle: Duration,
    streams: usize,
    in_flight: usize,
}

/// One HTTP session.
pub(crate) struct Session {
    /// The result of the handshake; `None` for HTTP+SSE, whose connection holds it.
    pub(crate) agreed: Option<Agreed>,
    /// Its connection, for HTTP+SSE (2024-11-05).
    pub(crate) pipe: Option<Arc<Conversation>>,
    /// Its subscriptions.
    pub(crate) subscriber: Arc<Subscriber>,
    /// Messages sent on its streams, for clients that resume.
    pub(crate) replay: Replay,
    seen: Mutex<Instant>,
    streams: Arc<Semaphore>,
    in_flight: usize,
    under_way: Mutex<HashMap<Id, AbortHandle>>,
    over: watch::Sender<bool>,
}

impl Sessions {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            open: Mutex::default(),
            most: limits.sessions,
            idle: limits.session_idle,
            streams: limits.streams,
            in_flight: limits.in_flight,
        }
    }

    /// Opens a session and returns its id; `None` if the table is full of active sessions.
    pub(crate) fn begin(
        &self,
        server: &Server,
        agreed: Option<Agreed>,
        pipe: Option<Arc<Conversation>>,
    ) -> Option<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let session = Session {
            agreed,
            pipe,
            subscriber: Arc::new(Subscriber::new(server)),
            replay: Replay::new(self.streams),
            seen: Mutex::new(Instant::now()),
            streams: Arc::new(Semaphore::new(self.streams)),
            in_flight: self.in_flight,
            under_way: Mutex::default(),
            over: watch::Sender::new(false),
        };
        let mut open = lock(&self.open);
        if open.len() >= self.most {
            open.retain(|_, session| !session.is_stale(self.idle));
        }
        if open.len() >= self.most {
            // Clients that never end their sessions must not lock out all others.
            let silent = open.iter().filter(|(_, session)| session.is_stale(YIELDS));
            let oldest = silent.min_by_key(|(_, session)| *lock(&session.seen));
            let oldest = oldest.map(|(id, _)| id.clone())?;
            open.remove(&oldest);
        }
        open.insert(id.clone().into(), Arc::new(session));
        Some(id)
    }

    /// The session `id`, if it is open. Resets its idle timer.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let mut open = lock(&self.open);
        let session = open.get(id)?;
        if session.is_stale(self.idle) {
            open.remove(id);
            return None;
        }
        *lock(&session.seen) = Instant::now();
        Some(Arc::clone(session))
    }

    /// Ends a session and aborts its requests; false if there was none.
    pub(crate) fn end(&self, id: &str) -> bool {
        let session = lock(&self.open).remove(id);
        if let Some(session) = &session {
            session.over.send_replace(true);
            lock(&session.under_way).drain().for_each(|(_, handle)| handle.abort());
        }
        session.is_some()
    }
}

impl Session {
    /// A session for tests, with so many streams.
    #[cfg(test)]
    pub(crate) fn of_nobody(streams: usize) -> Arc<Self> {
        let limits = Limits { streams, ..Limits::default() };
        let sessions = Sessions::new(&limits);
        let provider = Arc::new(testkit::Memory::new());
        let server = Server::new(provider, limits, [0; 32], crate::Collections::Always);
        let id = sessions.begin(&server, None, None).unwrap();
        sessions.find(&id).unwrap()
    }

    /// The negotiated terms.
    pub(crate) fn terms(&self) -> Option<Terms> {
        self.agreed.as_ref().map(|agreed| agreed.terms)
    }

    /// A permit for one more stream that resumes an answer; `None` beyond the limit.
    pub(crate) fn stream(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }

    /// Becomes true when the session ends.
    pub(crate) fn ended(&self) -> watch::Receiver<bool> {
        self.over.subscribe()
    }

    /// Registers a request as in flight; refuses an id in use, and more than the limit.
    pub(crate) fn enter(self: &Arc<Self>, id: &Id, handle: AbortHandle) -> Result<Stay, Refusal> {
        let mut under_way = lock(&self.under_way);
        if under_way.len() >= self.in_flight {
            return Err(Refusal::busy("too many requests in flight in this session".into()));
        }
        match under_way.entry(id.clone()) {
            Entry::Occupied(_) => Err(Refusal::not_a_message("the id is already in use")),
            Entry::Vacant(entry) => {
                entry.insert(handle);
                Ok(Stay { session: Arc::clone(self), id: id.clone() })
            }
        }
    }

    /// Aborts a request.
    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(handle) = lock(&self.under_way).remove(id) {
            handle.abort();
        }
    }

    fn is_stale(&self, idle: Duration) -> bool {
        // An open stream keeps its session alive.
        let listening = self.over.receiver_count() > 0 || self.pipe.is_some();
        !listening && lock(&self.seen).elapsed() > idle
    }
}

/// Keeps a request registered as in flight until it is dropped.
pub(crate) struct Stay {
    session: Arc<Session>,
    id: Id,
}

impl Drop for Stay {
    fn drop(&mut self) {
        lock(&self.session.under_way).remove(&self.id);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.over.send_replace(true);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
