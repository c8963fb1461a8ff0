//! Benchmarks against a minimal rmcp server that answers from memory, and against nginx.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::{
    fixture,
    http::Connection,
    load_client::{HttpClient, LoadClient, PipeClient},
    measure::{Contender, Figures, measure, ratio},
    message::BenchRequest,
    nginx::{self, NginxServer},
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
    /// An earlier refdesk, from a `static` mount.
    EarlierStatic,
    /// An earlier refdesk, from an `fs` mount.
    EarlierFolder,
    /// The peer, from memory.
    Peer,
    /// nginx, from the same folder.
    Nginx,
}

impl ServerKind {
    /// The label in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Static => "refdesk, static mount",
            Self::Folder => "refdesk, folder",
            Self::EarlierStatic => "earlier refdesk, static mount",
            Self::EarlierFolder => "earlier refdesk, folder",
            Self::Peer => "rmcp, memory",
            Self::Nginx => "nginx, folder",
        }
    }

    const fn has_files(self) -> bool {
        matches!(self, Self::Folder | Self::EarlierFolder)
    }
}

/// The target: the maximum cost of refdesk relative to the reference.
#[derive(Clone, Copy, Debug)]
pub struct CostTarget {
    /// CPU time per request.
    pub cpu: f64,
    /// Peak memory, if there is a target.
    pub memory: Option<f64>,
}

/// refdesk's cost over the reference's: the peer's or nginx's.
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
    /// Cost relative to the reference; absent for the reference itself.
    pub comparison: Option<Comparison>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PeerWorkload {
    Read(TestBody),
    List,
    ReadOverStdio,
    /// The reference is nginx, which serves the same file by `GET`.
    ReadBesideNginx,
}

const WORKS: [PeerWorkload; 6] = [
    PeerWorkload::Read(TestBody::Kib),
    PeerWorkload::ReadBesideNginx,
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
            Self::ReadBesideNginx => "read 1 KiB beside nginx",
        }
    }

    /// The resource to read; `None` to list.
    const fn body(self) -> Option<TestBody> {
        match self {
            Self::Read(body) => Some(body),
            Self::ReadOverStdio | Self::ReadBesideNginx => Some(TestBody::Kib),
            Self::List => None,
        }
    }

    const fn reference(self) -> ServerKind {
        match self {
            Self::ReadBesideNginx => ServerKind::Nginx,
            Self::Read(_) | Self::List | Self::ReadOverStdio => ServerKind::Peer,
        }
    }

    const fn target(self, source: ServerKind) -> CostTarget {
        let third = 1.0 / 3.0;
        let (from_static, from_folder, memory) = match self {
            Self::Read(TestBody::Kib) => (third, 0.5, None),
            Self::List => (third, 1.0, None),
            Self::Read(TestBody::Blob) => (0.5, 0.5, Some(0.25)),
            Self::Read(TestBody::Mib) | Self::ReadOverStdio => (0.5, 0.5, None),
            Self::ReadBesideNginx => (1.0, 1.5, None),
        };
        let cpu = if source.has_files() { from_folder } else { from_static };
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
    for work in works(options) {
        progress(work.name());
        let reference = work.reference();
        let entered: Vec<&PeerEntrant> =
            entrants.iter().filter(|one| !one.is_reference() || one.source == reference).collect();
        let measured = measure_workload(work, &entered, options.plan()).await;
        rows.extend(measured.with_context(|| format!("measure: {}", work.name()))?);
    }
    Ok(rows)
}

/// The selected workloads. nginx cannot stand in for refdesk, so it has no part in `--noise`.
fn works(options: &Options) -> impl Iterator<Item = PeerWorkload> {
    WORKS.into_iter().filter(|work| {
        options.wants(work.name()) && !(options.noise && *work == PeerWorkload::ReadBesideNginx)
    })
}

struct PeerEntrant {
    source: ServerKind,
    launch: EntrantLaunch,
}

enum EntrantLaunch {
    Mcp { command: ServerCommand, has_files: bool },
    Nginx(NginxServer),
}

impl PeerEntrant {
    fn is_reference(&self) -> bool {
        matches!(self.source, ServerKind::Peer | ServerKind::Nginx)
    }
}

fn uri(body: TestBody, has_files: bool) -> String {
    if has_files { fixture::file_uri(body.name()) } else { body.uri() }
}

