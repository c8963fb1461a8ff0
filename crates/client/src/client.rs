//! The client's public API: requests, answers, subscriptions, connection status.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use protocol::outbound::request;
use protocol::outbound::result_text::ResultText;
use resource::{Caller, ProgressSink};
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::components::ParamHeaderCache;
use crate::error::{Error, TransportFailure};
use crate::negotiate::Connector;
use crate::notifications::NotificationReceiver;
use crate::options::{Options, RevisionChoice, ServerTarget};
use crate::reconnect::{ConnectionStatus, ReconnectingConnection};
use crate::remote_server::RemoteServer;
use crate::server_requests::ServerRequestHandler;
use crate::session::RequestRef;
use crate::transport::connection::RequestTimeout;

/// A client of one server. Cheap to clone; all clones share one connection.
///
/// It connects at the first request, stays connected, and reconnects after a failure. Dropping
/// the future of an unanswered request cancels the request at the server.
#[derive(Clone)]
pub struct Client {
    pub(crate) connection: Arc<ReconnectingConnection>,
    pub(crate) param_headers: Arc<ParamHeaderCache>,
    /// The client of the same server in a session, for the calls of clients with a session.
    legacy: Arc<OnceLock<Self>>,
}

/// One request and its options.
#[derive(Clone)]
pub struct Request {
    method: String,
    params: Option<Box<RawValue>>,
    timeout: Option<Duration>,
    progress: Option<Arc<dyn ProgressSink>>,
    handler: Option<ServerRequestHandler>,
    param_headers: Vec<(String, String)>,
}

impl Request {
    /// A request for `method`, without parameters.
    pub fn new(method: &str) -> Self {
        Self {
            method: method.to_owned(),
            params: None,
            timeout: None,
            progress: None,
            handler: None,
            param_headers: Vec::new(),
        }
    }

    /// Sets the parameters, which must be a JSON object.
    #[must_use]
    pub fn params(self, params: Box<RawValue>) -> Self {
        Self { params: Some(params), ..self }
    }

    /// Sets parameters that name one resource.
    #[must_use]
    pub fn uri(self, uri: &str) -> Self {
        self.params(request::uri_params(uri))
    }

    /// Sets how long the server may stay silent; progress notifications restart the timer.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Asks for progress notifications and passes each to `sink`, which must not block.
    #[must_use]
    pub fn progress(self, sink: Arc<dyn ProgressSink>) -> Self {
        Self { progress: Some(sink), ..self }
    }

    /// Lets `handler` answer server requests and receive log messages during this request.
    ///
    /// Where the server does not say which request a message belongs to, the client uses the
    /// handler only if all pending requests that have one have the same caller.
    pub(crate) fn with_handler(self, handler: ServerRequestHandler) -> Self {
        Self { handler: Some(handler), ..self }
    }

    /// Repeats these tool arguments as HTTP headers, in revisions without a handshake.
    pub(crate) fn param_headers(self, mirrored: Vec<(String, String)>) -> Self {
        Self { param_headers: mirrored, ..self }
    }

    /// Continues a list at `cursor`, if there is one.
    pub(crate) fn at_cursor(self, cursor: Option<&str>) -> Result<Self, Error> {
        let Some(cursor) = cursor else { return Ok(self) };
        let params = request::next_page_params(self.params.as_deref(), cursor)?;
        Ok(self.params(params))
    }
}

impl Client {
    /// A client of `target`, not connected yet.
    pub fn new(target: ServerTarget, options: Options) -> Self {
        let connection = ReconnectingConnection::new(Connector::new(target, options));
        Self { connection, param_headers: Arc::default(), legacy: Arc::default() }
    }

