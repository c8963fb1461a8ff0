//! Connection with reconnect and backoff, shared by all clones of a client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard, watch};
use tokio::time::{self, Instant};

use crate::error::{Error, TransportFailure};
use crate::negotiate::{Connector, ServerEra};
use crate::remote_server::RemoteServer;
use crate::session::ServerSession;

/// The state of a connection.
#[derive(Debug, Clone)]
pub enum State {
    /// Not connected yet, or connecting.
    Starting,
    /// Connected.
    Ready(Arc<RemoteServer>),
    /// The last connection or connection attempt failed, for this reason.
    Failed(Error),
}

/// The state of a connection, and since when it holds.
#[derive(Debug, Clone)]
pub struct ConnectionStatus {
    /// The current state.
    pub state: State,
    /// When this state began. A repeated failure does not restart it.
    pub since: Instant,
    /// The reason and time of the last failure. It remains after the connection recovers.
    pub last_failure: Option<(String, Instant)>,
}

/// The connection to a server, opened on demand and reopened after a loss.
pub(crate) struct ReconnectingConnection {
    pub(crate) connector: Arc<Connector>,
    slot: Arc<Mutex<ConnectionSlot>>,
    status: watch::Sender<ConnectionStatus>,
    /// Whether someone went on without the first connection, and wants to know of it.
    is_awaited: AtomicBool,
}

#[derive(Default)]
struct ConnectionSlot {
    session: Option<Arc<ServerSession>>,
    opened_at: Option<Instant>,
    era: Option<ServerEra>,
    failures: u32,
    /// When the next attempt is allowed, and the failure that set the delay.
    retry_at: Option<(Instant, Error)>,
    /// Whether there ever was a connection.
    was_open: bool,
    is_closed: bool,
}

impl ConnectionSlot {
    fn live_session(&self) -> Option<Arc<ServerSession>> {
        let alive =
            |session: &&Arc<ServerSession>| session.connection.pending.end_reason().is_none();
        self.session.as_ref().filter(alive).map(Arc::clone)
    }
}

impl ReconnectingConnection {
    pub(crate) fn new(connector: Connector) -> Arc<Self> {
        let (state, since) = (State::Starting, Instant::now());
        let standing = watch::Sender::new(ConnectionStatus { state, since, last_failure: None });
        let (connector, slot) = (Arc::new(connector), Arc::default());
        Arc::new(Self { connector, slot, status: standing, is_awaited: AtomicBool::new(false) })
    }

    /// Reports all lists as changed once the first connection is open.
    pub(crate) fn announce_first_connection(&self) {
        self.is_awaited.store(true, Ordering::SeqCst);
    }

    pub(crate) fn status(&self) -> watch::Receiver<ConnectionStatus> {
        self.status.subscribe()
    }

    /// The connection; opens one if there is none. During the backoff it fails at once.
    pub(crate) async fn session(self: &Arc<Self>) -> Result<Arc<ServerSession>, Error> {
        let slot = Arc::clone(&self.slot).lock_owned().await;
        if slot.is_closed {
            return Err(Error::Closed("closed by the client".to_owned()));
        }
        if let Some(session) = slot.live_session() {
            return Ok(session);
        }
        if let Some((_, error)) = slot.retry_at.as_ref().filter(|(at, _)| Instant::now() < *at) {
            return Err(error.clone());
        }
        // A task of its own: the first caller may give up while others still wait for it.
        let link = Arc::clone(self);
        let connecting = tokio::spawn(async move { link.connect(slot).await });
        let failed = |_| Err(Error::Unreachable("the connection task failed".to_owned()));
        connecting.await.unwrap_or_else(failed)
    }

    /// The open connection, if there is one.
    pub(crate) async fn current_session(&self) -> Option<Arc<ServerSession>> {
        self.slot.lock().await.live_session()
    }

    /// The connection, or a timeout if opening one takes longer than `time`.
    pub(crate) async fn session_within(
        self: &Arc<Self>,
        time: Duration,
    ) -> Result<Arc<ServerSession>, Error> {
        time::timeout(time, self.session()).await.unwrap_or(Err(Error::TimedOut))
    }

