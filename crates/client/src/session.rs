//! One connected server: its requests, and its subscriptions in the server's revision.

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

/// How many `resources/subscribe` requests run concurrently after a reconnect.
const AT_ONCE: usize = 8;

/// A connection to a server whose revision and capabilities are known.
pub(crate) struct Session {
    pub(crate) line: Arc<Line>,
    pub(crate) peer: Arc<Peer>,
    dial: Arc<Dial>,
    listening: Option<Listening>,
}

/// One request, borrowed from its caller.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: Option<&'a RawValue>,
    pub(crate) progress: Option<&'a Listener>,
    /// Handles server requests that arrive during this request.
    pub(crate) party: Option<&'a Party>,
    /// Tool arguments to repeat as HTTP headers.
    pub(crate) mirrored: &'a [(String, String)],
}

impl Session {
    /// Starts the listen stream where the revision has one; `again` if this is a reconnect, so that
    /// the client may have missed changes.
    pub(crate) fn new(dial: Arc<Dial>, connected: Connected, again: bool) -> Arc<Self> {
        let Connected { line, peer, .. } = connected;
        let peer = Arc::new(peer);
        let listens = !peer.revision.has_handshake() && peer.has_news();
        let listening = listens.then(|| Listening::new(&line, &peer, &dial, again));
        Arc::new(Self { line, peer, dial, listening })
    }

    /// Renews all subscriptions after a reconnect and reports that anything may have changed.
    /// The listen stream, where there is one, does this itself.
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
                    tracing::warn!(%error, "cannot renew the subscription to a resource");
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

    /// Subscribes to one more resource. Returns whether the server accepted it.
    pub(crate) async fn subscribe(&self, uri: &str) -> Result<bool, Error> {
        if !self.peer.has_subscribe() {
            return Ok(false);
        }
        match &self.listening {
            Some(listening) => listening.change(uri).await,
            None => {
                // Open the stream first, so that no change after the subscription is lost.
                self.line.wire.listening().await;
                self.change(verb::SUBSCRIBE, uri).await.map(|()| true)
            }
        }
    }

    /// Ends the subscription to one resource.
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

    /// Whether a failure shows that the server is not of the era that negotiation found.
    pub(crate) fn is_misjudged(&self, lapse: &Lapse) -> bool {
        match lapse.denial() {
            Some(denial) => self.peer.revision.has_handshake() && denial.is_modern(),
            None => !self.peer.revision.has_handshake() && lapse.is_rejection(),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.line.board.end(&Error::Closed("closed by the client".to_owned()));
    }
}

/// Sends a request in the style of the server's revision.
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
