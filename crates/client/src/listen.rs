//! Keeps one `subscriptions/listen` stream open, in revisions without a handshake.
//!
//! One stream at a time covers all subscriptions. When they change, the task opens the next stream
//! and waits for its acknowledgement before it drops the last one, so that no change is lost.

use std::collections::BTreeSet;
use std::sync::Arc;

use protocol::Peer;
use protocol::ask::{listening, verb};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time;

use crate::error::Error;
use crate::negotiate::Dial;
use crate::session::{Asked, begin};
use crate::transport::line::{Asking, Hooks, Line};

/// How many subscribe and unsubscribe calls may wait for the next stream.
const WAITING: usize = 1_024;

/// Handle of the task that keeps the listen stream; dropping it stops the task.
pub(crate) struct Listening {
    changes: mpsc::Sender<Change>,
    task: AbortHandle,
}

/// One call to subscribe or unsubscribe.
struct Change {
    /// The resource whose subscription the caller asks about.
    uri: String,
    done: oneshot::Sender<Result<bool, Error>>,
}

impl Listening {
    /// Starts the task; `missed` if the client may have missed changes before.
    pub(crate) fn new(line: &Arc<Line>, peer: &Arc<Peer>, dial: &Arc<Dial>, missed: bool) -> Self {
        let (changes, wanted) = mpsc::channel(WAITING);
        let (line, peer, dial) = (Arc::clone(line), Arc::clone(peer), Arc::clone(dial));
        let keeper = Keeper { line, peer, dial, failures: 0, missed, current: None };
        let task = tokio::spawn(keeper.keep(wanted)).abort_handle();
        Self { changes, task }
    }

    /// Opens a stream for the current set of subscriptions. Returns whether it covers `uri`.
    pub(crate) async fn change(&self, uri: &str) -> Result<bool, Error> {
        let (done, outcome) = oneshot::channel();
        let uri = uri.to_owned();
        let gone = || Error::Closed("the listen stream was stopped".to_owned());
        self.changes.send(Change { uri, done }).await.map_err(|_| gone())?;
        outcome.await.map_err(|_| gone())?
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Keeper {
    line: Arc<Line>,
    peer: Arc<Peer>,
    dial: Arc<Dial>,
    failures: u32,
    /// Whether the client may have missed changes.
    missed: bool,
    current: Option<Asking>,
}

impl Keeper {
    async fn keep(mut self, mut changes: mpsc::Receiver<Change>) {
        let mut asked: Vec<Change> = Vec::new();
        loop {
            while let Ok(change) = changes.try_recv() {
                asked.push(change);
            }
            let renewed = self.renew().await;
            for Change { uri, done } in asked.drain(..) {
                let watched = renewed.as_ref().map(|uris| uris.contains(&uri));
                let _ = done.send(watched.map_err(Clone::clone));
            }
            match renewed {
                Err(error) if error.is_about_method() => return self.give_up(changes).await,
                Err(_) => self.failures += 1,
                Ok(_) => self.failures = 0,
            }
            match self.wait(&mut changes).await {
                Some(change) => asked.extend(change),
                None => return,
            }
        }
    }

    /// Opens a stream for the current set of subscriptions, then drops the last one.
    async fn renew(&mut self) -> Result<BTreeSet<String>, Error> {
        let wanted = self.dial.herald.wanted();
        let params = listening(wanted.iter().map(String::as_str));
        let (sender, begun) = oneshot::channel();
        let hooks = Hooks { begun: Some(sender), ..Hooks::default() };
        let asked = Asked {
            method: verb::LISTEN,
            params: Some(&params),
            progress: None,
            party: None,
            mirrored: &[],
        };
        let mut asking = begin(&self.line, &self.peer, &self.dial, asked, hooks)?;
        let acknowledged = tokio::select! {
            biased;
            Ok(uris) = begun => Ok(uris.into_iter().collect()),
            outcome = asking.ended() => Err(match outcome {
                Ok(_) => Error::Malformed("the stream ended before its acknowledgement".to_owned()),
                Err(lapse) => lapse.into(),
            }),
            () = time::sleep(self.dial.options.timeout) => Err(Error::TimedOut),
        };
        if acknowledged.is_ok() {
            self.current = Some(asking);
            if std::mem::take(&mut self.missed) {
                self.dial.herald.catch_up();
            }
        }
        acknowledged
    }

    /// Waits for a reason to open another stream: a call, or the end of the current stream plus
    /// the backoff.
    async fn wait(&mut self, changes: &mut mpsc::Receiver<Change>) -> Option<Option<Change>> {
        let ended = async {
            match &mut self.current {
                Some(current) => drop(current.ended().await),
                None => self.missed = true,
            }
        };
        tokio::select! {
            change = changes.recv() => return change.map(Some),
            () = ended => {}
        }
        self.current = None;
        self.missed = true;
        let again = self.dial.options.backoff.after(self.failures.max(1));
        tokio::select! {
            change = changes.recv() => change.map(Some),
            () = time::sleep(again) => Some(None),
        }
    }

    /// Declines all subscriptions: the server does not know `subscriptions/listen`.
    async fn give_up(self, mut changes: mpsc::Receiver<Change>) {
        if self.missed {
            self.dial.herald.catch_up();
        }
        while let Some(Change { done, .. }) = changes.recv().await {
            let _ = done.send(Ok(false));
        }
    }
}
