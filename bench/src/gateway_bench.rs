//! Gateway benchmark: what refdesk and fastmcp add to a request to an upstream server.

use std::{net::SocketAddr, path::Path, time::Duration};

use anyhow::Context;

use crate::{
    fastmcp::{FastmcpProxy, SessionMode},
    fixture,
    load_client::{HttpClient, LoadClient},
    measure::{Contender, Figures, measure},
    message::BenchRequest,
    options::Options,
    report::progress,
    server_process::{self, ServerCommand},
    test_data::{CONCURRENCY, TestBody},
    verify::{self, VerifyingClient},
};

const MAX_CPU_RATIO: f64 = 0.2;
/// TTL of cacheable responses: longer than a run.
const RESPONSE_TTL: Duration = Duration::from_hours(1);

/// The gateway between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatewayKind {
    /// None.
    Direct,
    /// refdesk, with the server as an `upstream` mount.
    Refdesk,
    /// fastmcp's proxy, with one session that serves all requests.
    FastmcpShared,
    /// fastmcp's proxy as it is by default.
    Fastmcp,
}

impl GatewayKind {
    const ALL: [Self; 4] = [Self::Direct, Self::Refdesk, Self::FastmcpShared, Self::Fastmcp];

    /// The label in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "nothing between",
            Self::Refdesk => "refdesk",
            Self::FastmcpShared => "fastmcp, one session",
            Self::Fastmcp => "fastmcp, by default",
        }
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct GatewayRow {
    /// The workload.
    pub work: &'static str,
    /// The gateway.
    pub gateway: GatewayKind,
    /// The latency at the client and the cost of the process it connects to.
    pub figures: Figures,
    /// The result for refdesk; absent for the others.
    pub verdict: Option<GatewayVerdict>,
    /// Added latency; absent for the direct connection.
    pub added: Option<AddedLatency>,
}

/// Latency that a gateway adds, in seconds; negative if it answers from its cache.
#[derive(Clone, Copy, Debug)]
pub struct AddedLatency {
    /// Added to the median.
    pub p50: f64,
    /// Added to the 99th percentile.
    pub p99: f64,
}

/// refdesk compared with fastmcp in its fastest configuration.
#[derive(Clone, Copy, Debug)]
pub struct GatewayVerdict {
    /// CPU time per request relative to fastmcp.
    pub cpu: f64,
    /// The target.
    pub target: &'static str,
    /// Whether the target is met.
    pub met: bool,
}

#[derive(Clone, Copy)]
struct GatewayWorkload {
    name: &'static str,
    body: TestBody,
    mix: RequestMix,
    /// Whether the responses are cacheable.
    cacheable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestMix {
    /// One request at a time.
    Alone,
    /// Many concurrent requests for different resources: a gateway cannot merge them.
    Distinct,
    /// Many concurrent requests for one resource, which a gateway may merge (single flight).
    Identical,
}

const WORKS: [GatewayWorkload; 6] = [
    work("gateway: 1 KiB, one at a time", TestBody::Kib, RequestMix::Alone),
    work("gateway: 1 KiB, 64 at once", TestBody::Kib, RequestMix::Distinct),
    work("gateway: 1 MiB, one at a time", TestBody::Mib, RequestMix::Alone),
    work("gateway: 1 MiB, 64 at once", TestBody::Mib, RequestMix::Distinct),
    work("gateway: 1 KiB, 64 at once for the same", TestBody::Kib, RequestMix::Identical),
    GatewayWorkload {
        cacheable: true,
        ..work("gateway: 1 KiB that may be kept", TestBody::Kib, RequestMix::Alone)
    },
];

const fn work(name: &'static str, body: TestBody, asks: RequestMix) -> GatewayWorkload {
    GatewayWorkload { name, body, mix: asks, cacheable: false }
}

impl GatewayWorkload {
    fn verdict(self, [direct, refdesk, other]: [&Figures; 3]) -> GatewayVerdict {
        let cpu = refdesk.cpu.as_secs_f64() / other.cpu.as_secs_f64();
        // With concurrent requests, latency only restates throughput.
        let waits_alone = self.mix == RequestMix::Alone;
        let (max_added, bar) = match self.body {
            _ if !waits_alone => (Duration::MAX, "CPU ≤ 0.20"),
            TestBody::Kib => (Duration::from_micros(300), "p50 + 0.3 ms, CPU ≤ 0.20"),
            TestBody::Mib | TestBody::Blob => {
                (Duration::from_micros(1_500), "p50 + 1.5 ms, CPU ≤ 0.20")
            }
        };
        let is_quick = added_latency(direct, refdesk).p50 < max_added.as_secs_f64();
        GatewayVerdict { cpu, target: bar, met: cpu <= MAX_CPU_RATIO && is_quick }
    }
}

fn added_latency(direct: &Figures, through: &Figures) -> AddedLatency {
    let more = |to: Duration, from: Duration| to.as_secs_f64() - from.as_secs_f64();
    AddedLatency { p50: more(through.p50, direct.p50), p99: more(through.p99, direct.p99) }
}

/// Measures the selected workloads; all gateways use the same server and take turns.
///
/// # Errors
/// When fastmcp cannot be installed, or a server does not start or responds incorrectly.
pub async fn run(options: &Options) -> anyhow::Result<Vec<GatewayRow>> {
    let wanted: Vec<GatewayWorkload> =
        WORKS.into_iter().filter(|work| options.wants(work.name)).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let scratch = options.scratch()?;
    std::fs::create_dir_all(&scratch).context("make the scratch folder")?;
    let gateway = FastmcpProxy::install(&scratch).context("install fastmcp")?;
    let bench = GatewayBench { options, scratch: &scratch, gateway };
    let mut rows = Vec::new();
    for work in wanted {
        progress(work.name);
        let measured = bench.measure_workload(work).await;
        rows.extend(measured.with_context(|| format!("measure: {}", work.name))?);
    }
    Ok(rows)
}

struct GatewayBench<'a> {
    options: &'a Options,
    scratch: &'a Path,
    gateway: FastmcpProxy,
}

