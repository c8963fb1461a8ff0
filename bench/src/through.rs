//! Gateway benchmark: what refdesk and fastmcp add to a request to an upstream server.

use std::{net::SocketAddr, path::Path, time::Duration};

use anyhow::Context;

use crate::{
    child::{self, Launch},
    content::{Body, CROWD},
    fixture,
    gateway::{Gateway, Sessions},
    load::{Client, HttpClient},
    measure::{Contender, Figures, measure},
    message::Message,
    options::Options,
    report::progress,
    verify::{self, Inquirer},
};

const MOST_ADDED: Duration = Duration::from_micros(300);
const MOST_CPU: f64 = 0.2;
/// TTL of cacheable responses: longer than a run.
const KEPT: Duration = Duration::from_hours(1);

/// The gateway between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// None.
    Direct,
    /// refdesk, with the server as an `upstream` mount.
    Refdesk,
    /// fastmcp's proxy, with one session that serves all requests.
    FastmcpKept,
    /// fastmcp's proxy as it is by default.
    Fastmcp,
}

impl Way {
    const ALL: [Self; 4] = [Self::Direct, Self::Refdesk, Self::FastmcpKept, Self::Fastmcp];

    /// The label in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "nothing between",
            Self::Refdesk => "refdesk",
            Self::FastmcpKept => "fastmcp, one session",
            Self::Fastmcp => "fastmcp, by default",
        }
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The workload.
    pub work: &'static str,
    /// The gateway.
    pub way: Way,
    /// The latency at the client and the cost of the process it connects to.
    pub figures: Figures,
    /// The result for refdesk; absent for the others.
    pub verdict: Option<Verdict>,
    /// Added latency; absent for the direct connection.
    pub added: Option<Added>,
}

/// Latency that a gateway adds, in seconds; negative if it answers from its cache.
#[derive(Clone, Copy, Debug)]
pub struct Added {
    /// Added to the median.
    pub p50: f64,
    /// Added to the 99th percentile.
    pub p99: f64,
}

/// refdesk compared with fastmcp in its fastest configuration.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// CPU time per request relative to fastmcp.
    pub cpu: f64,
    /// The target.
    pub bar: &'static str,
    /// Whether the target is met.
    pub met: bool,
}

#[derive(Clone, Copy)]
struct Work {
    name: &'static str,
    body: Body,
    asks: Asks,
    /// Whether the responses are cacheable.
    kept: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// One request at a time.
    Alone,
    /// Many concurrent requests for different resources: a gateway cannot merge them.
    Apart,
    /// Many concurrent requests for one resource, which a gateway may merge (single flight).
    Alike,
}

const WORKS: [Work; 6] = [
    work("gateway: 1 KiB, one at a time", Body::Kib, Asks::Alone),
    work("gateway: 1 KiB, 64 at once", Body::Kib, Asks::Apart),
    work("gateway: 1 MiB, one at a time", Body::Mib, Asks::Alone),
    work("gateway: 1 MiB, 64 at once", Body::Mib, Asks::Apart),
    work("gateway: 1 KiB, 64 at once for the same", Body::Kib, Asks::Alike),
    Work { kept: true, ..work("gateway: 1 KiB that may be kept", Body::Kib, Asks::Alone) },
];

const fn work(name: &'static str, body: Body, asks: Asks) -> Work {
    Work { name, body, asks, kept: false }
}

impl Work {
    fn verdict(self, [direct, refdesk, other]: [&Figures; 3]) -> Verdict {
        let cpu = refdesk.cpu.as_secs_f64() / other.cpu.as_secs_f64();
        // With concurrent requests, latency only restates throughput.
        let waits_alone = self.asks == Asks::Alone;
        let quick = added(direct, refdesk).p50 < MOST_ADDED.as_secs_f64();
        let bar = if waits_alone { "p50 + 0.3 ms, CPU ≤ 0.20" } else { "CPU ≤ 0.20" };
        Verdict { cpu, bar, met: cpu <= MOST_CPU && (quick || !waits_alone) }
    }
}

fn added(direct: &Figures, through: &Figures) -> Added {
    let more = |to: Duration, from: Duration| to.as_secs_f64() - from.as_secs_f64();
    Added { p50: more(through.p50, direct.p50), p99: more(through.p99, direct.p99) }
}

/// Measures the selected workloads; all gateways use the same server and take turns.
///
/// # Errors
/// When fastmcp cannot be installed, or a server does not start or responds incorrectly.
pub async fn run(options: &Options) -> anyhow::Result<Vec<Row>> {
    let wanted: Vec<Work> = WORKS.into_iter().filter(|work| options.wants(work.name)).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let scratch = options.scratch()?;
    std::fs::create_dir_all(&scratch).context("make the scratch folder")?;
    let gateway = Gateway::install(&scratch).context("install fastmcp")?;
    let bench = Bench { options, scratch: &scratch, gateway };
    let mut rows = Vec::new();
    for work in wanted {
        progress(work.name);
        let measured = bench.compete(work).await;
        rows.extend(measured.with_context(|| format!("measure: {}", work.name))?);
    }
    Ok(rows)
}

