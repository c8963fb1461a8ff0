//! Load generator: keeps a fixed number of requests in flight and records latencies.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use tokio::task::JoinSet;

use crate::{
    http::Connection,
    message::BenchRequest,
    stdio_pipe::{Pipe, answer_id},
};

/// The limits of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundLimit {
    pub(crate) time: Duration,
    pub(crate) requests: u64,
}

/// The measurements of one round on the client side.
pub(crate) struct RoundResult {
    pub(crate) requests: u64,
    pub(crate) elapsed: Duration,
    pub(crate) latencies: Vec<Duration>,
}

/// A client that keeps a fixed number of requests in flight.
pub(crate) enum LoadClient {
    Http(HttpClient),
    Pipe(PipeClient),
}

impl LoadClient {
    /// Runs one round; every response must be about as long as the verified one.
    pub(crate) async fn round(&mut self, bound: RoundLimit) -> anyhow::Result<RoundResult> {
        match self {
            Self::Http(client) => client.round(bound).await,
            Self::Pipe(client) => client.round(bound).await,
        }
    }
}

/// Several keep-alive connections, each with one request in flight.
pub(crate) struct HttpClient {
    connections: Vec<(Connection, Requests)>,
    length: usize,
}

pub(crate) type Requests = Arc<[Vec<u8>]>;

impl HttpClient {
    /// Opens the connections, which send the requests in turn. `length` is the expected size.
    pub(crate) async fn open(
        address: SocketAddr,
        at_once: usize,
        messages: &[BenchRequest],
        length: usize,
    ) -> anyhow::Result<Self> {
        let host = address.to_string();
        let requests = messages.iter().map(|message| message.over_http(&host)).collect();
        Self::open_raw(address, at_once, requests, length).await
    }

    /// The same for requests that are written already.
    pub(crate) async fn open_raw(
        address: SocketAddr,
        at_once: usize,
        requests: Requests,
        length: usize,
    ) -> anyhow::Result<Self> {
        let mut connections = Vec::new();
        for _ in 0..at_once {
            connections.push((Connection::open(address).await?, Arc::clone(&requests)));
        }
        Ok(Self { connections, length })
    }

    /// Opens one connection per request, which repeats only that request.
    pub(crate) async fn one_per_request(
        address: SocketAddr,
        messages: &[BenchRequest],
        length: usize,
    ) -> anyhow::Result<Self> {
        let mut connections = Vec::new();
        for message in messages {
            let own = Self::open(address, 1, std::slice::from_ref(message), length).await?;
            connections.extend(own.connections);
        }
        Ok(Self { connections, length })
    }

    async fn round(&mut self, bound: RoundLimit) -> anyhow::Result<RoundResult> {
        let asked = Arc::new(AtomicU64::new(0));
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for (connection, requests) in self.connections.drain(..) {
            let asked = Arc::clone(&asked);
            tasks.spawn(send_in_turn(connection, requests, asked, (start, bound, self.length)));
        }
        let mut latencies = Vec::new();
        while let Some(task) = tasks.join_next().await {
            let (connection, requests, own) = task.context("a connection's task failed")??;
            self.connections.push((connection, requests));
            latencies.extend(own);
        }
        Ok(RoundResult { requests: latencies.len() as u64, elapsed: start.elapsed(), latencies })
    }
}

async fn send_in_turn(
    mut connection: Connection,
    requests: Requests,
    asked: Arc<AtomicU64>,
    (start, bound, length): (Instant, RoundLimit, usize),
) -> anyhow::Result<(Connection, Requests, Vec<Duration>)> {
    let mut latencies = Vec::new();
    let mut before = Instant::now();
    while before - start < bound.time {
        let turn = asked.fetch_add(1, Ordering::Relaxed);
        if turn >= bound.requests {
            break;
        }
        let which = usize::try_from(turn).unwrap_or_default() % requests.len();
        let received = connection.request_length(&requests[which]).await?;
        let after = Instant::now();
        check_length(received, length)?;
        latencies.push(after - before);
        before = after;
    }
    Ok((connection, requests, latencies))
}

/// One pair of pipes with several requests in flight, told apart by id.
pub(crate) struct PipeClient {
    pipe: Pipe,
    lines: Vec<Vec<u8>>,
    length: usize,
}

impl PipeClient {
    /// Prepares `at_once` copies of one request, each under its own id.
    pub(crate) fn new(pipe: Pipe, at_once: usize, message: &BenchRequest, length: usize) -> Self {
        let lines = (0..at_once).map(|id| message.line(id)).collect();
        Self { pipe, lines, length }
    }

    async fn round(&mut self, bound: RoundLimit) -> anyhow::Result<RoundResult> {
        let start = Instant::now();
        let mut sent = vec![start; self.lines.len()];
        let mut under_way = 0_usize;
        for line in &self.lines {
            self.pipe.send(line).await?;
            under_way += 1;
        }
        let mut asked = under_way as u64;
        let mut latencies = Vec::new();
        while under_way > 0 {
            let answer = self.pipe.receive().await?;
            let id = answer_id(answer).filter(|id| *id < sent.len());
            let id = id.context("response with an unknown id")?;
            let received = answer.len();
            check_length(received, self.length)?;
            let now = Instant::now();
            latencies.push(now - sent[id]);
            under_way -= 1;
            if now - start < bound.time && asked < bound.requests {
                sent[id] = now;
                self.pipe.send(&self.lines[id]).await?;
                asked += 1;
                under_way += 1;
            }
        }
        Ok(RoundResult { requests: latencies.len() as u64, elapsed: start.elapsed(), latencies })
    }
}

/// Rejects a response of unexpected length: an error must not count as a fast response.
fn check_length(received: usize, verified: usize) -> anyhow::Result<()> {
    let slack = 64 + verified / 8;
    ensure!(
        received.abs_diff(verified) <= slack,
        "response of {received} bytes, expected about {verified}"
    );
    Ok(())
}
