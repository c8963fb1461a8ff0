//! Connects to a server and negotiates its protocol revision.
//!
//! The order is that of the specification: `server/discover`, which only newer servers know, then
//! `initialize`, then HTTP+SSE. No single error code decides.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use protocol::outbound::request::{RequestStyle, UpstreamRequest, encode_initialized, methods};
use protocol::outbound::response;
use protocol::{ClientIdentity, Peer, Revision, RpcError};
use serde_json::value::RawValue;

use crate::error::{Error, TransportFailure};
use crate::notifications::NotificationDispatcher;
use crate::options::{AnsweredRequests, Options, ServerTarget};
use crate::secret_mask::SecretMask;
use crate::server_requests::ServerRequestHandler;
use crate::transport::connection::{Connection, RequestHooks, RequestTimeout, request_headers};
use crate::transport::http::{self, HttpPool, HttpVariant};
use crate::transport::pending::PendingRequests;
use crate::transport::{OutboundMessage, Transport, child, pipe};

/// The era of a server, as negotiation found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerEra {
    /// No handshake: every request carries its revision (2026-07-28).
    Stateless,
    /// A session that begins with `initialize`.
    Handshake,
    /// A session over HTTP+SSE (2024-11-05): all answers come on one stream.
    HttpSse,
}

/// An open connection to a server, and what negotiation found.
pub(crate) struct NegotiatedConnection {
    pub(crate) connection: Arc<Connection>,
    pub(crate) peer: Peer,
    pub(crate) era: ServerEra,
}

/// Everything needed to connect to a server.
pub(crate) struct Connector {
    pub(crate) target: ServerTarget,
    pub(crate) options: Options,
    pub(crate) notifications: Arc<NotificationDispatcher>,
    pub(crate) identity: ClientIdentity,
    /// The secrets that the server gets.
    pub(crate) mask: Arc<SecretMask>,
    next_id: AtomicU64,
    /// The HTTP connection pool, shared by all connection attempts.
    pool: OnceLock<Result<Arc<HttpPool>, Error>>,
}

impl Connector {
    pub(crate) fn new(target: ServerTarget, options: Options) -> Self {
        let identity = options.identity();
        // Ids start at 1: some servers take 0 for a missing id.
        let (next_id, pool) = (AtomicU64::new(1), OnceLock::new());
        let mask = Arc::new(SecretMask::new(&target, &options.secrets));
        Self { target, options, notifications: Arc::default(), identity, mask, next_id, pool }
    }

    pub(crate) fn allocate_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Connects to the server, starting with the era of the last connection.
    pub(crate) async fn establish(
        &self,
        known: Option<ServerEra>,
    ) -> Result<NegotiatedConnection, Error> {
        let mut connected = self.negotiate(known).await;
        // The server may have been replaced by one of another era.
        if known.is_some() && connected.as_ref().is_err_and(|error| self.may_be_other_era(error)) {
            connected = self.negotiate(None).await;
        }
        connected.map_err(|error| match error {
            // A server that rejects every opening counts as unreachable.
            Error::Refused(_) | Error::TimedOut => Error::Unreachable(error.to_string()),
            error => error,
        })
    }

    /// Whether the server might accept another opening after this error.
    fn may_be_other_era(&self, error: &Error) -> bool {
        match error {
            Error::Refused(_) | Error::Malformed(_) | Error::TimedOut => true,
            // Over HTTP another attempt is cheap; a child process would have to be restarted.
            Error::Unreachable(_) => matches!(self.target, ServerTarget::Http { .. }),
            Error::Closed(_) | Error::TooLarge(_) | Error::Unauthorized => false,
        }
    }

    async fn negotiate(&self, known: Option<ServerEra>) -> Result<NegotiatedConnection, Error> {
        match &self.target {
            ServerTarget::Http { url, headers } => {
                let pool = self.pool.get_or_init(|| HttpPool::new(url, headers).map(Arc::new));
                self.negotiate_http(pool.as_ref().map_err(Clone::clone)?, known).await
            }
            ServerTarget::Child { .. } | ServerTarget::Pipes(_) => {
                self.negotiate_pipes(known).await
            }
        }
    }

