//! Accept loop of the HTTP server: listeners, places for connections, TLS handshakes.

use std::convert::Infallible;
use std::io;
use std::net::{self, IpAddr};
use std::os::unix;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time;

use super::client_stream::{ByteStream, ClientStream, RequestPhase};
use super::connection_threads::ConnectionThreads;
use super::sessions::SessionTable;
use super::{HttpOptions, HttpServer};
use crate::limits::Limits;
use crate::server::Server;
use crate::transport::fair_share::{Activity, Eviction, FairShare, Owner, Place};
use crate::transport::wait_for_signal;

/// Idle time after which a connection makes room for another of the same client.
const IDLE_CONNECTION: Duration = Duration::from_secs(1);

/// Idle time after which a stream makes room for another of the same client.
const IDLE_STREAM: Duration = Duration::from_secs(60);

/// The longest time for a TLS handshake.
const MAX_HANDSHAKE: Duration = Duration::from_secs(10);

/// A socket that accepts connections.
#[derive(Debug)]
pub enum Listener {
    /// A TCP port.
    Tcp(TcpListener),
    /// A Unix socket. Whoever may open it is the local principal.
    Unix(UnixListener),
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::Tcp(listener)
    }
}

impl From<UnixListener> for Listener {
    fn from(listener: UnixListener) -> Self {
        Self::Unix(listener)
    }
}

/// An accepted socket that belongs to no runtime yet.
enum Socket {
    Tcp(net::TcpStream),
    Unix(unix::net::UnixStream),
}

impl Listener {
    /// The next connection, and the address of its client; a Unix socket has none.
    async fn accept(&self) -> io::Result<(Socket, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                Ok((Socket::Tcp(stream.into_std()?), Some(peer.ip().to_canonical())))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream.into_std()?), None))
            }
        }
    }
}

/// The state of one connection that its requests share.
pub(super) struct HttpConnection {
    /// The address at the other end; `None` for a Unix socket.
    pub(super) peer: Option<IpAddr>,
    /// Whether the connection itself uses TLS.
    pub(super) has_tls: bool,
    place: Place,
    phase: Arc<RequestPhase>,
}

impl HttpConnection {
    /// A whole request has arrived: until the guard is dropped, the connection is not idle, and a
    /// client that sends no more still gets its answer.
    pub(super) fn begin_work(self: &Arc<Self>, may_probe: bool) -> ConnectionActivity {
        if may_probe {
            self.phase.begin_work();
        }
        let _activity = self.place.begin_activity();
        ConnectionActivity { connection: Arc::clone(self), _activity }
    }
}

/// Keeps a connection active until it is dropped.
pub(super) struct ConnectionActivity {
    connection: Arc<HttpConnection>,
    _activity: Activity,
}

impl ConnectionActivity {
    /// The answer is a stream without an end: a client that sends no more has left.
    pub(super) fn expect_departure(&self) {
        self.connection.phase.end_work();
    }
}

impl Drop for ConnectionActivity {
    fn drop(&mut self) {
        self.connection.phase.end_work();
    }
}