    /// The client for the calls of `caller`: one with a session, where the caller has one, the
    /// server's requests can reach it only in a session, and the server offers both.
    ///
    /// Only over HTTP: a second child process would have a state of its own.
    pub(crate) async fn for_caller(&self, caller: Option<&dyn Caller>) -> Self {
        let connector = &self.connection.connector;
        let is_http = matches!(connector.target, ServerTarget::Http { .. });
        let may_choose = matches!(connector.options.revision, RevisionChoice::Newest);
        let has_session = caller.is_some_and(Caller::accepts_requests);
        if !is_http || !may_choose || !has_session {
            return self.clone();
        }
        match self.connection.session().await {
            Ok(session) if !session.peer.has_handshake() => {}
            _ => return self.clone(),
        }
        let legacy = self.legacy.get_or_init(|| {
            let options = Options {
                revision: RevisionChoice::NewestWithHandshake,
                connect_timeout: connector.options.discover_timeout,
                ..connector.options.clone()
            };
            Self::new(connector.target.clone(), options)
        });
        match legacy.connection.session().await {
            Ok(_) => legacy.clone(),
            Err(error) => {
                tracing::debug!(%error, "a server has no session for a client that has one");
                self.clone()
            }
        }
    }

    /// Sends a request and waits for its result, which is byte for byte as the server wrote it.
    ///
    /// After a lost session or a wrong guess at the server's era it reconnects; it repeats the
    /// request once, and only if the method is idempotent.
    pub async fn send_request(&self, request: &Request) -> Result<Box<RawValue>, Error> {
        Ok(self.send_for_content(request).await?.parse()?)
    }

    /// The same; a long result is parsed when it is decoded.
    pub(crate) async fn send_for_content(&self, request: &Request) -> Result<ResultText, Error> {
        let options = &self.connection.connector.options;
        let silence = request.timeout.unwrap_or(options.timeout);
        let patience = RequestTimeout::new(silence, options.max_duration.max(silence));
        let asked = RequestRef {
            method: &request.method,
            params: request.params.as_deref(),
            progress: request.progress.as_ref(),
            handler: request.handler.as_ref(),
            param_headers: &request.param_headers,
        };
        let mut may_repeat = request::is_idempotent(&request.method);
        loop {
            let session = self.connection.session_within(silence).await?;
            let lapse = match session.run_request(asked, patience).await {
                Ok(result) => return Ok(result),
                Err(lapse) => lapse,
            };
            if matches!(lapse, TransportFailure::SessionExpired) {
                self.connection.drop_session(&session, &lapse).await;
            } else if session.disproves_era(&lapse) {
                self.connection.forget_era(&session).await;
            } else {
                return Err(lapse.into());
            }
            if !std::mem::take(&mut may_repeat) {
                return Err(lapse.into());
            }
        }
    }

    /// The server's identity and capabilities. Connects if necessary.
    pub async fn peer(&self) -> Result<Arc<RemoteServer>, Error> {
        Ok(Arc::clone(&self.connection.session().await?.peer))
    }

    /// Reports all lists as changed once the first connection is open: for whoever goes on without
    /// waiting for it.
    pub fn announce_first_connection(&self) {
        self.connection.announce_first_connection();
    }

    /// The connection status, now and after each change.
    pub fn status(&self) -> watch::Receiver<ConnectionStatus> {
        self.connection.status()
    }

    /// The server's notifications from now on.
    pub fn notifications(&self) -> NotificationReceiver {
        self.connection.connector.notifications.receiver()
    }

    /// Subscribes to a resource; the subscription survives reconnects. Returns whether the server
    /// accepted it; if it did not, the client does not keep it.
    pub async fn subscribe(&self, uri: &str) -> Result<bool, Error> {
        let session = self.connection.session().await?;
        let herald = &self.connection.connector.notifications;
        let is_new = herald.add_uri(uri);
        let agreed = session.add_subscription(uri).await;
        if is_new && !matches!(agreed, Ok(true)) {
            herald.remove_uri(uri);
        }
        agreed
    }

    /// Ends the subscription to a resource.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), Error> {
        if !self.connection.connector.notifications.remove_uri(uri) {
            return Ok(());
        }
        // Without a connection, the server holds no subscription.
        match self.connection.current_session().await {
            Some(session) => session.remove_subscription(uri).await,
            None => Ok(()),
        }
    }

    /// Closes the connection: ends the HTTP session, or the child process.
    pub async fn close(&self) {
        self.connection.close_session().await;
        if let Some(legacy) = self.legacy.get() {
            legacy.connection.close_session().await;
        }
    }
}