struct Bench<'a> {
    options: &'a Options,
    scratch: &'a Path,
    gateway: Gateway,
}

impl Bench<'_> {
    async fn compete(&self, work: Work) -> anyhow::Result<Vec<Row>> {
        let lasting = work.kept.then_some(KEPT);
        let launch = Launch::upstream(&self.options.peer()?, lasting);
        let (upstream, address) = child::over_http(&launch).await.context("start the server")?;
        let mut servers = Vec::new();
        let mut contenders = Vec::new();
        for way in Way::ALL {
            let (pid, reached) = match self.launch(way, address)? {
                None => (upstream.pid, address),
                Some(launch) => {
                    let (server, reached) = child::over_http(&launch).await.context(way.name())?;
                    let pid = server.pid;
                    servers.push(server);
                    (pid, reached)
                }
            };
            let client = enter(work, way, reached).await.context(way.name())?;
            contenders.push(Contender { pid, client });
        }
        let figures = measure(&mut contenders, self.options.plan()).await?;
        Ok(rows(work, &figures))
    }

    fn launch(&self, way: Way, upstream: SocketAddr) -> anyhow::Result<Option<Launch>> {
        let url = format!("http://{upstream}/mcp");
        Ok(match way {
            Way::Direct => None,
            Way::Refdesk => {
                let settings = fixture::upstream_settings(self.scratch, &url)?;
                Some(Launch::refdesk(&self.options.refdesk()?, &settings))
            }
            Way::FastmcpKept => Some(self.gateway.launch(&url, Sessions::Kept)),
            Way::Fastmcp => Some(self.gateway.launch(&url, Sessions::Each)),
        })
    }
}

/// Verifies that responses pass through unchanged, and opens a client.
async fn enter(work: Work, way: Way, address: SocketAddr) -> anyhow::Result<Client> {
    let uris = match work.asks {
        Asks::Alone => vec![work.body.uri()],
        Asks::Apart => work.body.copies(CROWD),
        Asks::Alike => vec![work.body.uri(); CROWD],
    };
    let public = |uri: String| if way == Way::Refdesk { fixture::mounted_uri(&uri) } else { uri };
    let messages: Vec<_> = uris.into_iter().map(|uri| Message::read(&public(uri))).collect();
    let mut inquirer = Inquirer::open(address).await?;
    let mut length = 0;
    for message in &messages {
        let answer = inquirer.ask(message).await?;
        verify::reading(&answer, &work.body.bytes())?;
        length = answer.len();
    }
    Ok(Client::Http(HttpClient::apart(address, &messages, length).await?))
}

fn rows(work: Work, figures: &[Figures]) -> Vec<Row> {
    let [direct, refdesk, other, ..] = figures else { return Vec::new() };
    let rows = Way::ALL.into_iter().zip(figures).map(|(way, figures)| Row {
        work: work.name,
        way,
        figures: *figures,
        verdict: (way == Way::Refdesk).then(|| work.verdict([direct, refdesk, other])),
        added: (way != Way::Direct).then(|| added(direct, figures)),
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Figures, WORKS, Way, rows};

    fn figures(p50: u64, cpu: u64) -> Figures {
        let p99 = Duration::from_micros(2 * p50);
        let (p50, cpu) = (Duration::from_micros(p50), Duration::from_micros(cpu));
        Figures { rate: 1.0, p50, p99, cpu, peak: 1 }
    }

    #[test]
    fn a_gateway_is_held_against_the_server_and_against_the_quicker_gateway() {
        let measured = [figures(100, 50), figures(350, 20), figures(900, 100), figures(9_000, 900)];
        let rows = rows(WORKS[0], &measured);
        assert!(rows[0].added.is_none() && rows[2].verdict.is_none());
        assert!((rows[1].added.unwrap().p50 - 250e-6).abs() < 1e-9);
        assert!((rows[1].added.unwrap().p99 - 500e-6).abs() < 1e-9);
        let verdict = rows[1].verdict.unwrap();
        assert!((verdict.cpu - 0.2).abs() < 1e-9 && verdict.met);
        assert_eq!(rows[1].way, Way::Refdesk);
    }

    #[test]
    fn latency_has_a_bar_only_where_nobody_else_asks() {
        let slow = [figures(100, 50), figures(401, 20), figures(900, 100), figures(900, 100)];
        assert!(!rows(WORKS[0], &slow)[1].verdict.unwrap().met);
        assert!(rows(WORKS[1], &slow)[1].verdict.unwrap().met);
    }
}
