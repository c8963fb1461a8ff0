//! Benchmark against a minimal rmcp server that answers from memory.

use std::path::PathBuf;

use anyhow::{Context, ensure};

use crate::{
    fixture,
    load_client::{HttpClient, LoadClient, PipeClient},
    measure::{Contender, Figures, measure, ratio},
    message::BenchRequest,
    options::{MeasurePlan, Options},
    report::progress,
    server_process::{self, ServerCommand, ServerProcess},
    test_data::{PAGE, RESOURCES, TestBody},
    verify::{self, VerifyingClient},
};

/// The server and its kind of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerKind {
    /// refdesk, from a `static` mount.
    Static,
    /// refdesk, from an `fs` mount.
    Folder,
    /// The peer, from memory.
    Peer,
}

impl ServerKind {
    /// The label in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Static => "refdesk, static mount",
            Self::Folder => "refdesk, folder",
            Self::Peer => "rmcp, memory",
        }
    }
}

/// The target: the maximum cost of refdesk relative to the peer.
#[derive(Clone, Copy, Debug)]
pub struct CostTarget {
    /// CPU time per request.
    pub cpu: f64,
    /// Peak memory, if there is a target.
    pub memory: Option<f64>,
}

/// refdesk's cost over the peer's.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// CPU time per request.
    pub cpu: f64,
    /// Peak memory.
    pub memory: f64,
    /// The target.
    pub target: CostTarget,
}

