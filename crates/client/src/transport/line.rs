//! How does one request meet its answer, in time or not at all?

use std::sync::Arc;
use std::time::Duration;

use protocol::header;
use tokio::sync::{Notify, oneshot};
use tokio::time::{self, Instant};

use super::board::{Board, Listener, Outcome, Party, Waiting};
use super::{Parcel, Wire};
use crate::error::Error;

/// A wire and who waits on it.
pub(crate) struct Line {
    pub(crate) wire: Box<dyn Wire>,
    pub(crate) board: Arc<Board>,
}

/// How long a request may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Without a sign of work.
    pub(crate) silence: Duration,
    /// Whatever the signs.
    pub(crate) until: Instant,
}

impl Patience {
    pub(crate) fn new(silence: Duration, longest: Duration) -> Self {
        Self { silence, until: Instant::now() + longest }
    }
}

/// A request that is under way. Letting go of it lets the server let go of it.
pub(crate) struct Asking {
    line: Arc<Line>,
    id: u64,
    outcome: oneshot::Receiver<Outcome>,
    pulse: Arc<Notify>,
    /// Whether the server is to be told when nobody waits any more.
    cancels: bool,
}

/// What else is wanted of a request.
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
    /// The server is not told when nobody waits any more.
    ///
    /// MCP, cancellation: an opening cannot be cancelled.
    pub(crate) fn quietly(mut self) -> Self {
        self.cancels = false;
        self
    }

    /// What becomes of it, however long that takes.
    pub(crate) async fn ended(&mut self) -> Outcome {
        let gone = || Err(Error::Closed("the connection is gone".to_owned()).into());
        (&mut self.outcome).await.unwrap_or_else(|_| gone())
    }

    /// What becomes of it in time.
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
            self.line.wire.cancel(self.id, "nobody waits for it any more");
        }
    }
}

/// What headers repeat of a request that stands alone.
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
