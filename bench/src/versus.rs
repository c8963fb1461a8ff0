//! Benchmark against a minimal rmcp server that answers from memory.

use std::path::PathBuf;

use anyhow::{Context, ensure};

use crate::{
    child::{self, Launch, Server},
    content::{Body, PAGE, RESOURCES},
    fixture,
    load::{Client, HttpClient, PipeClient},
    measure::{Contender, Figures, measure, ratio},
    message::Message,
    options::{Options, Plan},
    report::progress,
    verify::{self, Inquirer},
};

/// The server and its kind of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// refdesk, from a `static` mount.
    Static,
    /// refdesk, from an `fs` mount.
    Folder,
    /// The peer, from memory.
    Peer,
}

impl Source {
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
pub struct Bar {
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
    pub bar: Bar,
}

impl Comparison {
    /// Whether the target is met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.cpu <= self.bar.cpu && self.bar.memory.is_none_or(|most| self.memory <= most)
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The workload.
    pub work: &'static str,
    /// The server.
    pub source: Source,
    /// The measurements.
    pub figures: Figures,
    /// Cost relative to the peer; absent for the peer itself.
    pub comparison: Option<Comparison>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Read(Body),
    List,
    ReadOverStdio,
}

const WORKS: [Work; 5] = [
    Work::Read(Body::Kib),
    Work::List,
    Work::Read(Body::Mib),
    Work::Read(Body::Blob),
    Work::ReadOverStdio,
];

impl Work {
    const fn name(self) -> &'static str {
        match self {
            Self::Read(Body::Kib) => "read 1 KiB",
            Self::Read(Body::Mib) => "read 1 MiB text",
            Self::Read(Body::Blob) => "read 10 MiB blob, 8 at once",
            Self::List => "list a page of 100 out of 10,000",
            Self::ReadOverStdio => "read 1 KiB over stdio",
        }
    }

    const fn bar(self, source: Source) -> Bar {
        let third = 1.0 / 3.0;
        let (from_static, from_folder, memory) = match self {
            Self::Read(Body::Kib) => (third, 0.5, None),
            Self::List => (third, 1.0, None),
            Self::Read(Body::Blob) => (0.5, 0.5, Some(0.25)),
            Self::Read(Body::Mib) | Self::ReadOverStdio => (0.5, 0.5, None),
        };
        let cpu = if matches!(source, Source::Folder) { from_folder } else { from_static };
        Bar { cpu, memory }
    }
}

/// Measures the selected workloads; refdesk's two mounts and the peer take turns.
///
/// # Errors
/// When a server does not start, or responds incorrectly.
pub async fn run(options: &Options) -> anyhow::Result<Vec<Row>> {
    let scratch = options.scratch()?;
    std::fs::create_dir_all(&scratch).context("make the scratch folder")?;
    let entrants = entrants(options, &scratch)?;
    let mut rows = Vec::new();
    for work in WORKS.into_iter().filter(|work| options.wants(work.name())) {
        progress(work.name());
        let measured = compete(work, &entrants, options.plan()).await;
        rows.extend(measured.with_context(|| format!("measure: {}", work.name()))?);
    }
    Ok(rows)
}

struct Entrant {
    source: Source,
    launch: Launch,
    has_files: bool,
}

impl Entrant {
    fn uri(&self, body: Body) -> String {
        if self.has_files { fixture::file_uri(body.name()) } else { body.uri() }
    }
}

fn entrants(options: &Options, scratch: &std::path::Path) -> anyhow::Result<[Entrant; 3]> {
    let peer = Launch::peer(&options.peer()?, options.peer_threads);
    let refdesk: PathBuf = options.refdesk()?;
    let catalogue = fixture::catalogue(scratch)?;
    let mount = |source, settings: PathBuf| {
        if options.noise {
            return Entrant { source, launch: peer.clone(), has_files: false };
        }
        let launch = Launch::refdesk(&refdesk, &settings);
        Entrant { source, launch, has_files: source == Source::Folder }
    };
    Ok([
        mount(Source::Static, fixture::static_settings(scratch, &catalogue)?),
        mount(Source::Folder, fixture::folder_settings(scratch, &catalogue)?),
        Entrant { source: Source::Peer, launch: peer.clone(), has_files: false },
    ])
}

async fn compete(work: Work, entrants: &[Entrant; 3], plan: Plan) -> anyhow::Result<Vec<Row>> {
    let mut servers = Vec::new();
    let mut contenders = Vec::new();
    for entrant in entrants {
        let entered = enter(work, entrant, plan).await;
        let (server, client) = entered.context(entrant.source.name())?;
        contenders.push(Contender { pid: server.pid, client });
        servers.push(server);
    }
    let figures = measure(&mut contenders, plan).await?;
    let peer = *figures.last().context("no figures")?;
    let rows = entrants.iter().zip(figures).map(|(entrant, figures)| Row {
        work: work.name(),
        source: entrant.source,
        figures,
        comparison: (entrant.source != Source::Peer).then(|| Comparison {
            cpu: figures.cpu.as_secs_f64() / peer.cpu.as_secs_f64(),
            memory: ratio(figures.peak, peer.peak),
            bar: work.bar(entrant.source),
        }),
    });
    Ok(rows.collect())
}

/// Starts a fresh server, verifies its responses for this workload, and opens a client.
async fn enter(work: Work, entrant: &Entrant, plan: Plan) -> anyhow::Result<(Server, Client)> {
    if work == Work::ReadOverStdio {
        return enter_stdio(entrant, plan).await;
    }
    let (server, address) = child::over_http(&entrant.launch).await?;
    let mut inquirer = Inquirer::open(address).await?;
    verify::discovery(&inquirer.ask(&Message::discover()).await?)?;
    let (messages, length) = match work {
        Work::Read(body) => {
            let message = Message::read(&entrant.uri(body));
            let answer = inquirer.ask(&message).await?;
            verify::reading(&answer, &body.bytes())?;
            (vec![message], answer.len())
        }
        Work::List | Work::ReadOverStdio => pages(&mut inquirer).await?,
    };
    let client = HttpClient::open(address, plan.at_once, &messages, length).await?;
    Ok((server, Client::Http(client)))
}

/// The requests for all full pages, so that caching a single page gives no advantage.
pub(crate) async fn pages(inquirer: &mut Inquirer) -> anyhow::Result<(Vec<Message>, usize)> {
    let mut messages = vec![];
    let mut message = Message::list(None);
    let mut listed = 0;
    let mut length = 0;
    loop {
        let page = verify::page(&inquirer.ask(&message).await?)?;
        listed += page.count;
        if page.count == PAGE {
            messages.push(message);
            length = page.length;
        }
        let Some(cursor) = page.next else { break };
        message = Message::list(Some(&cursor));
    }
    ensure!(
        (RESOURCES..=RESOURCES + 1).contains(&listed),
        "{listed} resources were listed where {RESOURCES} are served"
    );
    Ok((messages, length))
}

async fn enter_stdio(entrant: &Entrant, plan: Plan) -> anyhow::Result<(Server, Client)> {
    let (server, mut pipe) = child::over_stdio(&entrant.launch)?;
    pipe.send(&Message::discover().line(0)).await?;
    verify::discovery(pipe.receive().await?)?;
    let message = Message::read(&entrant.uri(Body::Kib));
    pipe.send(&message.line(0)).await?;
    let answer = pipe.receive().await?;
    verify::reading(answer, &Body::Kib.bytes())?;
    let length = answer.len();
    Ok((server, Client::Pipe(PipeClient::new(pipe, plan.at_once, &message, length))))
}
