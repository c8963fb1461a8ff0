//! One connected server: its requests, and its subscriptions in the server's revision.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use protocol::LogLevel;
use protocol::outbound::components::log_level_params;
use protocol::outbound::request::{self, RequestStyle, UpstreamRequest, methods};
use resource::{ProgressSink, TraceContext};
use serde_json::value::RawValue;

use crate::error::{Error, TransportFailure};
use crate::listen::ListenHandle;
use crate::negotiate::{Connector, NegotiatedConnection};
use crate::remote_server::RemoteServer;
use crate::server_requests::ServerRequestHandler;
use crate::trace::current_trace;
use crate::transport::OutboundMessage;
use crate::transport::connection::{
    Connection, RequestHandle, RequestHooks, RequestTimeout, request_headers,
};
use crate::transport::pending::RequestOutcome;

/// How many `resources/subscribe` requests run concurrently after a reconnect.
const MAX_CONCURRENT_SUBSCRIBES: usize = 8;

/// A connection to a server whose revision and capabilities are known.
pub(crate) struct ServerSession {
    pub(crate) connection: Arc<Connection>,
    pub(crate) peer: Arc<RemoteServer>,
    connector: Arc<Connector>,
    listen_stream: Option<ListenHandle>,
    /// The log level that the client last set.
    log_level: Mutex<Option<LogLevel>>,
}

/// One request, borrowed from its caller.
#[derive(Clone, Copy)]
pub(crate) struct RequestRef<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: Option<&'a RawValue>,
    pub(crate) progress: Option<&'a Arc<dyn ProgressSink>>,
    /// Handles server requests that arrive during this request.
    pub(crate) handler: Option<&'a ServerRequestHandler>,
    /// Tool arguments to repeat as HTTP headers.
    pub(crate) param_headers: &'a [(String, String)],
}

impl ServerSession {
    /// Starts the listen stream where the revision has one; `again` if this is a reconnect, so that
    /// the client may have missed changes.
    pub(crate) fn new(
        connector: Arc<Connector>,
        negotiated: NegotiatedConnection,
        again: bool,
    ) -> Arc<Self> {
        let NegotiatedConnection { connection: line, peer, .. } = negotiated;
        let peer = Arc::new(RemoteServer::from(peer));
        let listens = !peer.has_handshake() && peer.capabilities.has_notifications;
        let listen_stream = listens.then(|| ListenHandle::new(&line, &peer, &connector, again));
        let log_level = Mutex::default();
        Arc::new(Self { connection: line, peer, connector, listen_stream, log_level })
    }

    /// Renews all subscriptions after a reconnect and reports that anything may have changed.
    /// The listen stream, where there is one, does this itself.
    pub(crate) async fn resubscribe(&self) {
        if self.listen_stream.is_some() {
            return;
        }
        self.connection.transport.wait_for_notifications().await;
        let watched = self.connector.notifications.subscribed_uris();
        let watched =
            if self.peer.capabilities.has_subscribe { watched } else { Default::default() };
        stream::iter(watched)
            .for_each_concurrent(MAX_CONCURRENT_SUBSCRIBES, |uri| async move {
                if let Err(error) = self.send_subscription_change(methods::SUBSCRIBE, &uri).await {
                    let server = &self.connector.options.log_name;
                    tracing::warn!("{server}: a subscription cannot be renewed: {error}");
                }
            })
            .await;
        self.connector.notifications.report_gap();
    }

    pub(crate) async fn run_request(
        &self,
        request: RequestRef<'_>,
        timeout: RequestTimeout,
    ) -> RequestOutcome {
        let party = request.handler.cloned();
        let hooks = RequestHooks {
            progress: request.progress.cloned(),
            acknowledged: None,
            handler: party,
        };
        let asking = start_request(&self.connection, &self.peer, &self.connector, request, hooks)?;
        asking.wait_within(timeout).await
    }

