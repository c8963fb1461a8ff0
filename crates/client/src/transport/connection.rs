//! A connection, and its requests in flight: send, time out, cancel.

use std::sync::Arc;
use std::time::Duration;

use protocol::header;
use resource::ProgressSink;
use tokio::sync::{Notify, oneshot};
use tokio::time::{self, Instant};

use super::pending::{PendingRequest, PendingRequests, ReceivedOutcome, RequestOutcome};
use super::{OutboundMessage, Transport};
use crate::error::Error;
use crate::server_requests::ServerRequestHandler;

/// A transport and its pending requests.
pub(crate) struct Connection {
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) pending: Arc<PendingRequests>,
}

/// The timeout of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestTimeout {
    /// How long the server may stay silent; progress restarts this timer.
    pub(crate) idle: Duration,
    /// The deadline, whatever progress the server reports.
    pub(crate) deadline: Instant,
}

impl RequestTimeout {
    pub(crate) fn new(idle: Duration, longest: Duration) -> Self {
        Self { idle, deadline: Instant::now() + longest }
    }
}

/// A request in flight. Dropping it cancels the request at the server.
pub(crate) struct RequestHandle {
    connection: Arc<Connection>,
    id: u64,
    outcome: oneshot::Receiver<ReceivedOutcome>,
    activity: Arc<Notify>,
    /// Whether dropping it cancels the request.
    cancel_on_drop: bool,
}

/// Optional receivers of what arrives during a request.
#[derive(Default)]
pub(crate) struct RequestHooks {
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) acknowledged: Option<oneshot::Sender<Vec<String>>>,
    pub(crate) handler: Option<ServerRequestHandler>,
}

impl Connection {
    /// Sends a request.
    pub(crate) fn open_request(
        self: &Arc<Self>,
        id: u64,
        message: OutboundMessage,
        hooks: RequestHooks,
    ) -> RequestHandle {
        let (sender, outcome) = oneshot::channel();
        let pulse = Arc::new(Notify::new());
        let RequestHooks { progress, acknowledged: begun, handler: party } = hooks;
        let listens = begun.is_some();
        let pulses = Arc::clone(&pulse);
        let waiting = PendingRequest {
            outcome: sender,
            progress,
            activity: pulses,
            acknowledged: begun,
            is_listen: listens,
            handler: party,
        };
        self.pending.insert(id, waiting);
        let asking = RequestHandle {
            connection: Arc::clone(self),
            id,
            outcome,
            activity: pulse,
            cancel_on_drop: true,
        };
        self.transport.send(OutboundMessage { id: Some(id), ..message });
        asking
    }
}

impl RequestHandle {
    /// Turns off cancellation on drop.
    ///
    /// MCP, cancellation: a client must not cancel `initialize`.
    pub(crate) fn without_cancel(mut self) -> Self {
        self.cancel_on_drop = false;
        self
    }

    /// Waits for the outcome without a timeout.
    pub(crate) async fn wait(&mut self) -> RequestOutcome {
        let gone = || Err(Error::Closed("the connection was dropped".to_owned()).into());
        (&mut self.outcome).await.map_or_else(|_| gone(), |received| received.outcome)
    }

    /// Waits for the outcome, or times out.
    pub(crate) async fn wait_within(mut self, timeout: RequestTimeout) -> RequestOutcome {
        let pulse = Arc::clone(&self.activity);
        loop {
            let deadline = (Instant::now() + timeout.idle).min(timeout.deadline);
            tokio::select! {
                outcome = self.wait() => return outcome,
                () = pulse.notified() => {}
                () = time::sleep_until(deadline) => return Err(Error::TimedOut.into()),
            }
        }
    }
}

impl Drop for RequestHandle {
    fn drop(&mut self) {
        if self.connection.pending.remove(self.id) && self.cancel_on_drop {
            self.connection.transport.cancel(self.id, "the caller stopped waiting");
        }
    }
}

/// The HTTP headers that repeat parts of a request, in revisions without a handshake.
pub(crate) fn request_headers(
    revision: &str,
    method: &str,
    name: Option<String>,
) -> Vec<(&'static str, String)> {
    let mut heading =
        vec![(header::PROTOCOL_VERSION, revision.to_owned()), (header::METHOD, method.to_owned())];
    heading.extend(name.map(|name| (header::NAME, header::encode_value(&name).into_owned())));
    heading
}
