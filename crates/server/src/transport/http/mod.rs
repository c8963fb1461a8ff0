//! Streamable HTTP server: every protocol revision at one path, and HTTP+SSE of 2024-11-05.

mod accept;
mod audit_trail;
mod body;
mod client_stream;
mod connection_threads;
mod cors;
mod explorer;
mod forwarded;
mod guard;
mod listen;
mod post;
mod post_headers;
mod principal;
mod replay;
mod request_body;
mod request_task;
mod requester;
mod session_stream;
mod sessions;
mod sse;
mod tls;
mod tokens;
mod tracked_body;

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, AsHeaderName, CACHE_CONTROL, HeaderValue, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use ipnet::IpNet;
use protocol::header::{self, RequestEra};
use tokio::sync::watch;

use crate::audit::AuditSink;
use crate::server::Server;
use crate::transport::fair_share::FairShare;
use accept::HttpConnection;
pub use accept::{Listener, serve};
use audit_trail::AuditTrail;
use body::HttpBody;
pub use connection_threads::ConnectionThreads;
use cors::AllowedOrigin;
pub use guard::OriginGuard;
use replay::EventId;
use requester::Requester;
use sessions::SessionTable;
pub use tls::TlsIdentity;
use tokens::Grant;
pub use tokens::{AccessToken, TokenTable};
use tracked_body::TrackedBody;

/// Path of the MCP endpoint.
pub const PATH: &str = "/mcp";

/// Path of the health check, which needs no token and tells only that the server runs.
pub const HEALTH_PATH: &str = "/health";

/// Who may use an HTTP server.
#[derive(Debug, Clone, Default)]
pub struct HttpOptions {
    /// The allowed values of `Origin` and `Host`.
    pub guard: OriginGuard,
    /// The accepted tokens.
    pub tokens: Arc<TokenTable>,
    /// The certificate; without one, TCP is not encrypted.
    pub tls: Option<Arc<TlsIdentity>>,
    /// Reverse proxies whose headers name the client.
    pub trusted_proxies: Vec<IpNet>,
    /// Receives a record of each request.
    pub audit: Option<Arc<dyn AuditSink>>,
    /// Whether TCP connections also get the page for people.
    pub page: bool,
    /// Threads for the connections; without them, the caller's runtime serves them.
    pub threads: Option<Arc<ConnectionThreads>>,
}

impl From<OriginGuard> for HttpOptions {
    fn from(guard: OriginGuard) -> Self {
        Self { guard, ..Self::default() }
    }
}

/// Shared state of all HTTP connections.
pub(crate) struct HttpServer {
    server: Arc<Server>,
    options: HttpOptions,
    sessions: SessionTable,
    /// The places of streams that last: listening requests and streams of sessions.
    streams: Arc<FairShare>,
    /// True once the server shuts down.
    closing: watch::Receiver<bool>,
}

impl HttpServer {
    async fn route(
        self: Arc<Self>,
        request: Request<Incoming>,
        connection: Arc<HttpConnection>,
    ) -> Response<TrackedBody> {
        if request.uri().path() == HEALTH_PATH {
            return TrackedBody::refused(answer_health(request.method()), AuditTrail::default());
        }
        let trail = AuditTrail::begin(&self.options, &request, &connection);
        let authority = request.uri().authority().map(|authority| authority.as_str());
        if self.has_page(&connection)
            && let Some(style) = explorer::serve_frame_style(&request, &self.options.guard)
        {
            return TrackedBody::refused(style, trail);
        }
        if let Err(rejection) = self.options.guard.check(authority, request.headers()) {
            let why = rejection.message();
            tracing::info!("a request was rejected by its Host or Origin header: {why}");
            return TrackedBody::refused(HttpBody::refusal(rejection.status(), why), trail);
        }
        let origin = AllowedOrigin::of(&request);
        let mut response = match origin.as_ref().and_then(|page| page.answer_preflight(&request)) {
            Some(response) => TrackedBody::refused(response, trail),
            None => self.respond_admitted(request, connection, trail).await,
        };
        if let Some(origin) = origin {
            origin.allow(response.headers_mut());
        }
        response
    }

    async fn respond_admitted(
        self: Arc<Self>,
        request: Request<Incoming>,
        connection: Arc<HttpConnection>,
        trail: AuditTrail,
    ) -> Response<TrackedBody> {
        if self.has_page(&connection) && explorer::is_page_path(request.uri().path()) {
            let tokens = &self.options.tokens;
            let response = explorer::serve_page(&request, tokens, connection.has_tls);
            return TrackedBody::refused(response, trail);
        }
        let grant = match self.admit(&request, &connection) {
            Ok(grant) => grant,
            Err(response) => return TrackedBody::refused(*response, trail),
        };
        let client = Requester::new(&grant.principal, trail, &request, connection);
        // Boxed: hyper keeps the memory of this future for as long as the connection is open.
        let response = Box::pin(Arc::clone(&self).handle(request, &client)).await;
        TrackedBody::track(response, grant, client)
    }

