//! Soak: 200 honest clients of all kinds, first alone, then beside hostile clients and servers.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, ensure};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_rustls::TlsConnector;

use crate::{
    measure::percentile,
    options::Options,
    process_usage,
    report::progress,
    server_process::{self, ServerCommand, ServerProcess},
    soak_attackers,
    soak_clients::{self, spawn},
    soak_setup::{MARK, SoakTokens, make_certificate, write_tree},
};

/// Files in the served folder.
pub(crate) const FILES: usize = 200;
/// How long the server gets to release what the clients held.
const SETTLE_LIMIT: Duration = Duration::from_secs(40);
/// How long the clients of a phase start, at most.
const MAX_WARM_UP: Duration = Duration::from_secs(10);
/// The most resident bytes that the server may ever have.
const MAX_PEAK: u64 = 400 << 20;

/// What an honest client experienced.
#[derive(Debug)]
pub(crate) enum Experience {
    /// It is of this kind, and got the right answer after this time.
    Answered(ClientKind, Duration),
    /// It is of this kind, and was told of a change.
    Notified(ClientKind),
    /// A request or stream failed.
    Failed(String),
}

/// The kinds of honest clients that send requests. Each is judged by its own latency: fast ones must
/// not hide slow ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientKind {
    /// Stateless requests over HTTP.
    Stateless,
    /// Requests in a session over HTTP.
    Session,
    /// HTTP+SSE of 2024-11-05.
    Sse,
    /// Stateless requests over TLS.
    Tls,
    /// A pipe to a process of its own.
    Pipe,
}

impl ClientKind {
    /// All kinds, with their names.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Stateless, "stateless"),
        (Self::Session, "session"),
        (Self::Sse, "HTTP+SSE"),
        (Self::Tls, "TLS"),
        (Self::Pipe, "pipe"),
    ];

    /// The kinds that also listen for changes.
    pub const LISTENING: [Self; 2] = [Self::Stateless, Self::Tls];
}

/// The experiences of one kind of client in one phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct KindFigures {
    /// Answered requests.
    pub requests: usize,
    /// 99th percentile latency.
    pub p99: Duration,
    /// Notifications that arrived.
    pub changes: usize,
}

/// What the tasks of a phase share.
#[derive(Clone)]
pub(crate) struct SoakContext {
    pub(crate) address: SocketAddr,
    /// The server under TLS, and how to connect to it.
    pub(crate) secured: (SocketAddr, TlsConnector),
    pub(crate) tokens: SoakTokens,
    pub(crate) folder: PathBuf,
    pub(crate) experiences: mpsc::UnboundedSender<Experience>,
    /// Changes to true when the phase ends.
    pub(crate) stop: watch::Receiver<bool>,
}

/// The experiences of one phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct PhaseFigures {
    /// Answered or failed requests.
    pub requests: usize,
    /// Failed requests and streams.
    pub failed: usize,
    /// Median latency.
    pub p50: Duration,
    /// 99th percentile latency.
    pub p99: Duration,
    /// The highest latency.
    pub slowest: Duration,
    /// Notifications that arrived.
    pub changes: usize,
    /// The figures of each kind of client, in the order of [`ClientKind::ALL`].
    pub by_kind: [KindFigures; ClientKind::ALL.len()],
}

/// All figures of a soak.
#[derive(Clone, Copy, Debug)]
pub struct SoakFigures {
    /// The honest clients alone.
    pub quiet: PhaseFigures,
    /// The honest clients beside hostile ones.
    pub attacked: PhaseFigures,
    /// Resident bytes after the quiet phase.
    pub memory_start: u64,
    /// Peak resident bytes.
    pub memory_peak: u64,
    /// Resident bytes in the middle of the attack.
    pub memory_half: u64,
    /// Resident bytes at the end.
    pub memory_end: u64,
    /// Open files before the first client.
    pub files_start: usize,
    /// Open files after the last client.
    pub files_end: usize,
    /// Processes that outlived the server.
    pub processes_left: usize,
}