    async fn connect(
        self: Arc<Self>,
        mut slot: OwnedMutexGuard<ConnectionSlot>,
    ) -> Result<Arc<ServerSession>, Error> {
        if let Some(lapse) =
            slot.session.take().and_then(|session| session.connection.pending.end_reason())
        {
            self.record_failure(&mut slot, &lapse);
            if let Some((_, error)) = &slot.retry_at {
                return Err(error.clone());
            }
        }
        // A failed server stays `Failed` while the client reconnects.
        let is_lost = matches!(self.status.borrow().state, State::Failed(_));
        if !is_lost {
            self.set_state(State::Starting);
        }
        let connecting = self.connector.establish(slot.era);
        let connected = time::timeout(self.connector.options.connect_timeout, connecting).await;
        let late = || Error::Unreachable("the server did not answer in time".to_owned());
        match connected.unwrap_or_else(|_| Err(late())) {
            Ok(connected) => {
                slot.era = Some(connected.era);
                let again = std::mem::replace(&mut slot.was_open, true);
                let session = ServerSession::new(Arc::clone(&self.connector), connected, again);
                (slot.opened_at, slot.retry_at) = (Some(Instant::now()), None);
                slot.session = Some(Arc::clone(&session));
                self.set_state(State::Ready(Arc::clone(&session.peer)));
                if !again && self.is_awaited.load(Ordering::SeqCst) {
                    self.connector.notifications.report_gap();
                }
                self.supervise(&session, again);
                Ok(session)
            }
            Err(error) => {
                self.record_failure(&mut slot, &error.clone().into());
                Err(match error {
                    Error::Closed(why) => Error::Unreachable(why),
                    error => error,
                })
            }
        }
    }

    /// Renews subscriptions after a reconnect, and handles the loss of the connection.
    fn supervise(self: &Arc<Self>, session: &Arc<ServerSession>, again: bool) {
        let link = Arc::downgrade(self);
        let board = Arc::clone(&session.connection.pending);
        let session = Arc::downgrade(session);
        let restored = session.clone();
        if again {
            tokio::spawn(async move {
                if let Some(session) = restored.upgrade() {
                    session.resubscribe().await;
                }
            });
        }
        tokio::spawn(async move {
            let lapse = board.wait_for_end().await;
            let Some(link) = link.upgrade() else { return };
            if let Some(session) = session.upgrade() {
                link.drop_session(&session, &lapse).await;
            }
            link.reconnect_while_subscribed();
        });
    }

    /// Reconnects in the background while there are subscriptions.
    fn reconnect_while_subscribed(self: &Arc<Self>) {
        let link = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let Some(link) = link.upgrade() else { return };
                if link.connector.notifications.subscribed_uris().is_empty() {
                    return;
                }
                let at = link.slot.lock().await.retry_at.as_ref().map(|(at, _)| *at);
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
    pub(crate) async fn drop_session(
        &self,
        session: &Arc<ServerSession>,
        failure: &TransportFailure,
    ) {
        let mut slot = self.slot.lock().await;
        if slot.session.as_ref().is_some_and(|current| Arc::ptr_eq(current, session)) {
            slot.session = None;
            self.record_failure(&mut slot, failure);
        }
    }

    /// Drops a connection and the remembered era: the server proved to be of another one.
    pub(crate) async fn forget_era(&self, session: &Arc<ServerSession>) {
        self.drop_session(session, &TransportFailure::SessionExpired).await;
        self.slot.lock().await.era = None;
    }

    /// Publishes a new state. A repeated failure keeps the time of the first one.
    fn set_state(&self, state: State) {
        self.status.send_modify(|standing| {
            let now = Instant::now();
            if let State::Failed(error) = &state {
                standing.last_failure = Some((error.to_string(), now));
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
    fn record_failure(&self, slot: &mut ConnectionSlot, failure: &TransportFailure) {
        let error = Error::from(failure.clone());
        self.set_state(State::Failed(error.clone()));
        if matches!(failure, TransportFailure::SessionExpired) {
            slot.retry_at = None;
            return;
        }
        let backoff = self.connector.options.backoff;
        // A connection that lasted longer than the longest backoff resets the count.
        if slot.opened_at.take().is_some_and(|since| since.elapsed() > backoff.max) {
            slot.failures = 0;
        }
        slot.failures = slot.failures.saturating_add(1);
        // The request that meets it was not sent.
        let error = match error {
            Error::Closed(why) => Error::Unreachable(why),
            error @ (Error::Unreachable(_) | Error::Unauthorized) => error,
            error => Error::Unreachable(error.to_string()),
        };
        slot.retry_at = Some((Instant::now() + backoff.jittered_delay(slot.failures), error));
    }

    /// Closes the connection for good.
    pub(crate) async fn close_session(&self) {
        let session = {
            let mut slot = self.slot.lock().await;
            slot.is_closed = true;
            slot.session.take()
        };
        if let Some(session) = session {
            session.connection.pending.end(&Error::Closed("closed by the client".to_owned()));
            session.connection.transport.shut_down().await;
        }
    }
}
