//! Streamable HTTP server: every protocol revision at one path, and HTTP+SSE of 2024-11-05.

mod body;
mod events;
mod guard;
mod impatient;
mod listen;
mod post;
mod replay;
mod running;
mod sessions;
mod stream;

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
use protocol::header::{self, Era};
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time;

use crate::server::Server;
use crate::transport::over;
use body::Body;
pub use guard::Guard;
use impatient::Impatient;
use replay::Mark;
use sessions::Sessions;

/// Path of the MCP endpoint.
pub const PATH: &str = "/mcp";

/// Shared state of all HTTP connections.
pub(crate) struct Site {
    server: Arc<Server>,
    guard: Guard,
    sessions: Sessions,
    /// True once the server shuts down.
    closing: watch::Receiver<bool>,
}

/// Serves on `listener` until `shutdown` completes, then answers the requests in flight,
/// within a grace period.
pub async fn serve(
    server: Arc<Server>,
    listener: TcpListener,
    guard: Guard,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(server.limits.connections));
    let farewell = server.limits.farewell;
    let (close, closing) = watch::channel(false);
    let sessions = Sessions::new(&server.limits);
    let site = Arc::new(Site { server, guard, sessions, closing });
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
                let connection = converse(Arc::clone(&site), stream);
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

async fn converse(site: Arc<Site>, stream: TcpStream) {
    // Nagle's algorithm would delay small answers by 40 ms each.
    let _ = stream.set_nodelay(true);
    let limits = &site.server.limits;
    // The kernel would retransmit to a vanished client for a quarter of an hour.
    let patience = u32::try_from(limits.arrival.as_millis()).unwrap_or(u32::MAX);
    let _ = sockopt::set_tcp_user_timeout(&stream, patience);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.arrival)
        .max_buf_size(limits.headers.max(8 << 10));
    let mut closing = site.closing.clone();
    let service = service_fn(|request| {
        let site = Arc::clone(&site);
        async move { Ok::<_, Infallible>(site.answer(request).await) }
    });
    let stream = Impatient::new(stream, limits.arrival);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = over(&mut closing) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended with an error");
    }
}

impl Site {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        if let Err(why) = self.guard.check(request.headers()) {
            tracing::info!(why, "rejected a request by its Host or Origin header");
            return Body::refused(StatusCode::FORBIDDEN, why);
        }
        if request.uri().path() != PATH {
            return Body::refused(StatusCode::NOT_FOUND, "the MCP endpoint is /mcp");
        }
        let session = text(request.headers(), header::SESSION).map(str::to_owned);
        let alone = Era::of(text(request.headers(), header::REVISION)) == Era::Alone;
        match (request.method(), session) {
            (&Method::POST, session) => post::answer(&self, request, session).await,
            (&Method::GET, Some(session)) if !alone => {
                Box::pin(self.stream(&request, &session)).await
            }
            (&Method::GET, None) if !alone && asks_for_events(&request) => events::open(&self),
            (&Method::DELETE, Some(session)) if !alone => {
                if self.sessions.end(&session) {
                    Body::status(StatusCode::NO_CONTENT)
                } else {
                    post::no_such_session()
                }
            }
            _ => not_allowed(),
        }
    }

    /// Opens or resumes an SSE stream of a session.
    async fn stream(&self, request: &Request<Incoming>, session: &str) -> Response<Body> {
        let Some(session) = self.sessions.find(session) else { return post::no_such_session() };
        if !takes_events(request.headers()) {
            return Body::refused(StatusCode::NOT_ACCEPTABLE, "send Accept: text/event-stream");
        }
        let last = text(request.headers(), header::LAST_EVENT).and_then(Mark::parse);
        stream::open(self, session, last).await
    }
}

fn not_allowed() -> Response<Body> {
    let mut response = Body::refused(StatusCode::METHOD_NOT_ALLOWED, "not allowed here; use POST");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

/// A header. One that is repeated or not text becomes a value that matches nothing.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok().filter(|_| values.next().is_none());
    Some(value.unwrap_or("\u{0}"))
}

/// Whether the client accepts SSE, if only by a wildcard.
fn takes_events(headers: &HeaderMap) -> bool {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| {
        ["text/event-stream", "text/*", "*/*"].iter().any(|kind| accepts.contains(kind))
    })
}

/// Whether the client asks for SSE by name; a wildcard is not enough.
fn asks_for_events(request: &Request<Incoming>) -> bool {
    let accepts = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| accepts.contains("text/event-stream"))
}
