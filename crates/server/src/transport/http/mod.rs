//! Streamable HTTP server: every protocol revision at one path, and HTTP+SSE of 2024-11-05.

mod body;
mod guard;
mod listen;
mod post;
mod principal;
mod replay;
mod request_body;
mod request_task;
mod session_stream;
mod sessions;
mod sse;
mod write_timeout;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use protocol::header::{self, RequestEra};
use resource::Principal;
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time;

use crate::server::Server;
use crate::transport::wait_for_signal;
use body::HttpBody;
pub use guard::OriginGuard;
use principal::principal_of;
use replay::EventId;
use sessions::SessionTable;
use write_timeout::WriteTimeoutStream;

/// Path of the MCP endpoint.
pub const PATH: &str = "/mcp";

/// Shared state of all HTTP connections.
pub(crate) struct HttpServer {
    server: Arc<Server>,
    guard: OriginGuard,
    sessions: SessionTable,
    /// True once the server shuts down.
    closing: watch::Receiver<bool>,
}

/// Serves on `listener` until `shutdown` completes, then answers the requests in flight,
/// within a grace period.
pub async fn serve(
    server: Arc<Server>,
    listener: TcpListener,
    guard: OriginGuard,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(server.limits.connections));
    let farewell = server.limits.shutdown_grace;
    let (close, closing) = watch::channel(false);
    let sessions = SessionTable::new(&server.limits);
    let site = Arc::new(HttpServer { server, guard, sessions, closing });
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => continue,
            accepted = async { (place.await, listener.accept().await) } => accepted,
        };
        match accepted {
            (place, Ok((stream, _))) => {
                let connection = serve_connection(Arc::clone(&site), stream);
                connections.spawn(async move {
                    connection.await;
                    drop(place);
                });
            }
            // Out of file descriptors, or the client left meanwhile: try the next one.
            (_, Err(error)) => {
                tracing::warn!(%error, "could not accept a connection");
                time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    close.send_replace(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    let _ = time::timeout(farewell, finished).await;
    Ok(())
}

async fn serve_connection(http: Arc<HttpServer>, stream: TcpStream) {
    // Nagle's algorithm would delay small answers by 40 ms each.
    let _ = stream.set_nodelay(true);
    let limits = &http.server.limits;
    // The kernel would retransmit to a vanished client for a quarter of an hour.
    let patience = u32::try_from(limits.io_timeout.as_millis()).unwrap_or(u32::MAX);
    let _ = sockopt::set_tcp_user_timeout(&stream, patience);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.io_timeout)
        .max_buf_size(limits.headers.max(8 << 10));
    let mut closing = http.closing.clone();
    let service = service_fn(|request| {
        let site = Arc::clone(&http);
        async move { Ok::<_, Infallible>(site.route(request).await) }
    });
    let stream = WriteTimeoutStream::new(stream, limits.io_timeout);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = wait_for_signal(&mut closing) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended with an error");
    }
}

impl HttpServer {
    async fn route(self: Arc<Self>, request: Request<Incoming>) -> Response<HttpBody> {
        if let Err(why) = self.guard.check(request.headers()) {
            tracing::info!(why, "rejected a request by its Host or Origin header");
            return HttpBody::refusal(StatusCode::FORBIDDEN, why);
        }
        if request.uri().path() != PATH {
            return HttpBody::refusal(StatusCode::NOT_FOUND, "the MCP endpoint is /mcp");
        }
        let session = header_text(request.headers(), header::SESSION_ID).map(str::to_owned);
        let principal = principal_of(request.headers());
        let alone = || {
            let version = header_text(request.headers(), header::PROTOCOL_VERSION);
            RequestEra::from_header(version) == RequestEra::Stateless
        };
        match (request.method(), session) {
            (&Method::POST, session) => post::handle_post(&self, request, session, principal).await,
            (&Method::GET, Some(session)) if !alone() => {
                Box::pin(self.open_session_stream(&request, &session, &principal)).await
            }
            (&Method::GET, None) if !alone() && requests_sse(&request) => {
                sse::open_sse_session(&self, principal)
            }
            (&Method::DELETE, Some(session)) if !alone() => {
                if self.sessions.end_session(&session, &principal) {
                    HttpBody::empty(StatusCode::NO_CONTENT)
                } else {
                    post::unknown_session()
                }
            }
            _ => method_not_allowed(),
        }
    }

    /// Opens or resumes an SSE stream of a session.
    async fn open_session_stream(
        &self,
        request: &Request<Incoming>,
        session: &str,
        principal: &Principal,
    ) -> Response<HttpBody> {
        let Some(session) = self.sessions.find(session, principal) else {
            return post::unknown_session();
        };
        if !accepts_sse(request.headers()) {
            return HttpBody::refusal(StatusCode::NOT_ACCEPTABLE, "send Accept: text/event-stream");
        }
        let last = header_text(request.headers(), header::LAST_EVENT_ID).and_then(EventId::parse);
        session_stream::open_or_resume(self, session, last).await
    }
}

fn method_not_allowed() -> Response<HttpBody> {
    let mut response =
        HttpBody::refusal(StatusCode::METHOD_NOT_ALLOWED, "not allowed here; use POST");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

/// A header. One that is repeated or not text becomes a value that matches nothing.
fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok().filter(|_| values.next().is_none());
    Some(value.unwrap_or("\u{0}"))
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
