//! Pending requests of one connection, and dispatch of the messages that arrive on it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use protocol::answer::{self, Progress};
use protocol::ask::{self, verb};
use protocol::frame::Id;
use protocol::{Denial, Heard, News, Refusal};
use serde_json::value::RawValue;
use tokio::sync::{Notify, Semaphore, oneshot, watch};
use tokio::time;

use crate::error::{Error, Lapse};
use crate::notices::{About, Herald, Notice};
use crate::options::Handler;

/// How many server requests may be handled concurrently.
const ASKED: usize = 16;
/// How often a request's silence timer restarts while its handler answers the server.
const BEAT: Duration = Duration::from_secs(1);

/// The outcome of a request.
pub(crate) type Outcome = Result<Box<RawValue>, Lapse>;

/// Callback for progress notifications.
pub(crate) type Listener = Arc<dyn Fn(Progress) + Send + Sync>;

/// Sends the client's answer to a server request.
type Voice = Box<dyn Fn(Vec<u8>) + Send + Sync>;

/// The pending requests of one connection, and the receivers of all other messages.
pub(crate) struct Board {
    waiting: Mutex<HashMap<u64, Waiting>>,
    herald: Arc<Herald>,
    handler: Option<Arc<dyn Handler>>,
    asked: Arc<Semaphore>,
    voice: OnceLock<Voice>,
    /// Why the connection accepts no more requests, once it does not.
    over: watch::Sender<Option<Lapse>>,
}

/// One pending request.
pub(crate) struct Waiting {
    pub(crate) outcome: oneshot::Sender<Outcome>,
    pub(crate) progress: Option<Listener>,
    /// Notified when the server reports progress; restarts the silence timer.
    pub(crate) pulse: Arc<Notify>,
    /// Receives the acknowledged URIs of a listen stream.
    pub(crate) begun: Option<oneshot::Sender<Vec<String>>>,
    /// Whether it is a listen stream.
    pub(crate) listens: bool,
    /// Handles server requests that arrive meanwhile.
    pub(crate) party: Option<Party>,
}

/// The handler for a server request, and the silence timer to restart while it works.
type Turned = (Arc<dyn Handler>, Option<Arc<Notify>>);

/// The handler of server requests for one caller's requests.
#[derive(Clone)]
pub(crate) struct Party {
    /// Identifies the caller, which may have several requests in flight.
    pub(crate) number: u64,
    pub(crate) handler: Arc<dyn Handler>,
}

impl Board {
    pub(crate) fn new(herald: Arc<Herald>, handler: Option<Arc<dyn Handler>>) -> Arc<Self> {
        Arc::new(Self {
            waiting: Mutex::default(),
            herald,
            handler,
            asked: Arc::new(Semaphore::new(ASKED)),
            voice: OnceLock::new(),
            over: watch::Sender::new(None),
        })
    }

    pub(crate) fn herald(&self) -> &Herald {
        &self.herald
    }

    /// Sets how the client sends its answers. Only the first call counts.
    pub(crate) fn speak(&self, voice: impl Fn(Vec<u8>) + Send + Sync + 'static) {
        let _ = self.voice.set(Box::new(voice));
    }

    pub(crate) fn put(&self, id: u64, waiting: Waiting) {
        self.lock().insert(id, waiting);
        // Checked after the insert: an earlier end is seen here, a later one finds this request.
        if let Some(lapse) = self.ended() {
            self.fail(Some(id), lapse);
        }
    }

    /// Removes a request. Returns whether it was pending.
    pub(crate) fn forget(&self, id: u64) -> bool {
        self.lock().remove(&id).is_some()
    }

    pub(crate) fn is_waiting(&self, id: u64) -> bool {
        self.lock().contains_key(&id)
    }

    /// Fails one request.
    pub(crate) fn fail(&self, id: Option<u64>, lapse: impl Into<Lapse>) {
        let waiting = id.and_then(|id| self.lock().remove(&id));
        if let Some(waiting) = waiting {
            let _ = waiting.outcome.send(Err(lapse.into()));
        }
    }

    /// Fails the request that a message belongs to: the one named, or the only one there is. Ends
    /// the connection if that is not known.
    pub(crate) fn fail_any(&self, id: Option<u64>, error: &Error) {
        let known = id.filter(|id| self.is_waiting(*id)).or_else(|| self.only());
        match known {
            Some(id) => self.fail(Some(id), error.clone()),
            None => self.end(error),
        }
    }

    /// Accepts no more requests; those in flight continue.
    pub(crate) fn retire(&self, lapse: impl Into<Lapse>) {
        self.over.send_if_modified(|over| {
            let first = over.is_none();
            if first {
                *over = Some(lapse.into());
            }
            first
        });
    }

    /// Ends the connection and fails every request.
    pub(crate) fn end(&self, error: &Error) {
        self.retire(error.clone());
        let waiting: Vec<Waiting> = self.lock().drain().map(|(_, waiting)| waiting).collect();
        for waiting in waiting {
            let _ = waiting.outcome.send(Err(error.clone().into()));
        }
    }

    /// Why the connection accepts no more requests, if it does not.
    pub(crate) fn ended(&self) -> Option<Lapse> {
        self.over.borrow().clone()
    }

    /// Waits until the connection accepts no more requests.
    pub(crate) async fn over(&self) -> Lapse {
        let mut over = self.over.subscribe();
        let ended = over.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        ended.unwrap_or_else(|| Error::Closed("the connection was dropped".to_owned()).into())
    }

