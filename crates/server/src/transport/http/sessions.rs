//! Session table of the HTTP transport (through 2025-11-25): fairly shared, with idle timeout.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::AbortHandle;
use parking_lot::Mutex;
use protocol::{Dialect, Refusal, RequestId};
use resource::Principal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::replay::ReplayBuffer;
use crate::exchange::has_same_grant;
use crate::lifecycle::HandshakeResult;
use crate::limits::Limits;
use crate::methods::subscriptions::SessionSubscriptions;
use crate::server::Server;
use crate::transport::duplex_connection::DuplexConnection;
use crate::transport::fair_share::{Activity, FairShare, Owner, Place};

/// Idle time after which a session makes room for a new one of the same client.
const EVICTABLE_AFTER: Duration = Duration::from_secs(60);

/// All open sessions, by id.
pub(crate) struct SessionTable {
    open: Mutex<HashMap<Box<str>, Arc<HttpSession>>>,
    places: Arc<FairShare>,
    max_sessions: usize,
    idle: Duration,
    streams: usize,
    in_flight: usize,
}

/// One HTTP session.
pub(crate) struct HttpSession {
    /// Who opened it, and with which scopes. It exists for nobody else.
    principal: Principal,
    /// The result of the handshake; `None` for HTTP+SSE, whose connection holds it.
    pub(crate) handshake: Option<HandshakeResult>,
    /// Its connection, for HTTP+SSE (2024-11-05).
    pub(crate) sse_connection: Option<Arc<DuplexConnection>>,
    /// Its subscriptions.
    pub(crate) subscriber: Arc<SessionSubscriptions>,
    /// Messages sent on its streams, for clients that resume.
    pub(crate) replay_buffer: ReplayBuffer,
    place: Place,
    streams: Arc<Semaphore>,
    in_flight: usize,
    requests: Mutex<HashMap<RequestId, AbortHandle>>,
    ended: watch::Sender<bool>,
}

impl SessionTable {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            open: Mutex::default(),
            places: FairShare::new(limits.sessions, EVICTABLE_AFTER),
            max_sessions: limits.sessions,
            idle: limits.session_idle,
            streams: limits.streams,
            in_flight: limits.in_flight,
        }
    }

    /// Opens a session and returns its id; `None` if all places are in use and fairly shared.
    pub(crate) fn open_session(
        &self,
        server: &Server,
        (principal, owner): (Principal, &Owner),
        (agreed, pipe): (Option<HandshakeResult>, Option<Arc<DuplexConnection>>),
    ) -> Option<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut open = self.open.lock();
        if open.len() >= self.max_sessions {
            open.retain(|_, session| !session.is_stale(self.idle));
        }
        let place = self.places.take(owner)?;
        if open.len() >= self.max_sessions {
            let evicted = open.extract_if(|_, session| session.place.is_evicted());
            evicted.for_each(|(_, session)| session.end());
        }
        let session = HttpSession {
            handshake: agreed,
            sse_connection: pipe,
            subscriber: Arc::new(SessionSubscriptions::new(server, principal.clone())),
            principal,
            replay_buffer: ReplayBuffer::new(self.streams),
            place,
            streams: Arc::new(Semaphore::new(self.streams)),
            in_flight: self.in_flight,
            requests: Mutex::default(),
            ended: watch::Sender::new(false),
        };
        open.insert(id.clone().into(), Arc::new(session));
        Some(id)
    }

    /// The session `id`, if it is open and `principal` opened it with the scopes that it has now.
    /// Resets its idle timer.
    pub(crate) fn find(&self, id: &str, principal: &Principal) -> Option<Arc<HttpSession>> {
        let mut open = self.open.lock();
        let session = open.get(id).filter(|session| session.belongs_to(principal))?;
        if session.is_stale(self.idle) {
            open.remove(id);
            return None;
        }
        session.place.touch();
        Some(Arc::clone(session))
    }

    /// Ends a session of `principal` and aborts its requests; false if there was none.
    pub(crate) fn end_session(&self, id: &str, principal: &Principal) -> bool {
        let mut open = self.open.lock();
        let is_theirs = open.get(id).is_some_and(|session| session.belongs_to(principal));
        let session = if is_theirs { open.remove(id) } else { None };
        drop(open);
        if let Some(session) = &session {
            session.end();
        }
        session.is_some()
    }
}

impl HttpSession {
    /// A session for tests, with so many streams.
    #[cfg(test)]
    pub(crate) fn for_test(streams: usize) -> Arc<Self> {
        let limits = Limits { streams, ..Limits::default() };
        let sessions = SessionTable::new(&limits);
        let provider = Arc::new(testkit::MemoryProvider::new());
        let server = Server::new(provider, limits, [0; 32], crate::CollectionsMode::Always);
        let local = Principal::local();
        let owner = Owner::new(Some(&local), None);
        let id = sessions.open_session(&server, (local.clone(), &owner), (None, None)).unwrap();
        sessions.find(&id, &local).unwrap()
    }

    fn belongs_to(&self, principal: &Principal) -> bool {
        has_same_grant(&self.principal, principal)
    }

    /// The negotiated terms.
    pub(crate) fn terms(&self) -> Option<Dialect> {
        self.handshake.as_ref().map(|agreed| agreed.dialect)
    }

    /// A permit for one more stream that resumes an answer; `None` beyond the limit.
    pub(crate) fn try_stream_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }

    /// Becomes true when the session ends.
    pub(crate) fn end_signal(&self) -> watch::Receiver<bool> {
        self.ended.subscribe()
    }

    /// Registers a request as in flight; refuses an id in use, and more than the limit. A request
    /// of a batch that has its place already needs no other.
    pub(crate) fn register_request(
        self: &Arc<Self>,
        id: &RequestId,
        handle: AbortHandle,
        has_place: bool,
    ) -> Result<InFlightGuard, Refusal> {
        let mut under_way = self.requests.lock();
        if !has_place && under_way.len() >= self.in_flight {
            return Err(Refusal::busy("too many requests in flight in this session".into()));
        }
        match under_way.entry(id.clone()) {
            Entry::Occupied(_) => Err(Refusal::invalid_request("the id is already in use")),
            Entry::Vacant(entry) => {
                entry.insert(handle);
                let _activity = self.begin_activity();
                Ok(InFlightGuard { session: Arc::clone(self), id: id.clone(), _activity })
            }
        }
    }

    /// Aborts a request.
    pub(crate) fn cancel(&self, id: &RequestId) {
        if let Some(handle) = self.requests.lock().remove(id) {
            handle.abort();
        }
    }

    /// Keeps the session alive until the guard is dropped, as an open stream does.
    pub(crate) fn begin_activity(&self) -> Activity {
        self.place.begin_activity()
    }

    /// Ends the session and aborts its requests.
    fn end(&self) {
        self.ended.send_replace(true);
        self.requests.lock().drain().for_each(|(_, handle)| handle.abort());
    }

    fn is_stale(&self, idle: Duration) -> bool {
        self.sse_connection.is_none() && self.place.is_idle_for(idle)
    }
}

/// Keeps a request registered as in flight until it is dropped.
pub(crate) struct InFlightGuard {
    session: Arc<HttpSession>,
    id: RequestId,
    _activity: Activity,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.session.requests.lock().remove(&self.id);
    }
}

impl Drop for HttpSession {
    fn drop(&mut self) {
        self.ended.send_replace(true);
    }
}
