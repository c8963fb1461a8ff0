//! Connection with reconnect and backoff, shared by all clones of a client.

use std::sync::Arc;
use std::time::Duration;

use protocol::Peer;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};
use tokio::time::{self, Instant};

use crate::error::{Error, Lapse};
use crate::negotiate::{Dial, Verdict};
use crate::session::Session;

/// The state of a connection.
#[derive(Debug, Clone)]
pub enum State {
    /// Not connected yet, or connecting.
    Starting,
    /// Connected.
    Ready(Arc<Peer>),
    /// The last connection or connection attempt failed, for this reason.
    Failed(String),
}

/// The state of a connection, and since when it holds.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The current state.
    pub state: State,
    /// When this state began. A repeated failure does not restart it.
    pub since: Instant,
    /// The reason and time of the last failure. It remains after the connection recovers.
    pub failure: Option<(String, Instant)>,
}

/// The connection to a server, opened on demand and reopened after a loss.
pub(crate) struct Link {
    pub(crate) dial: Arc<Dial>,
    slot: Arc<Mutex<Slot>>,
    standing: watch::Sender<Standing>,
}

#[derive(Default)]
struct Slot {
    session: Option<Arc<Session>>,
    since: Option<Instant>,
    verdict: Option<Verdict>,
    failures: u32,
    /// When the next attempt is allowed, and the failure that set the delay.
    again: Option<(Instant, String)>,
    /// Whether there ever was a connection.
    was_open: bool,
    is_closed: bool,
}

impl Slot {
    fn alive(&self) -> Option<Arc<Session>> {
        let alive = |session: &&Arc<Session>| session.line.board.ended().is_none();
        self.session.as_ref().filter(alive).map(Arc::clone)
    }
}

impl Link {
    pub(crate) fn new(dial: Dial) -> Arc<Self> {
        let (state, since) = (State::Starting, Instant::now());
        let standing = watch::Sender::new(Standing { state, since, failure: None });
        Arc::new(Self { dial: Arc::new(dial), slot: Arc::default(), standing })
    }

