//! A connection, and its requests in flight: send, time out, cancel.

use std::sync::Arc;
use std::time::Duration;

use protocol::header;
use tokio::sync::{Notify, oneshot};
use tokio::time::{self, Instant};

use super::board::{Board, Listener, Outcome, Party, Waiting};
use super::{Parcel, Wire};
use crate::error::Error;

/// A transport and its pending requests.
pub(crate) struct Line {
    pub(crate) wire: Box<dyn Wire>,
    pub(crate) board: Arc<Board>,
}

/// The timeout of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// How long the server may stay silent; progress restarts this timer.
    pub(crate) silence: Duration,
    /// The deadline, whatever progress the server reports.
    pub(crate) until: Instant,
}

impl Patience {
    pub(crate) fn new(silence: Duration, longest: Duration) -> Self {
        Self { silence, until: Instant::now() + longest }
    }
}

/// A request in flight. Dropping it cancels the request at the server.
pub(crate) struct Asking {
    line: Arc<Line>,
    id: u64,
    outcome: oneshot::Receiver<Outcome>,
    pulse: Arc<Notify>,
    /// Whether dropping it cancels the request.
    cancels: bool,
}

/// Optional receivers of what arrives during a request.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) progress: Option<Listener>,
    pub(crate) begun: Option<oneshot::Sender<Vec<String>>>,
    pub(crate) party: Option<Party>,
}

impl Line {
    /// Sends a request.
    pub(crate) fn ask(self: &Arc<Self>, id: u64, parcel: Parcel, hooks: Hooks) -> Asking {
        let (sender, outcome) = oneshot::channel();
        let pulse = Arc::new(Notify::new());
        let Hooks { progress, begun, party } = hooks;
        let listens = begun.is_some();
        let pulses = Arc::clone(&pulse);
        let waiting = Waiting { outcome: sender, progress, pulse: pulses, begun, listens, party };
        self.board.put(id, waiting);
        let asking = Asking { line: Arc::clone(self), id, outcome, pulse, cancels: true };
        self.wire.send(Parcel { id: Some(id), ..parcel });
        asking
    }
}

impl Asking {
    /// Turns off cancellation on drop.
    ///
    /// MCP, cancellation: a client must not cancel `initialize`.
    pub(crate) fn quietly(mut self) -> Self {
        self.cancels = false;
        self
    }

    /// Waits for the outcome without a timeout.
    pub(crate) async fn ended(&mut self) -> Outcome {
        let gone = || Err(Error::Closed("the connection was dropped".to_owned()).into());
        (&mut self.outcome).await.unwrap_or_else(|_| gone())
    }

    /// Waits for the outcome, or times out.
    pub(crate) async fn within(mut self, patience: Patience) -> Outcome {
        let pulse = Arc::clone(&self.pulse);
        loop {
            let deadline = (Instant::now() + patience.silence).min(patience.until);
            tokio::select! {
                outcome = self.ended() => return outcome,
                () = pulse.notified() => {}
                () = time::sleep_until(deadline) => return Err(Error::TimedOut.into()),
            }
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if self.line.board.forget(self.id) && self.cancels {
            self.line.wire.cancel(self.id, "the caller stopped waiting");
        }
    }
}

/// The HTTP headers that repeat parts of a request, in revisions without a handshake.
pub(crate) fn heading(
    revision: &str,
    method: &str,
    name: Option<String>,
) -> Vec<(&'static str, String)> {
    let mut heading =
        vec![(header::REVISION, revision.to_owned()), (header::METHOD, method.to_owned())];
    heading.extend(name.map(|name| (header::NAME, header::encoded(&name).into_owned())));
    heading
}
