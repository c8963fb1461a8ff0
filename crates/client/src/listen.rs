//! Keeps one `subscriptions/listen` stream open, in revisions without a handshake.
//!
//! One stream at a time covers all subscriptions. When they change, the task opens the next stream
//! and waits for its acknowledgement before it drops the last one, so that no change is lost.

use std::collections::BTreeSet;
use std::sync::Arc;

use protocol::outbound::request::{listen_params, methods};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time;

use crate::error::Error;
use crate::negotiate::Connector;
use crate::remote_server::RemoteServer;
use crate::session::{RequestRef, start_request};
use crate::transport::connection::{Connection, RequestHandle, RequestHooks};

/// How many subscribe and unsubscribe calls may wait for the next stream.
const QUEUE_CAPACITY: usize = 1_024;

/// Handle of the task that keeps the listen stream; dropping it stops the task.
pub(crate) struct ListenHandle {
    changes: mpsc::Sender<SubscriptionChange>,
    task: AbortHandle,
}

/// One call to subscribe or unsubscribe.
struct SubscriptionChange {
    /// The resource whose subscription the caller asks about.
    uri: String,
    reply: oneshot::Sender<Result<bool, Error>>,
}

impl ListenHandle {
    /// Starts the task; `missed` if the client may have missed changes before.
    pub(crate) fn new(
        connection: &Arc<Connection>,
        peer: &Arc<RemoteServer>,
        connector: &Arc<Connector>,
        missed: bool,
    ) -> Self {
        let (changes, wanted) = mpsc::channel(QUEUE_CAPACITY);
        let (line, peer, dial) = (Arc::clone(connection), Arc::clone(peer), Arc::clone(connector));
        let keeper = ListenTask {
            connection: line,
            peer,
            connector: dial,
            failures: 0,
            missed,
            current: None,
        };
        let task = tokio::spawn(keeper.run(wanted)).abort_handle();
        Self { changes, task }
    }

    /// Opens a stream for the current set of subscriptions. Returns whether it covers `uri`.
    pub(crate) async fn update(&self, uri: &str) -> Result<bool, Error> {
        let (done, outcome) = oneshot::channel();
        let uri = uri.to_owned();
        let gone = || Error::Closed("the listen stream was stopped".to_owned());
        self.changes.send(SubscriptionChange { uri, reply: done }).await.map_err(|_| gone())?;
        outcome.await.map_err(|_| gone())?
    }
}

impl Drop for ListenHandle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct ListenTask {
    connection: Arc<Connection>,
    peer: Arc<RemoteServer>,
    connector: Arc<Connector>,
    failures: u32,
    /// Whether the client may have missed changes.
    missed: bool,
    current: Option<RequestHandle>,
}

impl ListenTask {
    async fn run(mut self, mut changes: mpsc::Receiver<SubscriptionChange>) {
        let mut asked: Vec<SubscriptionChange> = Vec::new();
        loop {
            while let Ok(change) = changes.try_recv() {
                asked.push(change);
            }
            let renewed = self.reopen().await;
            for SubscriptionChange { uri, reply: done } in asked.drain(..) {
                let watched = renewed.as_ref().map(|uris| uris.contains(&uri));
                let _ = done.send(watched.map_err(Clone::clone));
            }
            match renewed {
                Err(error) if error.is_method_not_found() => {
                    return self.decline_all(changes).await;
                }
                Err(_) => self.failures += 1,
                Ok(_) => self.failures = 0,
            }
            match self.wait_for_reason(&mut changes).await {
                Some(change) => asked.extend(change),
                None => return,
            }
        }
    }

    /// Opens a stream for the current set of subscriptions, then drops the last one.
    async fn reopen(&mut self) -> Result<BTreeSet<String>, Error> {
        let wanted = self.connector.notifications.subscribed_uris();
        let params = listen_params(wanted.iter().map(String::as_str));
        let (sender, begun) = oneshot::channel();
        let hooks = RequestHooks { acknowledged: Some(sender), ..RequestHooks::default() };
        let asked = RequestRef {
            method: methods::LISTEN,
            params: Some(&params),
            progress: None,
            handler: None,
            param_headers: &[],
        };
        let mut asking =
            start_request(&self.connection, &self.peer, &self.connector, asked, hooks)?;
        let acknowledged = tokio::select! {
            biased;
            Ok(uris) = begun => Ok(uris.into_iter().collect()),
            outcome = asking.wait() => Err(match outcome {
                Ok(_) => Error::Malformed("the stream ended before its acknowledgement".to_owned()),
                Err(lapse) => lapse.into(),
            }),
            () = time::sleep(self.connector.options.timeout) => Err(Error::TimedOut),
        };
        if acknowledged.is_ok() {
            self.current = Some(asking);
            if std::mem::take(&mut self.missed) {
                self.connector.notifications.report_gap();
            }
        }
        acknowledged
    }

    /// Waits for a reason to open another stream: a call, or the end of the current stream plus
    /// the backoff.
    async fn wait_for_reason(
        &mut self,
        changes: &mut mpsc::Receiver<SubscriptionChange>,
    ) -> Option<Option<SubscriptionChange>> {
        let ended = async {
            match &mut self.current {
                Some(current) => drop(current.wait().await),
                None => self.missed = true,
            }
        };
        tokio::select! {
            change = changes.recv() => return change.map(Some),
            () = ended => {}
        }
        self.current = None;
        self.missed = true;
        let again = self.connector.options.backoff.jittered_delay(self.failures.max(1));
        tokio::select! {
            change = changes.recv() => change.map(Some),
            () = time::sleep(again) => Some(None),
        }
    }

    /// Declines all subscriptions: the server does not know `subscriptions/listen`.
    async fn decline_all(self, mut changes: mpsc::Receiver<SubscriptionChange>) {
        if self.missed {
            self.connector.notifications.report_gap();
        }
        while let Some(SubscriptionChange { reply: done, .. }) = changes.recv().await {
            let _ = done.send(Ok(false));
        }
    }
}
