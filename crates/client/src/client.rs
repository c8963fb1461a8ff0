//! The client's public API: requests, answers, subscriptions, connection status.

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

/// A client of one server. Cheap to clone; all clones share one connection.
///
/// It connects at the first request, stays connected, and reconnects after a failure. Dropping
/// the future of an unanswered request cancels the request at the server.
#[derive(Clone)]
pub struct Client {
    pub(crate) link: Arc<Link>,
}

/// One request and its options.
#[derive(Clone)]
pub struct Request {
    method: String,
    params: Option<Box<RawValue>>,
    timeout: Option<Duration>,
    progress: Option<Listener>,
    party: Option<Party>,
    mirrored: Vec<(String, String)>,
}

/// A server's result.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The result, byte for byte.
    pub result: Box<RawValue>,
    /// The server that answered.
    pub peer: Arc<Peer>,
}

impl Request {
    /// A request for `method`, without parameters.
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

    /// Sets the parameters, which must be a JSON object.
    #[must_use]
    pub fn params(self, params: Box<RawValue>) -> Self {
        Self { params: Some(params), ..self }
    }

    /// Sets parameters that name one resource.
    #[must_use]
    pub fn about(self, uri: &str) -> Self {
        self.params(ask::about(uri))
    }

    /// Sets how long the server may stay silent; progress notifications restart the timer.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Asks for progress notifications and passes each to `listener`, which must not block.
    #[must_use]
    pub fn progress(self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { progress: Some(Arc::new(listener)), ..self }
    }

    /// Lets `handler` answer server requests and receive log messages during this request.
    ///
    /// Where the server does not say which request a message belongs to, the client uses the
    /// handler only if all pending requests that have one carry the same `number`.
    #[must_use]
    pub fn answered_by(self, number: u64, handler: Arc<dyn Handler>) -> Self {
        Self { party: Some(Party { number, handler }), ..self }
    }

    /// Repeats these tool arguments as HTTP headers, in revisions without a handshake.
    #[must_use]
    pub fn mirroring(self, mirrored: Vec<(String, String)>) -> Self {
        Self { mirrored, ..self }
    }

    /// Continues a list at `cursor`, if there is one.
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
    /// A client of `target`, not connected yet.
    pub fn new(target: Target, options: Options) -> Self {
        Self { link: Link::new(Dial::new(target, options)) }
    }

    /// Sends a request for `method`; `params` must be a JSON object.
    pub async fn request(
        &self,
        method: &str,
        params: Option<Box<RawValue>>,
    ) -> Result<Answer, Error> {
        self.ask(&Request { params, ..Request::new(method) }).await
    }

    /// Sends a request and waits for its result.
    ///
    /// After a lost session or a wrong guess at the server's era it reconnects; it repeats the
    /// request once, and only if the method is idempotent.
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

    /// Iterates over the pages of a list from the first; at most `most` pages.
    pub fn pages(&self, request: Request, most: usize) -> Pages {
        Pages::new(self.clone(), request, most)
    }

    /// The server's identity and capabilities. Connects if necessary.
    pub async fn peer(&self) -> Result<Arc<Peer>, Error> {
        Ok(Arc::clone(&self.link.session().await?.peer))
    }

    /// The connection status, now and after each change.
    pub fn state(&self) -> watch::Receiver<Standing> {
        self.link.standing()
    }

    /// The server's notifications from now on.
    pub fn notices(&self) -> Notices {
        self.link.dial.herald.listen()
    }

    /// Subscribes to a resource; the subscription survives reconnects. Returns whether the server
    /// accepted it; if it did not, the client does not keep it.
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

    /// Ends the subscription to a resource.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), Error> {
        if !self.link.dial.herald.unwant(uri) {
            return Ok(());
        }
        // Without a connection, the server holds no subscription.
        match self.link.current().await {
            Some(session) => session.unsubscribe(uri).await,
            None => Ok(()),
        }
    }

    /// Closes the connection: ends the HTTP session, or the child process.
    pub async fn close(&self) {
        self.link.close().await;
    }
}