    /// MCP 2026-07-28, stdio: after an error or silence, the client tries the handshake.
    async fn negotiate_pipes(
        &self,
        known: Option<ServerEra>,
    ) -> Result<NegotiatedConnection, Error> {
        let mut line = self.open_pipes()?;
        let mut is_slow = false;
        let choice = self.options.revision;
        if known != Some(ServerEra::Handshake) && choice.to_discover().is_some() {
            match self.discover(&line, self.options.discover_timeout).await {
                Ok(Some(peer)) => {
                    return Ok(NegotiatedConnection {
                        connection: line,
                        peer,
                        era: ServerEra::Stateless,
                    });
                }
                Ok(None) => {}
                Err(TransportFailure::Error(Error::Closed(why))) => {
                    // Some servers exit at the first method they do not know.
                    tracing::debug!(why, "a server exited at the discovery request");
                    line = self.open_pipes()?;
                }
                Err(TransportFailure::Error(error @ Error::Unreachable(_))) => return Err(error),
                Err(lapse) if choice.to_initialize().is_none() => return Err(lapse.into()),
                Err(lapse) => {
                    is_slow = matches!(lapse, TransportFailure::Error(Error::TimedOut));
                    tracing::debug!("no discovery, so a handshake: {}", Error::from(lapse));
                }
            }
        }
        let lapse = match self.initialize(&line).await {
            Ok(peer) => {
                return Ok(NegotiatedConnection {
                    connection: line,
                    peer,
                    era: ServerEra::Handshake,
                });
            }
            Err(lapse) => lapse,
        };
        // A server that rejects the handshake was only slow to start: repeat the discovery.
        if is_slow
            && lapse.rpc_error().is_some()
            && let Ok(Some(peer)) = self.discover(&line, self.options.discover_timeout).await
        {
            return Ok(NegotiatedConnection { connection: line, peer, era: ServerEra::Stateless });
        }
        Err(lapse.into())
    }

    async fn negotiate_http(
        &self,
        pool: &Arc<HttpPool>,
        known: Option<ServerEra>,
    ) -> Result<NegotiatedConnection, Error> {
        let most = self.options.max_message_bytes;
        let connect = |style| {
            self.new_connection(|board| {
                Ok(Box::new(http::open_streamable(Arc::clone(pool), style, &board, most)) as _)
            })
        };
        let choice = self.options.revision;
        if matches!(known, None | Some(ServerEra::Stateless)) && choice.to_discover().is_some() {
            let line = connect(HttpVariant::Stateless)?;
            match self.discover(&line, self.options.connect_timeout).await {
                Ok(Some(peer)) => {
                    return Ok(NegotiatedConnection {
                        connection: line,
                        peer,
                        era: ServerEra::Stateless,
                    });
                }
                Err(TransportFailure::Error(error)) if !is_unexpected_answer(&error) => {
                    return Err(error);
                }
                Err(lapse @ TransportFailure::HttpStatus { .. })
                    if !lapse.is_other_era_status() =>
                {
                    return Err(lapse.into());
                }
                Ok(None) | Err(_) => {}
            }
        }
        if known != Some(ServerEra::HttpSse) || !choice.tries_http_sse() {
            let line = connect(HttpVariant::Session)?;
            match self.initialize(&line).await {
                Ok(peer) => {
                    return Ok(NegotiatedConnection {
                        connection: line,
                        peer,
                        era: ServerEra::Handshake,
                    });
                }
                Err(lapse) if !lapse.is_other_era_status() || !choice.tries_http_sse() => {
                    return Err(lapse.into());
                }
                Err(_) => {}
            }
        }
        let board = self.new_pending();
        let wire = http::open_http_sse(Arc::clone(pool), Arc::clone(&board), most).await?;
        let line = Arc::new(Connection { transport: Box::new(wire), pending: board });
        let peer = self.initialize(&line).await?;
        Ok(NegotiatedConnection { connection: line, peer, era: ServerEra::HttpSse })
    }

    /// Sends `server/discover`. `None` means that the server needs a handshake.
    async fn discover(
        &self,
        connection: &Arc<Connection>,
        time: Duration,
    ) -> Result<Option<Peer>, TransportFailure> {
        let Some(revision) = self.options.revision.to_discover() else { return Ok(None) };
        let (id, method) = (self.allocate_id(), methods::DISCOVER);
        let question = UpstreamRequest { id, method, params: None, progress: false, trace: None };
        let body = self
            .identity
            .encode_request(question, RequestStyle::Stateless(revision))
            .map_err(Error::from)?;
        let heading = request_headers(revision.as_str(), method, None);
        let parcel = OutboundMessage { body, headers: heading, ..OutboundMessage::default() };
        match self.send_opening(connection, id, parcel, time).await {
            Ok(result) => Ok(Peer::from_discover(&result)),
            Err(lapse) => match lapse.rpc_error().map(|denial| era_from_error(denial, revision)) {
                Some(verdict) => Ok(verdict?),
                None => Err(lapse),
            },
        }
    }

