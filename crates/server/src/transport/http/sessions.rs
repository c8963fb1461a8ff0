//! Which sessions are open? (through 2025-11-25)

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

/// How long a session must have been silent to make room for another.
const YIELDS: Duration = Duration::from_secs(60);

/// All open sessions, by id.
pub(crate) struct Sessions {
    open: Mutex<HashMap<Box<str>, Arc<Session>>>,
    most: usize,
    idle: Duration,
    streams: usize,
    in_flight: usize,
}

/// One session.
pub(crate) struct Session {
    /// What was agreed on.
    pub(crate) agreed: Option<Agreed>,
    /// The lasting connection it goes over, where it has one (2024-11-05).
    pub(crate) pipe: Option<Arc<Conversation>>,
    /// What it wants to hear of.
    pub(crate) subscriber: Arc<Subscriber>,
    /// What was sent on its streams.
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

    /// Opens a session, unless there are too many, and returns its id.
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
            // Clients that never say good-bye must not lock all others out.
            let silent = open.iter().filter(|(_, session)| session.is_stale(YIELDS));
            let oldest = silent.min_by_key(|(_, session)| *lock(&session.seen));
            let oldest = oldest.map(|(id, _)| id.clone())?;
            open.remove(&oldest);
        }
        open.insert(id.clone().into(), Arc::new(session));
        Some(id)
    }

    /// The session called `id`, if it is open.
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

    /// Ends a session; tells whether there was one.
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
    /// A session that nobody has opened, with so many streams.
    #[cfg(test)]
    pub(crate) fn of_nobody(streams: usize) -> Arc<Self> {
        let limits = Limits { streams, ..Limits::default() };
        let sessions = Sessions::new(&limits);
        let provider = Arc::new(testkit::Memory::new());
        let server = Server::new(provider, limits, [0; 32], crate::Collections::Always);
        let id = sessions.begin(&server, None, None).unwrap();
        sessions.find(&id).unwrap()
    }

    /// The terms that were agreed on.
    pub(crate) fn terms(&self) -> Option<Terms> {
        self.agreed.as_ref().map(|agreed| agreed.terms)
    }

    /// A place for one more stream that goes on with an answer.
    pub(crate) fn stream(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }

    /// Hears when the session is over.
    pub(crate) fn ended(&self) -> watch::Receiver<bool> {
        self.over.subscribe()
    }

    /// Notes that a request is under way, unless its id already is or there are too many.
    pub(crate) fn enter(self: &Arc<Self>, id: &Id, handle: AbortHandle) -> Result<Stay, Refusal> {
        let mut under_way = lock(&self.under_way);
        if under_way.len() >= self.in_flight {
            return Err(Refusal::busy("too many requests of this session are under way".into()));
        }
        match under_way.entry(id.clone()) {
            Entry::Occupied(_) => Err(Refusal::not_a_message("an id that is already in use")),
            Entry::Vacant(entry) => {
                entry.insert(handle);
                Ok(Stay { session: Arc::clone(self), id: id.clone() })
            }
        }
    }

    /// Drops a request where it stands.
    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(handle) = lock(&self.under_way).remove(id) {
            handle.abort();
        }
    }

    fn is_stale(&self, idle: Duration) -> bool {
        // A stream that somebody holds open is a sign of life.
        let listening = self.over.receiver_count() > 0 || self.pipe.is_some();
        !listening && lock(&self.seen).elapsed() > idle
    }
}

/// A request under way; dropping it says that it is no longer.
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
