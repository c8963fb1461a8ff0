//! How are changes heard from a server whose requests stand alone?
//!
//! One subscription at a time covers everything that is watched. When that changes, the next one
//! is opened and acknowledged before the last one is let go, so that nothing falls in between.

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

/// How many changes of mind wait for the next subscription.
const WAITING: usize = 1_024;

/// Who keeps the subscription.
pub(crate) struct Listening {
    changes: mpsc::Sender<Change>,
    task: AbortHandle,
}

/// What is watched has changed.
struct Change {
    /// What somebody wants to know the fate of.
    uri: String,
    done: oneshot::Sender<Result<bool, Error>>,
}

impl Listening {
    /// Watches what is wanted; `missed`, if something may have happened that nobody heard.
    pub(crate) fn new(line: &Arc<Line>, peer: &Arc<Peer>, dial: &Arc<Dial>, missed: bool) -> Self {
        let (changes, wanted) = mpsc::channel(WAITING);
        let (line, peer, dial) = (Arc::clone(line), Arc::clone(peer), Arc::clone(dial));
        let keeper = Keeper { line, peer, dial, failures: 0, missed, current: None };
        let task = tokio::spawn(keeper.keep(wanted)).abort_handle();
        Self { changes, task }
    }

    /// Has what is wanted now watched. Tells whether `uri` is.
    pub(crate) async fn change(&self, uri: &str) -> Result<bool, Error> {
        let (done, outcome) = oneshot::channel();
        let uri = uri.to_owned();
        let gone = || Error::Closed("the subscription is gone".to_owned());
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
    /// Whether something may have happened that nobody heard.
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

    /// Opens a subscription for all that is wanted now, then lets go of the last one.
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
                Ok(_) => Error::Malformed("a subscription ended before it began".to_owned()),
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

    /// Waits until there is a reason for another subscription: a change of mind, or an end.
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

    /// The server tells of nothing after all.
    async fn give_up(self, mut changes: mpsc::Receiver<Change>) {
        if self.missed {
            self.dial.herald.catch_up();
        }
        while let Some(Change { done, .. }) = changes.recv().await {
            let _ = done.send(Ok(false));
        }
    }
}