    /// Opens a session with the `initialize` handshake.
    async fn initialize(&self, connection: &Arc<Connection>) -> Result<Peer, TransportFailure> {
        let choice = self.options.revision;
        let Some(revision) = choice.to_initialize() else {
            let words = "the server does not support the revision that the settings name";
            return Err(Error::Unreachable(words.to_owned()).into());
        };
        let id = self.allocate_id();
        let parcel = OutboundMessage {
            body: self.identity.encode_initialize(id, revision),
            ..OutboundMessage::default()
        };
        let result =
            self.send_opening(connection, id, parcel, self.options.connect_timeout).await?;
        let peer = Peer::from_initialize(&result).map_err(Error::from)?;
        if !choice.accepts(peer.revision) {
            let words = format!("the server supports revision {} only", peer.revision.as_str());
            return Err(Error::Unreachable(words).into());
        }
        connection.transport.set_revision(peer.revision.as_str());
        connection.transport.send_and_wait(encode_initialized()).await;
        connection.transport.open_notifications();
        Ok(peer)
    }

    async fn send_opening(
        &self,
        connection: &Arc<Connection>,
        id: u64,
        message: OutboundMessage,
        time: Duration,
    ) -> Result<Box<RawValue>, TransportFailure> {
        let asking = connection.open_request(id, message, RequestHooks::default()).without_cancel();
        let result = asking.wait_within(RequestTimeout::new(time, time)).await?;
        Ok(result.parse().map_err(Error::from)?)
    }

    fn new_pending(&self) -> Arc<PendingRequests> {
        let handler = (self.options.answers != AnsweredRequests::None)
            .then_some(ServerRequestHandler::NoCaller);
        PendingRequests::new(
            Arc::clone(&self.notifications),
            handler,
            Arc::clone(&self.mask),
            (&self.options.log_name, &self.options.memory),
        )
    }

    fn new_connection(
        &self,
        wire: impl FnOnce(Arc<PendingRequests>) -> Result<Box<dyn Transport>, Error>,
    ) -> Result<Arc<Connection>, Error> {
        let board = self.new_pending();
        let wire = wire(Arc::clone(&board))?;
        Ok(Arc::new(Connection { transport: wire, pending: board }))
    }

    fn open_pipes(&self) -> Result<Arc<Connection>, Error> {
        let Options { max_message_bytes: message, exit_timeout, .. } = self.options;
        self.new_connection(|board| {
            Ok(match &self.target {
                ServerTarget::Child { command, args, inherited_env, env, cwd } => {
                    let (cwd, supervisor) = (cwd.as_ref(), self.options.supervisor.as_ref());
                    let program =
                        child::ChildCommand { supervisor, command, args, inherited_env, env, cwd };
                    Box::new(child::spawn(program, board, message, exit_timeout)?)
                }
                ServerTarget::Pipes(pipes) => {
                    let failed = |error: std::io::Error| Error::Unreachable(error.to_string());
                    Box::new(pipe::connect(pipes.open().map_err(failed)?, board, message))
                }
                ServerTarget::Http { .. } => return Err(Error::Unreachable("no pipes".to_owned())),
            })
        })
    }
}

/// Whether a server of another era might answer like this.
fn is_unexpected_answer(error: &Error) -> bool {
    matches!(error, Error::Malformed(_) | Error::Refused(_))
}

/// Reads the era from an error to `server/discover`: a peer if the server is modern, `None` if it
/// needs a handshake.
fn era_from_error(error: &RpcError, asked: Revision) -> Result<Option<Peer>, Error> {
    if !error.is_unsupported_revision() {
        return Ok(error.is_stateless_era().then(|| Peer::with_revision(asked)));
    }
    let offered = error.supported_revisions();
    if let Some(revision) = response::common_revision(offered.iter().map(String::as_str)) {
        return Ok(Some(Peer::with_revision(revision)));
    }
    if offered.iter().any(|date| Revision::from_date(date).is_some()) {
        return Ok(None);
    }
    let offered: String = offered.join(", ").chars().take(200).collect();
    Err(Error::Unreachable(format!("no common protocol revision; the server supports: {offered}")))
}