/// Serves on `listener` until `shutdown` completes, then answers the requests in flight,
/// within a grace period.
pub async fn serve(
    server: Arc<Server>,
    listener: impl Into<Listener>,
    options: impl Into<HttpOptions>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let listener = listener.into();
    let limits = server.limits.clone();
    let places = FairShare::new(limits.connections, IDLE_CONNECTION);
    // Nobody makes room in the waiting room but for a client with fewer in it.
    let waiting = FairShare::new((limits.connections / 4).max(1), Duration::MAX);
    let (close, closing) = watch::channel(false);
    let http = Arc::new(HttpServer {
        options: options.into(),
        sessions: SessionTable::new(&limits),
        streams: FairShare::new(max_streams(&limits), IDLE_STREAM),
        closing,
        server,
    });
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((socket, peer)) => {
                let owner = Owner::new(None, peer);
                let place = places.take(&owner);
                let seat = if place.is_none() { waiting.take(&owner) } else { None };
                if place.is_none() && seat.is_none() {
                    let from = peer_name(peer);
                    tracing::warn!("too many connections are open; one from {from} is refused");
                    continue;
                }
                let (own_http, places) = (Arc::clone(&http), Arc::clone(&places));
                // Whoever holds a place without reading or writing loses it before this.
                let patience = limits.io_timeout * 2;
                let serving = async move {
                    let place = match (place, seat) {
                        (Some(place), _) => Some(place),
                        // Boxed, like the handshake: most connections are never in this state.
                        (None, Some(seat)) => {
                            Box::pin(wait_for_place(&places, &owner, seat, patience)).await
                        }
                        (None, None) => None,
                    };
                    if let Some(place) = place {
                        serve_connection(own_http, socket, peer, place).await;
                    }
                };
                spawn_connection(&mut connections, http.options.threads.as_deref(), serving);
            }
            // Out of file descriptors, or the client left meanwhile: try the next one.
            Err(error) => {
                tracing::warn!("a connection cannot be accepted: {error}");
                time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    close.send_replace(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    let _ = time::timeout(limits.shutdown_grace, finished).await;
    Ok(())
}

/// Runs a connection on the thread with the fewest, or here if there are no threads.
fn spawn_connection(
    connections: &mut JoinSet<()>,
    threads: Option<&ConnectionThreads>,
    serving: impl Future<Output = ()> + Send + 'static,
) {
    match threads.and_then(ConnectionThreads::least_busy) {
        Some((runtime, seat)) => {
            let seated = async move {
                serving.await;
                drop(seat);
            };
            connections.spawn_on(seated, runtime);
        }
        None => drop(connections.spawn(serving)),
    }
}

/// The most streams: at least one connection in fifty is left for requests.
fn max_streams(limits: &Limits) -> usize {
    let reserved = limits.connections.div_ceil(50);
    limits.total_streams.min(limits.connections - reserved).max(1)
}

/// Waits in the `seat` of the waiting room for a place; `None` if it takes too long.
async fn wait_for_place(
    places: &Arc<FairShare>,
    owner: &Owner,
    seat: Place,
    patience: Duration,
) -> Option<Place> {
    let evicted = seat.eviction();
    tokio::select! {
        place = places.wait(owner) => Some(place),
        () = evicted.wait() => None,
        () = time::sleep(patience) => None,
    }
}

async fn serve_connection(
    http: Arc<HttpServer>,
    socket: Socket,
    peer: Option<IpAddr>,
    place: Place,
) {
    let evicted = place.eviction();
    let has_tls = http.options.tls.is_some() && matches!(socket, Socket::Tcp(_));
    let opening = async {
        tokio::select! {
            stream = open_stream(&http, socket) => stream,
            () = evicted.wait() => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    };
    match Box::pin(opening).await {
        Ok(stream) => {
            let connection =
                Arc::new(HttpConnection { peer, has_tls, place, phase: Arc::default() });
            serve_http1(http, stream, connection, &evicted).await;
        }
        Err(error) => tracing::debug!(%error, "the TLS handshake failed"),
    }
}

/// What the log calls a client: its address, or this machine for one on a Unix socket.
fn peer_name(peer: Option<IpAddr>) -> String {
    peer.map_or("this machine".to_owned(), |peer| peer.to_string())
}

/// Prepares a socket for the runtime that this runs on; over TCP with TLS if the server has it.
async fn open_stream(http: &HttpServer, socket: Socket) -> io::Result<Box<dyn ByteStream>> {
    let limits = &http.server.limits;
    let stream = match socket {
        Socket::Unix(stream) => return Ok(Box::new(UnixStream::from_std(stream)?)),
        Socket::Tcp(stream) => TcpStream::from_std(stream)?,
    };
    // Nagle's algorithm would delay small answers by 40 ms each.
    let _ = stream.set_nodelay(true);
    // The kernel would retransmit to a vanished client for a quarter of an hour.
    let patience = u32::try_from(limits.io_timeout.as_millis()).unwrap_or(u32::MAX);
    let _ = sockopt::set_tcp_user_timeout(&stream, patience);
    let Some(tls) = &http.options.tls else { return Ok(Box::new(stream)) };
    let handshake = tls.acceptor().accept(stream);
    let stream = time::timeout(MAX_HANDSHAKE.min(limits.io_timeout), handshake).await??;
    Ok(Box::new(stream))
}

async fn serve_http1(
    http: Arc<HttpServer>,
    stream: Box<dyn ByteStream>,
    connection: Arc<HttpConnection>,
    evicted: &Eviction,
) {
    let limits = &http.server.limits;
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.io_timeout)
        .max_buf_size(limits.headers.max(8 << 10));
    let mut closing = http.closing.clone();
    let service = service_fn(|request| {
        let (http, connection) = (Arc::clone(&http), Arc::clone(&connection));
        async move { Ok::<_, Infallible>(http.route(request, connection).await) }
    });
    let stream = ClientStream::new(stream, limits.io_timeout, Arc::clone(&connection.phase));
    let served = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(served);
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = evicted.wait() => {
            let from = peer_name(connection.peer);
            tracing::debug!("a connection from {from} is closed to make room for another");
            return;
        }
        () = wait_for_signal(&mut closing) => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended with an error");
    }
}