    /// Subscribes to one more resource. Returns whether the server accepted it.
    pub(crate) async fn add_subscription(&self, uri: &str) -> Result<bool, Error> {
        if !self.peer.capabilities.has_subscribe {
            return Ok(false);
        }
        match &self.listen_stream {
            Some(listening) => listening.update(uri).await,
            None => {
                // Open the stream first, so that no change after the subscription is lost.
                self.connection.transport.wait_for_notifications().await;
                self.send_subscription_change(methods::SUBSCRIBE, uri).await.map(|()| true)
            }
        }
    }

    /// Ends the subscription to one resource.
    pub(crate) async fn remove_subscription(&self, uri: &str) -> Result<(), Error> {
        match &self.listen_stream {
            Some(listening) => listening.update(uri).await.map(drop),
            None => self.send_subscription_change(methods::UNSUBSCRIBE, uri).await,
        }
    }

    /// Lowers the server's log threshold to `level`, if it is higher. Only for revisions with one
    /// level per connection; each caller's own level filters the messages later.
    pub(crate) async fn lower_log_level(&self, level: LogLevel) -> Result<(), Error> {
        if !self.peer.has_handshake() || !self.peer.capabilities.has_logging {
            return Ok(());
        }
        {
            let mut current = self.log_level.lock();
            if current.is_some_and(|current| current <= level) {
                return Ok(());
            }
            *current = Some(level);
        }
        self.send_simple(methods::SET_LOG_LEVEL, &log_level_params(level)).await
    }

    async fn send_subscription_change(&self, method: &str, uri: &str) -> Result<(), Error> {
        self.send_simple(method, &request::uri_params(uri)).await
    }

    /// Sends a request whose result says nothing.
    async fn send_simple(&self, method: &str, params: &RawValue) -> Result<(), Error> {
        let asked = RequestRef {
            method,
            params: Some(params),
            progress: None,
            handler: None,
            param_headers: &[],
        };
        let time = self.connector.options.timeout;
        self.run_request(asked, RequestTimeout::new(time, time)).await?;
        Ok(())
    }

    /// Whether a failure shows that the server is not of the era that negotiation found.
    pub(crate) fn disproves_era(&self, failure: &TransportFailure) -> bool {
        match failure.rpc_error() {
            Some(denial) => self.peer.has_handshake() && denial.is_stateless_era(),
            None => !self.peer.has_handshake() && failure.is_other_era_status(),
        }
    }
}

impl Drop for ServerSession {
    fn drop(&mut self) {
        self.connection.pending.end(&Error::Closed("closed by the client".to_owned()));
    }
}

/// Sends a request in the style of the server's revision.
pub(crate) fn start_request(
    connection: &Arc<Connection>,
    peer: &RemoteServer,
    connector: &Connector,
    request: RequestRef<'_>,
    hooks: RequestHooks,
) -> Result<RequestHandle, Error> {
    let RequestRef { method, params, progress, param_headers: mirrored, .. } = request;
    let (id, revision) = (connector.allocate_id(), peer.revision);
    let trace = current_trace();
    let (progress, trace) = (progress.is_some(), trace.as_deref());
    let question = UpstreamRequest { id, method, params, progress, trace };
    let (manner, mut heading, mirrored) = if revision.has_handshake() {
        (RequestStyle::Session, Vec::new(), Vec::new())
    } else {
        let heading = request_headers(revision.as_str(), method, request::mcp_name(method, params));
        (RequestStyle::Stateless(revision), heading, mirrored.to_vec())
    };
    let fields = trace.into_iter().flat_map(TraceContext::fields);
    heading.extend(fields.map(|(field, value)| (field, value.to_owned())));
    let body = connector.identity.encode_request(question, manner)?;
    Ok(connection.open_request(
        id,
        OutboundMessage {
            body,
            headers: heading,
            param_headers: mirrored,
            ..OutboundMessage::default()
        },
        hooks,
    ))
}