fn entrants(options: &Options, scratch: &Path) -> anyhow::Result<Vec<PeerEntrant>> {
    let peer = ServerCommand::peer(&options.peer()?, options.peer_threads);
    let refdesk: PathBuf = options.refdesk()?;
    let catalogue = fixture::write_catalogue(scratch)?;
    let from_static = fixture::static_settings(scratch, &catalogue)?;
    let from_folder = fixture::folder_settings(scratch, &catalogue)?;
    let mount = |source: ServerKind, program: &Path| {
        let launch = if options.noise {
            EntrantLaunch::Mcp { command: peer.clone(), has_files: false }
        } else {
            let has_files = source.has_files();
            let settings = if has_files { &from_folder } else { &from_static };
            EntrantLaunch::Mcp { command: ServerCommand::refdesk(program, settings), has_files }
        };
        PeerEntrant { source, launch }
    };
    let mut entrants =
        vec![mount(ServerKind::Static, &refdesk), mount(ServerKind::Folder, &refdesk)];
    if let Some(earlier) = &options.earlier {
        entrants.push(mount(ServerKind::EarlierStatic, earlier));
        entrants.push(mount(ServerKind::EarlierFolder, earlier));
    }
    let launch = EntrantLaunch::Mcp { command: peer, has_files: false };
    entrants.push(PeerEntrant { source: ServerKind::Peer, launch });
    if works(options).any(|work| work == PeerWorkload::ReadBesideNginx) {
        let launch = EntrantLaunch::Nginx(NginxServer::install(scratch, &catalogue)?);
        entrants.push(PeerEntrant { source: ServerKind::Nginx, launch });
    }
    Ok(entrants)
}

async fn measure_workload(
    work: PeerWorkload,
    entrants: &[&PeerEntrant],
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
    let reference = *figures.last().context("no figures")?;
    let rows = entrants.iter().zip(figures).map(|(entrant, figures)| PeerRow {
        work: work.name(),
        source: entrant.source,
        figures,
        comparison: (!entrant.is_reference()).then(|| Comparison {
            cpu: figures.cpu.as_secs_f64() / reference.cpu.as_secs_f64(),
            memory: ratio(figures.peak, reference.peak),
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
    let (command, has_files) = match &entrant.launch {
        EntrantLaunch::Mcp { command, has_files } => (command, *has_files),
        EntrantLaunch::Nginx(nginx) => return start_nginx(nginx, plan).await,
    };
    if work == PeerWorkload::ReadOverStdio {
        return start_stdio_entrant(command, &uri(TestBody::Kib, has_files), plan).await;
    }
    let (server, address) = server_process::start_http(command).await?;
    let mut inquirer = VerifyingClient::open(address).await?;
    verify::check_discovery(&inquirer.request(&BenchRequest::discover()).await?)?;
    let (messages, length) = match work.body() {
        None => full_page_requests(&mut inquirer).await?,
        Some(body) => {
            let message = BenchRequest::read(&uri(body, has_files));
            let answer = inquirer.request(&message).await?;
            verify::check_read(&answer, &body.bytes())?;
            (vec![message], answer.len())
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
    command: &ServerCommand,
    uri: &str,
    plan: MeasurePlan,
) -> anyhow::Result<(ServerProcess, LoadClient)> {
    let (server, mut pipe) = server_process::start_stdio(command)?;
    pipe.send(&BenchRequest::discover().line(0)).await?;
    verify::check_discovery(pipe.receive().await?)?;
    let message = BenchRequest::read(uri);
    pipe.send(&message.line(0)).await?;
    let answer = pipe.receive().await?;
    verify::check_read(answer, &TestBody::Kib.bytes())?;
    let length = answer.len();
    Ok((server, LoadClient::Pipe(PipeClient::new(pipe, plan.at_once, &message, length))))
}

/// Starts nginx, verifies its response, and opens a client.
async fn start_nginx(
    nginx: &NginxServer,
    plan: MeasurePlan,
) -> anyhow::Result<(ServerProcess, LoadClient)> {
    let (server, address) = nginx.start().await?;
    let request = nginx::get_request(TestBody::Kib.name(), &address.to_string());
    let answer = Connection::open(address).await?.request_body(&request).await?;
    ensure!(answer == TestBody::Kib.bytes(), "nginx returned other bytes");
    let client = HttpClient::open_raw(address, plan.at_once, [request].into(), answer.len());
    Ok((server, LoadClient::Http(client.await?)))
}
