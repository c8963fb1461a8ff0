//! What can be asked of a server, and what does it answer?

use std::sync::Arc;
use std::time::Duration;

use protocol::answer::Progress;
use protocol::{Peer, ask};
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::error::{Error, Lapse};
use crate::link::{Link, Standing};
use crate::negotiate::Dial;
use crate::notices::Notices;
use crate::options::{Handler, Options, Target};
use crate::pages::Pages;
use crate::session::Asked;
use crate::transport::board::{Listener, Party};
use crate::transport::line::Patience;

/// A server to ask. Cheap to clone; all clones share one connection.
///
/// It connects at the first request, stays connected, and connects again after a failure. What
/// is dropped before it is answered is cancelled at the server.
#[derive(Clone)]
pub struct Client {
    pub(crate) link: Arc<Link>,
}

/// What is to be asked.
#[derive(Clone)]
pub struct Request {
    method: String,
    params: Option<Box<RawValue>>,
    timeout: Option<Duration>,
    progress: Option<Listener>,
    party: Option<Party>,
    mirrored: Vec<(String, String)>,
}

/// What a server answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The result, byte for byte.
    pub result: Box<RawValue>,
    /// Who answered.
    pub peer: Arc<Peer>,
}

impl Request {
    /// Asks for `method`.
    pub fn new(method: &str) -> Self {
        Self {
            method: method.to_owned(),
            params: None,
            timeout: None,
            progress: None,
            party: None,
            mirrored: Vec::new(),
        }
    }

    /// With these parameters, an object.
    #[must_use]
    pub fn params(self, params: Box<RawValue>) -> Self {
        Self { params: Some(params), ..self }
    }

    /// With parameters that name one resource.
    #[must_use]
    pub fn about(self, uri: &str) -> Self {
        self.params(ask::about(uri))
    }

    /// The server may be silent for this long.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Asks to be told how far it has come. Must not block.
    #[must_use]
    pub fn progress(self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { progress: Some(Arc::new(listener)), ..self }
    }

    /// `handler` answers what the server asks meanwhile, and hears what it logs. Where the server
    /// does not tell which request it is about, it must be clear: requests of one `number` have
    /// one party.
    #[must_use]
    pub fn answered_by(self, number: u64, handler: Arc<dyn Handler>) -> Self {
        Self { party: Some(Party { number, handler }), ..self }
    }

    /// Headers repeat these arguments, where requests stand alone and go over HTTP.
    #[must_use]
    pub fn mirroring(self, mirrored: Vec<(String, String)>) -> Self {
        Self { mirrored, ..self }
    }

    /// Going on at `cursor`, where it is a list.
    pub(crate) fn from(self, cursor: Option<&str>) -> Result<Self, Error> {
        let Some(cursor) = cursor else { return Ok(self) };
        let first = self.first();
        self.going_on(first.as_deref(), cursor)
    }

    pub(crate) fn going_on(&self, first: Option<&RawValue>, cursor: &str) -> Result<Self, Error> {
        Ok(self.clone().params(ask::going_on(first, cursor)?))
    }

    pub(crate) fn first(&self) -> Option<Box<RawValue>> {
        self.params.clone()
    }
}

impl Client {
    /// A client of `target`, which is not reached yet.
    pub fn new(target: Target, options: Options) -> Self {
        Self { link: Link::new(Dial::new(target, options)) }
    }

    /// Asks for `method`, with `params` that are an object.
    pub async fn request(
        &self,
        method: &str,
        params: Option<Box<RawValue>>,
    ) -> Result<Answer, Error> {
        self.ask(&Request { params, ..Request::new(method) }).await
    }

    /// Asks.
    pub async fn ask(&self, request: &Request) -> Result<Answer, Error> {
        let options = &self.link.dial.options;
        let silence = request.timeout.unwrap_or(options.timeout);
        let patience = Patience::new(silence, options.longest.max(silence));
        let asked = Asked {
            method: &request.method,
            params: request.params.as_deref(),
            progress: request.progress.as_ref(),
            party: request.party.as_ref(),
            mirrored: &request.mirrored,
        };
        let mut may_repeat = ask::is_idempotent(&request.method);
        loop {
            let session = self.link.session_within(silence).await?;
            let lapse = match session.request(asked, patience).await {
                Ok(result) => return Ok(Answer { result, peer: Arc::clone(&session.peer) }),
                Err(lapse) => lapse,
            };
            if matches!(lapse, Lapse::Expired) {
                self.link.lose(&session, &lapse).await;
            } else if session.is_misjudged(&lapse) {
                self.link.doubt(&session).await;
            } else {
                return Err(lapse.into());
            }
            if !std::mem::take(&mut may_repeat) {
                return Err(lapse.into());
            }
        }
    }

    /// Walks a list from its beginning, `most` pages at most.
    pub fn pages(&self, request: Request, most: usize) -> Pages {
        Pages::new(self.clone(), request, most)
    }

    /// Who the server is and what it can do. Connects, if need be.
    pub async fn peer(&self) -> Result<Arc<Peer>, Error> {
        Ok(Arc::clone(&self.link.session().await?.peer))
    }

    /// How the server is, now and whenever that changes.
    pub fn state(&self) -> watch::Receiver<Standing> {
        self.link.standing()
    }

    /// What the server tells unasked, from now on.
    pub fn notices(&self) -> Notices {
        self.link.dial.herald.listen()
    }

    /// Watches a resource from now on, whatever becomes of the connection. Tells whether the
    /// server agreed; if not, it is not watched.
    pub async fn subscribe(&self, uri: &str) -> Result<bool, Error> {
        let session = self.link.session().await?;
        let herald = &self.link.dial.herald;
        let is_new = herald.want(uri);
        let agreed = session.subscribe(uri).await;
        if is_new && !matches!(agreed, Ok(true)) {
            herald.unwant(uri);
        }
        agreed
    }

    /// Watches a resource no more.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), Error> {
        if !self.link.dial.herald.unwant(uri) {
            return Ok(());
        }
        // Where there is no connection, there is nothing that is watched.
        match self.link.current().await {
            Some(session) => session.unsubscribe(uri).await,
            None => Ok(()),
        }
    }

    /// Takes leave of the server: ends the session, or the program.
    pub async fn close(&self) {
        self.link.close().await;
    }
}