impl Comparison {
    /// Whether the target is met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.cpu <= self.target.cpu && self.target.memory.is_none_or(|most| self.memory <= most)
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct PeerRow {
    /// The workload.
    pub work: &'static str,
    /// The server.
    pub source: ServerKind,
    /// The measurements.
    pub figures: Figures,
    /// Cost relative to the peer; absent for the peer itself.
    pub comparison: Option<Comparison>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PeerWorkload {
    Read(TestBody),
    List,
    ReadOverStdio,
}

const WORKS: [PeerWorkload; 5] = [
    PeerWorkload::Read(TestBody::Kib),
    PeerWorkload::List,
    PeerWorkload::Read(TestBody::Mib),
    PeerWorkload::Read(TestBody::Blob),
    PeerWorkload::ReadOverStdio,
];

impl PeerWorkload {
    const fn name(self) -> &'static str {
        match self {
            Self::Read(TestBody::Kib) => "read 1 KiB",
            Self::Read(TestBody::Mib) => "read 1 MiB text",
            Self::Read(TestBody::Blob) => "read 10 MiB blob, 8 at once",
            Self::List => "list a page of 100 out of 10,000",
            Self::ReadOverStdio => "read 1 KiB over stdio",
        }
    }

    const fn target(self, source: ServerKind) -> CostTarget {
        let third = 1.0 / 3.0;
        let (from_static, from_folder, memory) = match self {
            Self::Read(TestBody::Kib) => (third, 0.5, None),
            Self::List => (third, 1.0, None),
            Self::Read(TestBody::Blob) => (0.5, 0.5, Some(0.25)),
            Self::Read(TestBody::Mib) | Self::ReadOverStdio => (0.5, 0.5, None),
        };
        let cpu = if matches!(source, ServerKind::Folder) { from_folder } else { from_static };
        CostTarget { cpu, memory }
    }
}

/// Measures the selected workloads; refdesk's two mounts and the peer take turns.
///
/// # Errors
/// When a server does not start, or responds incorrectly.
pub async fn run(options: &Options) -> anyhow::Result<Vec<PeerRow>> {
    let scratch = options.scratch()?;
    std::fs::create_dir_all(&scratch).context("make the scratch folder")?;
    let entrants = entrants(options, &scratch)?;
    let mut rows = Vec::new();
    for work in WORKS.into_iter().filter(|work| options.wants(work.name())) {
        progress(work.name());
        let measured = measure_workload(work, &entrants, options.plan()).await;
        rows.extend(measured.with_context(|| format!("measure: {}", work.name()))?);
    }
    Ok(rows)
}

struct PeerEntrant {
    source: ServerKind,
    launch: ServerCommand,
    has_files: bool,
}

impl PeerEntrant {
    fn uri(&self, body: TestBody) -> String {
        if self.has_files { fixture::file_uri(body.name()) } else { body.uri() }
    }
}

fn entrants(options: &Options, scratch: &std::path::Path) -> anyhow::Result<[PeerEntrant; 3]> {
    let peer = ServerCommand::peer(&options.peer()?, options.peer_threads);
    let refdesk: PathBuf = options.refdesk()?;
    let catalogue = fixture::write_catalogue(scratch)?;
    let mount = |source, settings: PathBuf| {
        if options.noise {
            return PeerEntrant { source, launch: peer.clone(), has_files: false };
        }
        let launch = ServerCommand::refdesk(&refdesk, &settings);
        PeerEntrant { source, launch, has_files: source == ServerKind::Folder }
    };
    Ok([
        mount(ServerKind::Static, fixture::static_settings(scratch, &catalogue)?),
        mount(ServerKind::Folder, fixture::folder_settings(scratch, &catalogue)?),
        PeerEntrant { source: ServerKind::Peer, launch: peer.clone(), has_files: false },
    ])
}

async fn measure_workload(
    work: PeerWorkload,
    entrants: &[PeerEntrant; 3],
    plan: MeasurePlan,
) -> anyhow::Result<Vec<PeerRow>> {
    let mut servers = Vec::new();
    let mut contenders = Vec::new();
    for entrant in entrants {
        let entered = start_entrant(work, entrant, plan).await;
        let (server, client) = entered.context(entrant.source.name())?;
        contenders.push(Contender { pid: server.pid, client });
        servers.push(server);
    }
    let figures = measure(&mut contenders, plan).await?;
    let peer = *figures.last().context("no figures")?;
    let rows = entrants.iter().zip(figures).map(|(entrant, figures)| PeerRow {
        work: work.name(),
        source: entrant.source,
        figures,
        comparison: (entrant.source != ServerKind::Peer).then(|| Comparison {
            cpu: figures.cpu.as_secs_f64() / peer.cpu.as_secs_f64(),
            memory: ratio(figures.peak, peer.peak),
            target: work.target(entrant.source),
        }),
    });
    Ok(rows.collect())
}

/// Starts a fresh server, verifies its responses for this workload, and opens a client.
async fn start_entrant(
    work: PeerWorkload,
    entrant: &PeerEntrant,
    plan: MeasurePlan,
) -> anyhow::Result<(ServerProcess, LoadClient)> {
    if work == PeerWorkload::ReadOverStdio {
        return start_stdio_entrant(entrant, plan).await;
    }
    let (server, address) = server_process::start_http(&entrant.launch).await?;
    let mut inquirer = VerifyingClient::open(address).await?;
    verify::check_discovery(&inquirer.request(&BenchRequest::discover()).await?)?;
    let (messages, length) = match work {
        PeerWorkload::Read(body) => {
            let message = BenchRequest::read(&entrant.uri(body));
            let answer = inquirer.request(&message).await?;
            verify::check_read(&answer, &body.bytes())?;
            (vec![message], answer.len())
        }
        PeerWorkload::List | PeerWorkload::ReadOverStdio => {
            full_page_requests(&mut inquirer).await?
        }
    };
    let client = HttpClient::open(address, plan.at_once, &messages, length).await?;
    Ok((server, LoadClient::Http(client)))
}

/// The requests for all full pages, so that caching a single page gives no advantage.
pub(crate) async fn full_page_requests(
    inquirer: &mut VerifyingClient,
) -> anyhow::Result<(Vec<BenchRequest>, usize)> {
    let mut messages = vec![];
    let mut message = BenchRequest::list(None);
    let mut listed = 0;
    let mut length = 0;
    loop {
        let page = verify::check_page(&inquirer.request(&message).await?)?;
        listed += page.count;
        if page.count == PAGE {
            messages.push(message);
            length = page.length;
        }
        let Some(cursor) = page.next else { break };
        message = BenchRequest::list(Some(&cursor));
    }
    ensure!(
        (RESOURCES..=RESOURCES + 1).contains(&listed),
        "{listed} resources were listed where {RESOURCES} are served"
    );
    Ok((messages, length))
}

async fn start_stdio_entrant(
    entrant: &PeerEntrant,
    plan: MeasurePlan,
) -> anyhow::Result<(ServerProcess, LoadClient)> {
    let (server, mut pipe) = server_process::start_stdio(&entrant.launch)?;
    pipe.send(&BenchRequest::discover().line(0)).await?;
    verify::check_discovery(pipe.receive().await?)?;
    let message = BenchRequest::read(&entrant.uri(TestBody::Kib));
    pipe.send(&message.line(0)).await?;
    let answer = pipe.receive().await?;
    verify::check_read(answer, &TestBody::Kib.bytes())?;
    let length = answer.len();
    Ok((server, LoadClient::Pipe(PipeClient::new(pipe, plan.at_once, &message, length))))
}