impl SoakFigures {
    /// Fails if an honest client failed or waited too long, or if something was left.
    ///
    /// # Errors
    /// When a condition of the soak does not hold.
    pub fn verdict(&self) -> anyhow::Result<()> {
        ensure!(self.quiet.failed + self.attacked.failed == 0, "requests of honest clients failed");
        for (at, (kind, name)) in ClientKind::ALL.into_iter().enumerate() {
            let (alone, beside) = (self.quiet.by_kind[at], self.attacked.by_kind[at]);
            let (before, after) = (alone.p99, beside.p99);
            ensure!(alone.requests > 0 && beside.requests > 0, "no {name} client was answered");
            ensure!(after <= before * 2, "{name} clients waited too long: {before:?}, {after:?}");
            let is_told = alone.changes > 0 && beside.changes > 0;
            let listens = ClientKind::LISTENING.contains(&kind);
            ensure!(is_told || !listens, "no {name} client was told of a change");
        }
        ensure!(self.memory_peak <= MAX_PEAK, "memory had a peak of {} bytes", self.memory_peak);
        ensure!(self.memory_end * 4 <= self.memory_half * 5, "memory grew in the second half");
        ensure!(self.files_end <= self.files_start + 8, "descriptors were left open");
        ensure!(self.processes_left == 0, "processes were left");
        Ok(())
    }
}

/// Runs the quiet phase for a fifth of `time`, and the attack for the rest.
///
/// # Errors
/// When the server does not start, or its figures cannot be read.
pub async fn run(options: &Options, time: Duration) -> anyhow::Result<SoakFigures> {
    let folder = options.scratch()?.join("soak");
    let program = options.refdesk()?;
    let tokens = SoakTokens::make(&program)?;
    write_tree(&folder, &tokens)?;
    let (certificate, key, connector) = make_certificate(&folder)?;
    let launch = ServerCommand::refdesk(&program, &folder.join("refdesk.toml"));
    let (server, address) = server_process::start_http(&launch).await?;
    let secured = ServerCommand::refdesk(&program, &folder.join("tls.toml"));
    let secured = server_process::start_http(&secured.with_tls(&certificate, &key)).await?;
    let pipes = ServerCommand::refdesk(&program, &folder.join("pipe.toml"));
    let files_start = open_files(server.pid)?;
    progress("soak: 200 honest clients alone");
    let (secured, tls_address) = secured;
    let site = Site {
        address,
        secured: (tls_address, connector),
        tokens: &tokens,
        folder: &folder,
        pid: server.pid,
    };
    let (quiet, _) = phase(&pipes, &site, time / 5, false).await?;
    let memory_start = process_usage::memory(server.pid)?.resident;
    progress("soak: the same beside hostile clients and servers");
    let (attacked, memory_half) = phase(&pipes, &site, time - time / 5, true).await?;
    let (files_end, memory_end) = settle(&server, files_start).await?;
    let memory_peak = process_usage::peak_memory(server.pid)?;
    drop((server, secured));
    let processes_left = wait_for_processes().await?;
    Ok(SoakFigures {
        quiet,
        attacked,
        memory_start,
        memory_half,
        memory_peak,
        memory_end,
        files_start,
        files_end,
        processes_left,
    })
}

/// The server under attack.
struct Site<'a> {
    address: SocketAddr,
    secured: (SocketAddr, TlsConnector),
    tokens: &'a SoakTokens,
    folder: &'a Path,
    pid: u32,
}