    /// Dispatches the messages in one line, body or event. `during` is the request whose answer
    /// carries them, if that is known.
    pub(crate) fn hear(self: &Arc<Self>, bytes: &[u8], during: Option<u64>) -> Result<(), Error> {
        for heard in answer::hear(bytes)? {
            match heard {
                Heard::Answer { id, outcome } => self.answered(id.as_ref(), outcome),
                Heard::Request { id, method, params } => self.asked(id, &method, params, during),
                Heard::Notification { method, params } => self.told(method, params, during),
            }
        }
        Ok(())
    }

    fn answered(&self, id: Option<&Id>, outcome: Result<Box<RawValue>, Denial>) {
        let named = id.and_then(|id| id.to_string().parse().ok());
        // An error without an id belongs to the only pending request.
        let id = if id.is_none() && outcome.is_err() { self.only() } else { named };
        let waiting = id.and_then(|id| self.lock().remove(&id));
        if let Some(waiting) = waiting {
            let _ = waiting.outcome.send(outcome.map_err(|denial| Error::Refused(denial).into()));
        }
    }

    fn only(&self) -> Option<u64> {
        let waiting = self.lock();
        waiting.keys().next().copied().filter(|_| waiting.len() == 1)
    }

    /// Finds the handler for a server request: that of the request `during`, or the one that all
    /// pending requests share, or the default.
    fn party(&self, during: Option<u64>) -> Option<Turned> {
        let waiting = self.lock();
        let at_work = |one: &&Waiting| !one.listens;
        let known = during.and_then(|id| waiting.get(&id)).filter(at_work);
        let number = |one: &Waiting| one.party.as_ref().map(|party| party.number);
        let mut parties = waiting.values().filter(at_work).filter(|one| one.party.is_some());
        let only = || {
            let first = parties.next()?;
            parties.all(|one| number(one) == number(first)).then_some(first)
        };
        let found = known.or_else(only);
        let found = found.and_then(|one| Some((one.party.as_ref()?, &one.pulse)));
        match found {
            Some((party, pulse)) => Some((Arc::clone(&party.handler), Some(Arc::clone(pulse)))),
            None => self.handler.clone().map(|handler| (handler, None)),
        }
    }

    fn told(&self, method: String, params: Option<Box<RawValue>>, during: Option<u64>) {
        if method == verb::MESSAGE
            && let (Some((handler, _)), Some(message)) = (self.party(during), &params)
        {
            handler.log(message);
        }
        let about = match News::of(&method, params.as_deref()) {
            News::Progress(progress) => return self.progressed(progress),
            News::Acknowledged { listen, uris } => return self.begun(&listen, uris),
            News::Cancelled(id) => return self.cancelled(&id),
            News::Updated(uri) => About::Updated(uri),
            News::ListChanged => About::ListChanged,
            News::Other => About::Other,
        };
        self.herald.tell(&Notice { about, method, params, is_heard: true });
    }

    fn progressed(&self, progress: Progress) {
        let listener = {
            let waiting = self.lock();
            let id = progress.token.to_string().parse().ok();
            let Some(waiting) = id.and_then(|id: u64| waiting.get(&id)) else { return };
            waiting.pulse.notify_one();
            waiting.progress.clone()
        };
        if let Some(listener) = listener {
            listener(progress);
        }
    }

    fn begun(&self, listen: &Id, uris: Vec<String>) {
        let mut waiting = self.lock();
        let id = listen.to_string().parse().ok();
        let begun = id.and_then(|id: u64| waiting.get_mut(&id)?.begun.take());
        if let Some(begun) = begun {
            let _ = begun.send(uris);
        }
    }

    /// MCP 2026-07-28, cancellation: a server may end a listen stream this way. Any other id names
    /// a request of the server, even if it equals one of ours.
    fn cancelled(&self, id: &Id) {
        let id = id.to_string().parse().ok();
        let listens = id.is_some_and(|id| self.lock().get(&id).is_some_and(|one| one.listens));
        if listens {
            self.fail(id, Error::Closed("the server cancelled the listen stream".to_owned()));
        }
    }

    fn asked(
        self: &Arc<Self>,
        id: Id,
        method: &str,
        params: Option<Box<RawValue>>,
        during: Option<u64>,
    ) {
        if method == verb::PING {
            return self.say(ask::answered(&id, &ask::nothing()));
        }
        let unknown = || Refusal::no_such_method(method);
        let refuse = |refusal: Refusal| {
            if let Ok(bytes) = refusal.encode(Some(&id)).into_bytes() {
                self.say(bytes.to_vec());
            }
        };
        let Some((handler, pulse)) = self.party(during) else { return refuse(unknown()) };
        let Ok(place) = Arc::clone(&self.asked).try_acquire_owned() else {
            return refuse(Refusal::busy("too many concurrent requests".to_owned()));
        };
        let (board, method) = (Arc::clone(self), method.to_owned());
        tokio::spawn(async move {
            let answered = tokio::select! {
                answered = handler.answer(&method, params) => answered,
                () = beat(pulse) => return,
                _ = board.over() => return,
            };
            board.say(match answered {
                Ok(result) => ask::answered(&id, &result),
                Err(denial) => ask::denied(&id, &denial),
            });
            drop(place);
        });
    }

    fn say(&self, message: Vec<u8>) {
        if let Some(voice) = self.voice.get() {
            voice(message);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Restarts the silence timer at intervals, so that a slow handler does not time the request out.
async fn beat(pulse: Option<Arc<Notify>>) {
    let Some(pulse) = pulse else { return std::future::pending().await };
    loop {
        time::sleep(BEAT).await;
        pulse.notify_one();
    }
}
