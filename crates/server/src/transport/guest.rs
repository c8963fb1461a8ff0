//! Client side of a session: capabilities, log level, watcher, and requests sent to the client
//! (through 2025-11-25).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::frame::Raw;
use protocol::{Id, Level, Outgoing, asking};
use resource::{Error, Json, Result, Said};
use tokio::sync::{mpsc, oneshot};

use crate::watchers::Watcher;

/// The most requests to one client that may wait for an answer.
const MOST: usize = 64;

/// The client of one session.
pub(crate) struct Guest {
    /// Unique number of the client.
    pub(crate) number: u64,
    /// Its declared capabilities, a JSON object.
    pub(crate) can: Json,
    level: Mutex<Option<Level>>,
    /// Its watcher, once it used our watch tools. It ends with the session.
    watcher: Mutex<Option<Arc<Watcher>>>,
    asked: AtomicU64,
    waiting: Mutex<HashMap<Id, oneshot::Sender<Result<Json, Said>>>>,
}

impl Guest {
    /// A client with the capabilities `can`.
    pub(crate) fn new(can: Json) -> Arc<Self> {
        let (level, asked, waiting) = (Mutex::default(), AtomicU64::new(1), Mutex::default());
        let watcher = Mutex::default();
        Arc::new(Self { number: number(), can, level, watcher, asked, waiting })
    }

    /// The minimum log level, if the client set one.
    pub(crate) fn level(&self) -> Option<Level> {
        *lock(&self.level)
    }

    /// Sets the minimum log level.
    pub(crate) fn listen(&self, level: Level) {
        *lock(&self.level) = Some(level);
    }

    /// The watcher of the session, if there is one.
    pub(crate) fn watches(&self) -> Option<Arc<Watcher>> {
        lock(&self.watcher).clone()
    }

    /// The watcher of the session; calls `begin` to create it.
    pub(crate) fn watcher(
        &self,
        begin: impl FnOnce() -> Result<Arc<Watcher>>,
    ) -> Result<Arc<Watcher>> {
        let mut watcher = lock(&self.watcher);
        match &*watcher {
            Some(watcher) => Ok(Arc::clone(watcher)),
            None => Ok(Arc::clone(watcher.insert(begin()?))),
        }
    }

    /// Sends the client a request through `out` and waits for its answer. Dropping the future
    /// cancels the request.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        out: &mpsc::Sender<Outgoing>,
        method: &str,
        params: &Json,
    ) -> Result<Json> {
        let (sender, answer) = oneshot::channel();
        let id = Id::Number(self.asked.fetch_add(1, Ordering::Relaxed).to_string().into());
        {
            let mut waiting = lock(&self.waiting);
            if waiting.len() >= MOST {
                return Err(Error::unavailable("the client has too many open requests"));
            }
            waiting.insert(id.clone(), sender);
        }
        let question = Waiting { guest: Arc::clone(self), id, out };
        let message = asking::request(&question.id, method, params);
        let gone = || Error::unavailable("the client is gone; it cannot receive requests");
        out.send(message).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?.map_err(Error::said)
    }

    /// Delivers an answer of the client. Ignores answers to unknown ids.
    pub(crate) fn answered(&self, id: Option<&Id>, outcome: Result<&Raw, &Raw>) {
        let waiting = id.and_then(|id| lock(&self.waiting).remove(id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(asking::answer(outcome));
        }
    }
}

/// A request to the client that waits for its answer. Dropping it sends a cancellation.
struct Waiting<'a> {
    guest: Arc<Guest>,
    id: Id,
    out: &'a mpsc::Sender<Outgoing>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if lock(&self.guest.waiting).remove(&self.id).is_some() {
            let _ = self.out.try_send(asking::cancelled(&self.id));
        }
    }
}

/// A number that no other caller has had.
pub(crate) fn number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