/// Runs one phase; returns its figures, and the resident bytes in its middle.
async fn phase(
    pipes: &ServerCommand,
    site: &Site<'_>,
    time: Duration,
    attacked: bool,
) -> anyhow::Result<(PhaseFigures, u64)> {
    let (experiences, mut received) = mpsc::unbounded_channel();
    let (stop, stopped) = watch::channel(false);
    let context = SoakContext {
        address: site.address,
        secured: site.secured.clone(),
        tokens: site.tokens.clone(),
        folder: site.folder.to_owned(),
        experiences,
        stop: stopped,
    };
    let mut tasks = JoinSet::new();
    soak_clients::start(&mut tasks, &context, pipes)?;
    spawn(&mut tasks, &context, soak_clients::change_files(context.clone()));
    if attacked {
        soak_attackers::start(&mut tasks, &context);
    }
    drop(context);
    // Clients and their processes start at once; how long they wait meanwhile is no measure.
    let warm_up = (time / 10).min(MAX_WARM_UP);
    sleep(warm_up).await;
    let starting = evaluate(&mut received);
    sleep(time / 2 - warm_up).await;
    let memory = process_usage::memory(site.pid)?.resident;
    sleep(time / 2).await;
    stop.send_replace(true);
    while tasks.join_next().await.is_some() {}
    let mut figures = evaluate(&mut received);
    figures.failed += starting.failed;
    Ok((figures, memory))
}

fn evaluate(received: &mut mpsc::UnboundedReceiver<Experience>) -> PhaseFigures {
    let mut figures = PhaseFigures::default();
    let mut latencies = Vec::new();
    let mut by_kind = [const { Vec::new() }; ClientKind::ALL.len()];
    let place = |kind: ClientKind| ClientKind::ALL.iter().position(|(one, _)| *one == kind);
    while let Ok(experience) = received.try_recv() {
        match experience {
            Experience::Answered(kind, latency) => {
                latencies.push(latency);
                place(kind).iter().for_each(|at| by_kind[*at].push(latency));
            }
            Experience::Notified(kind) => {
                figures.changes += 1;
                place(kind).iter().for_each(|at| figures.by_kind[*at].changes += 1);
            }
            Experience::Failed(why) => {
                figures.failed += 1;
                if figures.failed <= 5 {
                    progress(&format!("soak: an honest client failed: {why}"));
                }
            }
        }
    }
    latencies.sort_unstable();
    figures.requests = latencies.len() + figures.failed;
    figures.p50 = percentile(&latencies, 50);
    figures.p99 = percentile(&latencies, 99);
    for (kind, mut latencies) in figures.by_kind.iter_mut().zip(by_kind) {
        latencies.sort_unstable();
        (kind.requests, kind.p99) = (latencies.len(), percentile(&latencies, 99));
    }
    figures.slowest = latencies.last().copied().unwrap_or_default();
    figures
}

/// Waits until the server has closed what the clients held; returns its open files and memory.
async fn settle(server: &ServerProcess, files_start: usize) -> anyhow::Result<(usize, u64)> {
    let end = Instant::now() + SETTLE_LIMIT;
    loop {
        let files = open_files(server.pid)?;
        if files <= files_start + 8 || Instant::now() > end {
            return Ok((files, process_usage::memory(server.pid)?.resident));
        }
        sleep(Duration::from_millis(200)).await;
    }
}

async fn wait_for_processes() -> anyhow::Result<usize> {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let left = marked_processes()?;
        if left == 0 || Instant::now() > end {
            return Ok(left);
        }
        sleep(Duration::from_millis(200)).await;
    }
}

fn open_files(pid: u32) -> anyhow::Result<usize> {
    Ok(fs::read_dir(format!("/proc/{pid}/fd")).context("read /proc/PID/fd")?.count())
}

fn marked_processes() -> anyhow::Result<usize> {
    let mut count = 0;
    for process in fs::read_dir("/proc").context("read /proc")? {
        let path = process.context("read /proc")?.path().join("cmdline");
        // A process may end meanwhile.
        let command = fs::read(path).unwrap_or_default();
        count += usize::from(memchr::memmem::find(&command, MARK.as_bytes()).is_some());
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
