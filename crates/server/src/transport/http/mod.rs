//! Streamable HTTP: every revision at one address.

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

/// Where messages are taken.
pub const PATH: &str = "/mcp";

/// Everything that one request over HTTP may need.
pub(crate) struct Site {
    server: Arc<Server>,
    guard: Guard,
    sessions: Sessions,
    /// Turns true when the server is about to stop.
    closing: watch::Receiver<bool>,
}

/// Serves on `listener` until `shutdown` ends; answers what is under way, then returns.
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
            // Out of descriptors, or a client that left in between: the next one may do better.
            (_, Err(error)) => {
                tracing::warn!(%error, "a connection was not accepted");
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
    // Small answers would wait for the peer's acknowledgement otherwise, 40 ms at a time.
    let _ = stream.set_nodelay(true);
    let limits = &site.server.limits;
    // A peer that is gone without a word is not waited for by the quarter of an hour.
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
        tracing::debug!(%error, "a connection ended early");
    }
}

impl Site {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        if let Err(why) = self.guard.check(request.headers()) {
            tracing::info!(why, "a request was turned away");
            return Body::refused(StatusCode::FORBIDDEN, why);
        }
        if request.uri().path() != PATH {
            return Body::refused(StatusCode::NOT_FOUND, "messages are taken at /mcp");
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

    /// The stream of one session, over which its notices go.
    async fn stream(&self, request: &Request<Incoming>, session: &str) -> Response<Body> {
        let Some(session) = self.sessions.find(session) else { return post::no_such_session() };
        if !takes_events(request.headers()) {
            return Body::refused(StatusCode::NOT_ACCEPTABLE, "only text/event-stream is given");
        }
        let last = text(request.headers(), header::LAST_EVENT).and_then(Mark::parse);
        stream::open(self, session, last).await
    }
}

fn not_allowed() -> Response<Body> {
    let mut response = Body::refused(StatusCode::METHOD_NOT_ALLOWED, "use POST");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

/// A header. What is not text, or is said twice, agrees with nothing and is not absent either.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok().filter(|_| values.next().is_none());
    Some(value.unwrap_or("\u{0}"))
}

/// Whether events may be given.
fn takes_events(headers: &HeaderMap) -> bool {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| {
        ["text/event-stream", "text/*", "*/*"].iter().any(|kind| accepts.contains(kind))
    })
}

/// Whether events are what is wanted, and not just anything.
fn asks_for_events(request: &Request<Incoming>) -> bool {
    let accepts = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_some_and(|accepts| accepts.contains("text/event-stream"))
}
