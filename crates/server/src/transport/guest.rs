//! Who is at the other end of a session, and what was it asked? (through 2025-11-25)

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::frame::Raw;
use protocol::{Id, Level, Outgoing, asking};
use resource::{Error, Json, Result, Said};
use tokio::sync::{mpsc, oneshot};

use crate::watchers::Watcher;

/// How many questions may wait for the answers of one client.
const MOST: usize = 64;

/// The client of one session.
pub(crate) struct Guest {
    /// Tells clients apart.
    pub(crate) number: u64,
    /// What it says that it can be asked for, an object.
    pub(crate) can: Json,
    level: Mutex<Option<Level>>,
    /// What it watches by our tools, if it does. It ends with the session.
    watcher: Mutex<Option<Arc<Watcher>>>,
    asked: AtomicU64,
    waiting: Mutex<HashMap<Id, oneshot::Sender<Result<Json, Said>>>>,
}

impl Guest {
    /// A client that can be asked for `can`.
    pub(crate) fn new(can: Json) -> Arc<Self> {
        let (level, asked, waiting) = (Mutex::default(), AtomicU64::new(1), Mutex::default());
        let watcher = Mutex::default();
        Arc::new(Self { number: number(), can, level, watcher, asked, waiting })
    }

    /// How important a log message must be, if the client said so.
    pub(crate) fn level(&self) -> Option<Level> {
        *lock(&self.level)
    }

    /// The client wants to hear of what is that important.
    pub(crate) fn listen(&self, level: Level) {
        *lock(&self.level) = Some(level);
    }

    /// Who watches for the session, if anybody does.
    pub(crate) fn watches(&self) -> Option<Arc<Watcher>> {
        lock(&self.watcher).clone()
    }

    /// Who watches for the session; `begin` makes the first.
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

    /// Asks the client through `out`, and waits for its answer.
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
                return Err(Error::unavailable("too many questions wait for this client"));
            }
            waiting.insert(id.clone(), sender);
        }
        let question = Waiting { guest: Arc::clone(self), id, out };
        let message = asking::request(&question.id, method, params);
        let gone = || Error::unavailable("the client can no longer be asked");
        out.send(message).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?.map_err(Error::said)
    }

    /// The client has answered something.
    pub(crate) fn answered(&self, id: Option<&Id>, outcome: Result<&Raw, &Raw>) {
        let waiting = id.and_then(|id| lock(&self.waiting).remove(id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(asking::answer(outcome));
        }
    }
}

/// A question that waits. Letting go of it lets the client let go of it.
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

/// A number that no other caller has.
pub(crate) fn number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