    /// Whether this connection gets the page for people. A browser opens no Unix socket.
    fn has_page(&self, connection: &HttpConnection) -> bool {
        self.options.page && connection.peer.is_some()
    }

    /// Checks on whose behalf a request is made, before anything else is read of it.
    fn admit(
        &self,
        request: &Request<Incoming>,
        connection: &HttpConnection,
    ) -> Result<Grant, Box<Response<HttpBody>>> {
        if connection.peer.is_none() {
            // The permissions of the socket file let in the process owner only.
            return Ok(Grant::local());
        }
        self.options.tokens.authenticate(request.headers()).map_err(|why| {
            tracing::info!("a request without a valid token was rejected: {}", why.message());
            let mut response = HttpBody::refusal(StatusCode::UNAUTHORIZED, why.message());
            let challenge = HeaderValue::from_static(why.challenge());
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            Box::new(response)
        })
    }

    async fn handle(
        self: Arc<Self>,
        request: Request<Incoming>,
        client: &Requester,
    ) -> Response<HttpBody> {
        if request.uri().path() != PATH {
            return HttpBody::refusal(StatusCode::NOT_FOUND, "the MCP endpoint is /mcp");
        }
        let session = header_text(request.headers(), &names::SESSION_ID).map(str::to_owned);
        let alone = || {
            let version = header_text(request.headers(), &names::PROTOCOL_VERSION);
            RequestEra::from_header(version) == RequestEra::Stateless
        };
        match (request.method(), session) {
            (&Method::POST, session) => post::handle_post(&self, request, session, client).await,
            (&Method::GET, Some(session)) if !alone() => {
                Box::pin(self.open_session_stream(&request, &session, client)).await
            }
            (&Method::GET, None) if !alone() && requests_sse(&request) => {
                sse::open_sse_session(&self, client)
            }
            (&Method::DELETE, Some(session)) if !alone() => {
                if self.sessions.end_session(&session, &client.principal) {
                    HttpBody::empty(StatusCode::NO_CONTENT)
                } else {
                    post::unknown_session()
                }
            }
            _ => method_not_allowed("POST"),
        }
    }

    /// Opens or resumes an SSE stream of a session.
    async fn open_session_stream(
        &self,
        request: &Request<Incoming>,
        session: &str,
        client: &Requester,
    ) -> Response<HttpBody> {
        let Some(session) = self.sessions.find(session, &client.principal) else {
            return post::unknown_session();
        };
        client.note_handshake(session.handshake.as_ref());
        if !accepts_sse(request.headers()) {
            return HttpBody::refusal(StatusCode::NOT_ACCEPTABLE, "send Accept: text/event-stream");
        }
        let last = header_text(request.headers(), header::LAST_EVENT_ID).and_then(EventId::parse);
        session_stream::open_or_resume(self, session, client, last).await
    }
}

/// Tells that the server runs, and nothing else.
fn answer_health(method: &Method) -> Response<HttpBody> {
    if method != Method::GET && method != Method::HEAD {
        return method_not_allowed("GET");
    }
    let mut response = HttpBody::small_json(r#"{"status":"ok"}"#);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// 503 for a client when all sessions are in use and fairly shared.
fn too_many_sessions() -> Response<HttpBody> {
    HttpBody::refusal(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open")
}

/// 503 for a client when all streams are in use and fairly shared.
fn too_many_streams() -> Response<HttpBody> {
    let why = "too many streams are open; close one, or try again later";
    HttpBody::refusal(StatusCode::SERVICE_UNAVAILABLE, why)
}

fn method_not_allowed(allowed: &'static str) -> Response<HttpBody> {
    let why = format!("not allowed here; use {allowed}");
    let mut response = HttpBody::refusal(StatusCode::METHOD_NOT_ALLOWED, &why);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// A header that is repeated or not text has a value that matches nothing.
const UNUSABLE: &str = "\u{0}";

/// Names that are looked up in every request, parsed once.
mod names {
    use hyper::header::HeaderName;
    use protocol::header;

    pub(super) static PROTOCOL_VERSION: HeaderName =
        HeaderName::from_static(header::PROTOCOL_VERSION);
    pub(super) static SESSION_ID: HeaderName = HeaderName::from_static(header::SESSION_ID);
}

/// A header. One that is repeated or not text becomes a value that matches nothing.
fn header_text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok().filter(|_| values.next().is_none());
    Some(value.unwrap_or(UNUSABLE))
}

/// Whether the client accepts SSE, if only by a wildcard.
fn accepts_sse(headers: &HeaderMap) -> bool {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| {
        ["text/event-stream", "text/*", "*/*"].iter().any(|kind| accepts.contains(kind))
    })
}

/// Whether the client asks for SSE by name; a wildcard is not enough.
fn requests_sse(request: &Request<Incoming>) -> bool {
    let accepts = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| accepts.contains("text/event-stream"))
}