    pub(crate) fn standing(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    /// The connection; opens one if there is none. During the backoff it fails at once.
    pub(crate) async fn session(self: &Arc<Self>) -> Result<Arc<Session>, Error> {
        let slot = Arc::clone(&self.slot).lock_owned().await;
        if slot.is_closed {
            return Err(Error::Closed("closed by the client".to_owned()));
        }
        if let Some(session) = slot.alive() {
            return Ok(session);
        }
        if let Some((_, why)) = slot.again.as_ref().filter(|(at, _)| Instant::now() < *at) {
            return Err(Error::Unreachable(why.clone()));
        }
        // A task of its own: the first caller may give up while others still wait for it.
        let link = Arc::clone(self);
        let connecting = tokio::spawn(async move { link.connect(slot).await });
        let failed = |_| Err(Error::Unreachable("the connection task failed".to_owned()));
        connecting.await.unwrap_or_else(failed)
    }

    /// The open connection, if there is one.
    pub(crate) async fn current(&self) -> Option<Arc<Session>> {
        self.slot.lock().await.alive()
    }

    /// The connection, or a timeout if opening one takes longer than `time`.
    pub(crate) async fn session_within(
        self: &Arc<Self>,
        time: Duration,
    ) -> Result<Arc<Session>, Error> {
        time::timeout(time, self.session()).await.unwrap_or(Err(Error::TimedOut))
    }

    async fn connect(
        self: Arc<Self>,
        mut slot: OwnedMutexGuard<Slot>,
    ) -> Result<Arc<Session>, Error> {
        if let Some(lapse) = slot.session.take().and_then(|session| session.line.board.ended()) {
            self.count(&mut slot, &lapse);
            if let Some((_, why)) = &slot.again {
                return Err(Error::Unreachable(why.clone()));
            }
        }
        // A failed server stays `Failed` while the client reconnects.
        let is_lost = matches!(self.standing.borrow().state, State::Failed(_));
        if !is_lost {
            self.stand(State::Starting);
        }
        let connecting = self.dial.connect(slot.verdict);
        let connected = time::timeout(self.dial.options.connecting, connecting).await;
        let late = || Error::Unreachable("the server did not answer in time".to_owned());
        match connected.unwrap_or_else(|_| Err(late())) {
            Ok(connected) => {
                slot.verdict = Some(connected.verdict);
                let again = std::mem::replace(&mut slot.was_open, true);
                let session = Session::new(Arc::clone(&self.dial), connected, again);
                (slot.since, slot.again) = (Some(Instant::now()), None);
                slot.session = Some(Arc::clone(&session));
                self.stand(State::Ready(Arc::clone(&session.peer)));
                self.watch(&session, again);
                Ok(session)
            }
            Err(error) => {
                self.count(&mut slot, &error.clone().into());
                Err(match error {
                    Error::Closed(why) => Error::Unreachable(why),
                    error => error,
                })
            }
        }
    }

    /// Renews subscriptions after a reconnect, and handles the loss of the connection.
    fn watch(self: &Arc<Self>, session: &Arc<Session>, again: bool) {
        let link = Arc::downgrade(self);
        let board = Arc::clone(&session.line.board);
        let session = Arc::downgrade(session);
        let restored = session.clone();
        if again {
            tokio::spawn(async move {
                if let Some(session) = restored.upgrade() {
                    session.restore().await;
                }
            });
        }
        tokio::spawn(async move {
            let lapse = board.over().await;
            let Some(link) = link.upgrade() else { return };
            if let Some(session) = session.upgrade() {
                link.lose(&session, &lapse).await;
            }
            link.revive();
        });
    }

    /// Reconnects in the background while there are subscriptions.
    fn revive(self: &Arc<Self>) {
        let link = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let Some(link) = link.upgrade() else { return };
                if link.dial.herald.wanted().is_empty() {
                    return;
                }
                let at = link.slot.lock().await.again.as_ref().map(|(at, _)| *at);
                match at.filter(|at| Instant::now() < *at) {
                    Some(at) => {
                        drop(link);
                        time::sleep_until(at).await;
                    }
                    None => match link.session().await {
                        Ok(_) | Err(Error::Closed(_)) => return,
                        Err(error) => tracing::debug!(%error, "cannot reconnect to a server"),
                    },
                }
            }
        });
    }

    /// Drops a connection that ended.
    pub(crate) async fn lose(&self, session: &Arc<Session>, lapse: &Lapse) {
        let mut slot = self.slot.lock().await;
        if slot.session.as_ref().is_some_and(|current| Arc::ptr_eq(current, session)) {
            slot.session = None;
            self.count(&mut slot, lapse);
        }
    }

    /// Drops a connection and the remembered era: the server proved to be of another one.
    pub(crate) async fn doubt(&self, session: &Arc<Session>) {
        self.lose(session, &Lapse::Expired).await;
        self.slot.lock().await.verdict = None;
    }

    /// Publishes a new state. A repeated failure keeps the time of the first one.
    fn stand(&self, state: State) {
        self.standing.send_modify(|standing| {
            let now = Instant::now();
            if let State::Failed(why) = &state {
                standing.failure = Some((why.clone(), now));
            }
            let still = matches!(
                (&standing.state, &state),
                (State::Failed(_), State::Failed(_)) | (State::Starting, State::Starting)
            );
            if !still {
                standing.since = now;
            }
            standing.state = state;
        });
    }

    /// Records a failure and sets the backoff. An expired session sets none: the server is up.
    fn count(&self, slot: &mut Slot, lapse: &Lapse) {
        let why = Error::from(lapse.clone()).to_string();
        self.stand(State::Failed(why.clone()));
        if matches!(lapse, Lapse::Expired) {
            slot.again = None;
            return;
        }
        let backoff = self.dial.options.backoff;
        // A connection that lasted longer than the longest backoff resets the count.
        if slot.since.take().is_some_and(|since| since.elapsed() > backoff.most) {
            slot.failures = 0;
        }
        slot.failures = slot.failures.saturating_add(1);
        slot.again = Some((Instant::now() + backoff.after(slot.failures), why));
    }

    /// Closes the connection for good.
    pub(crate) async fn close(&self) {
        let session = {
            let mut slot = self.slot.lock().await;
            slot.is_closed = true;
            slot.session.take()
        };
        if let Some(session) = session {
            session.line.board.end(&Error::Closed("closed by the client".to_owned()));
            session.line.wire.finish().await;
        }
    }
}