impl GatewayBench<'_> {
    async fn measure_workload(&self, work: GatewayWorkload) -> anyhow::Result<Vec<GatewayRow>> {
        let lasting = work.cacheable.then_some(RESPONSE_TTL);
        let launch = ServerCommand::upstream(&self.options.peer()?, lasting);
        let (upstream, address) =
            server_process::start_http(&launch).await.context("start the server")?;
        let mut servers = Vec::new();
        let mut contenders = Vec::new();
        for way in GatewayKind::ALL {
            let (pid, reached) = match self.launch(way, address)? {
                None => (upstream.pid, address),
                Some(launch) => {
                    let (server, reached) =
                        server_process::start_http(&launch).await.context(way.name())?;
                    let pid = server.pid;
                    servers.push(server);
                    (pid, reached)
                }
            };
            let client = open_client(work, way, reached).await.context(way.name())?;
            contenders.push(Contender { pid, client });
        }
        let figures = measure(&mut contenders, self.options.plan()).await?;
        Ok(rows(work, &figures))
    }

    fn launch(
        &self,
        way: GatewayKind,
        upstream: SocketAddr,
    ) -> anyhow::Result<Option<ServerCommand>> {
        let url = format!("http://{upstream}/mcp");
        Ok(match way {
            GatewayKind::Direct => None,
            GatewayKind::Refdesk => {
                let settings = fixture::upstream_settings(self.scratch, &url)?;
                Some(ServerCommand::refdesk(&self.options.refdesk()?, &settings))
            }
            GatewayKind::FastmcpShared => Some(self.gateway.launch(&url, SessionMode::Shared)),
            GatewayKind::Fastmcp => Some(self.gateway.launch(&url, SessionMode::PerRequest)),
        })
    }
}

/// Verifies that responses pass through unchanged, and opens a client.
async fn open_client(
    work: GatewayWorkload,
    way: GatewayKind,
    address: SocketAddr,
) -> anyhow::Result<LoadClient> {
    let uris = match work.mix {
        RequestMix::Alone => vec![work.body.uri()],
        RequestMix::Distinct => work.body.copies(CONCURRENCY),
        RequestMix::Identical => vec![work.body.uri(); CONCURRENCY],
    };
    let public =
        |uri: String| if way == GatewayKind::Refdesk { fixture::mounted_uri(&uri) } else { uri };
    let messages: Vec<_> = uris.into_iter().map(|uri| BenchRequest::read(&public(uri))).collect();
    let mut inquirer = VerifyingClient::open(address).await?;
    let mut length = 0;
    for message in &messages {
        let answer = inquirer.request(message).await?;
        verify::check_read(&answer, &work.body.bytes())?;
        length = answer.len();
    }
    Ok(LoadClient::Http(HttpClient::one_per_request(address, &messages, length).await?))
}

fn rows(work: GatewayWorkload, figures: &[Figures]) -> Vec<GatewayRow> {
    let [direct, refdesk, other, ..] = figures else { return Vec::new() };
    let rows = GatewayKind::ALL.into_iter().zip(figures).map(|(way, figures)| GatewayRow {
        work: work.name,
        gateway: way,
        figures: *figures,
        verdict: (way == GatewayKind::Refdesk).then(|| work.verdict([direct, refdesk, other])),
        added: (way != GatewayKind::Direct).then(|| added_latency(direct, figures)),
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Figures, GatewayKind, WORKS, rows};

    fn figures(p50: u64, cpu: u64) -> Figures {
        let p99 = Duration::from_micros(2 * p50);
        let (p50, cpu) = (Duration::from_micros(p50), Duration::from_micros(cpu));
        Figures { rate: 1.0, p50, p99, cpu, peak: 1, own_peak: 1 }
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
        assert_eq!(rows[1].gateway, GatewayKind::Refdesk);
    }

    #[test]
    fn latency_has_a_bar_only_where_nobody_else_asks() {
        let slow = [figures(100, 50), figures(401, 20), figures(900, 100), figures(900, 100)];
        assert!(!rows(WORKS[0], &slow)[1].verdict.unwrap().met);
        assert!(rows(WORKS[1], &slow)[1].verdict.unwrap().met);
        assert!(rows(WORKS[2], &slow)[1].verdict.unwrap().met, "1 MiB may take longer");
        let slower = [figures(100, 50), figures(1_601, 20), figures(900, 100), figures(900, 100)];
        assert!(!rows(WORKS[2], &slower)[1].verdict.unwrap().met);
    }
}
