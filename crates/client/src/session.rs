//! How is a server asked that is known?

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use protocol::Peer;
use protocol::ask::{self, Manner, Question, verb};
use serde_json::value::RawValue;

use crate::error::{Error, Lapse};
use crate::listen::Listening;
use crate::negotiate::{Connected, Dial};
use crate::transport::Parcel;
use crate::transport::board::{Listener, Outcome, Party};
use crate::transport::line::{Asking, Hooks, Line, Patience, heading};

/// How many subscriptions are made at once.
const AT_ONCE: usize = 8;

/// A server, the way to it, and what it is told to watch.
pub(crate) struct Session {
    pub(crate) line: Arc<Line>,
    pub(crate) peer: Arc<Peer>,
    dial: Arc<Dial>,
    listening: Option<Listening>,
}

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: Option<&'a RawValue>,
    pub(crate) progress: Option<&'a Listener>,
    /// Who is to be turned to meanwhile.
    pub(crate) party: Option<&'a Party>,
    /// What headers repeat of the arguments of a tool.
    pub(crate) mirrored: &'a [(String, String)],
}

impl Session {
    /// Begins to watch; `again`, if something may have happened that nobody heard.
    pub(crate) fn new(dial: Arc<Dial>, connected: Connected, again: bool) -> Arc<Self> {
        let Connected { line, peer, .. } = connected;
        let peer = Arc::new(peer);
        let listens = !peer.revision.has_handshake() && peer.has_news();
        let listening = listens.then(|| Listening::new(&line, &peer, &dial, again));
        Arc::new(Self { line, peer, dial, listening })
    }

    /// Watches again what was watched before, and tells what may have been missed.
    pub(crate) async fn restore(&self) {
        if self.listening.is_some() {
            return;
        }
        self.line.wire.listening().await;
        let watched = self.dial.herald.wanted();
        let watched = if self.peer.has_subscribe() { watched } else { Default::default() };
        stream::iter(watched)
            .for_each_concurrent(AT_ONCE, |uri| async move {
                if let Err(error) = self.change(verb::SUBSCRIBE, &uri).await {
                    tracing::warn!(%error, "a resource is no longer watched");
                }
            })
            .await;
        self.dial.herald.catch_up();
    }

    pub(crate) async fn request(&self, asked: Asked<'_>, patience: Patience) -> Outcome {
        let party = asked.party.cloned();
        let hooks = Hooks { progress: asked.progress.cloned(), begun: None, party };
        let asking = begin(&self.line, &self.peer, &self.dial, asked, hooks)?;
        asking.within(patience).await
    }

    /// Watches one more resource. Tells whether the server agreed.
    pub(crate) async fn subscribe(&self, uri: &str) -> Result<bool, Error> {
        if !self.peer.has_subscribe() {
            return Ok(false);
        }
        match &self.listening {
            Some(listening) => listening.change(uri).await,
            None => {
                // What changes right after that must find somebody who listens.
                self.line.wire.listening().await;
                self.change(verb::SUBSCRIBE, uri).await.map(|()| true)
            }
        }
    }

    /// Watches one resource less.
    pub(crate) async fn unsubscribe(&self, uri: &str) -> Result<(), Error> {
        match &self.listening {
            Some(listening) => listening.change(uri).await.map(drop),
            None => self.change(verb::UNSUBSCRIBE, uri).await,
        }
    }

    async fn change(&self, method: &str, uri: &str) -> Result<(), Error> {
        let params = ask::about(uri);
        let asked =
            Asked { method, params: Some(&params), progress: None, party: None, mirrored: &[] };
        let time = self.dial.options.timeout;
        self.request(asked, Patience::new(time, time)).await?;
        Ok(())
    }

    /// Whether an answer shows that the server is of another era than it was found to be.
    pub(crate) fn is_misjudged(&self, lapse: &Lapse) -> bool {
        match lapse.denial() {
            Some(denial) => self.peer.revision.has_handshake() && denial.is_modern(),
            None => !self.peer.revision.has_handshake() && lapse.is_rejection(),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.line.board.end(&Error::Closed("we closed it".to_owned()));
    }
}

/// Sends a request in the manner of the server.
pub(crate) fn begin(
    line: &Arc<Line>,
    peer: &Peer,
    dial: &Dial,
    asked: Asked<'_>,
    hooks: Hooks,
) -> Result<Asking, Error> {
    let Asked { method, params, progress, mirrored, .. } = asked;
    let (id, revision) = (dial.id(), peer.revision);
    let question = Question { id, method, params, progress: progress.is_some() };
    let (manner, heading, mirrored) = if revision.has_handshake() {
        (Manner::Opened, Vec::new(), Vec::new())
    } else {
        let heading = heading(revision.as_str(), method, ask::name(method, params));
        (Manner::Alone(revision), heading, mirrored.to_vec())
    };
    let body = dial.asker.request(question, manner)?;
    Ok(line.ask(id, Parcel { body, heading, mirrored, ..Parcel::default() }, hooks))
}
