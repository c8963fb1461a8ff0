//! `refdesk serve`: the MCP server over HTTP or stdio, until a shutdown signal.

mod stdio_pipes;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use resource::Provider;
use server::transport::{http, stdio};
use server::{CollectionsMode, Server, WatcherRegistry};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use super::check;
use crate::args::ServeArgs;
use crate::assemble::{Assembly, BuiltMount, assemble};
use crate::settings::Settings;
use crate::{cursor_key, descriptors, output, reload};

/// How many files of a folder the banner counts: startup must not scan a whole tree.
const COUNT_LIMIT: usize = 2_000;

/// How long startup waits for upstream servers to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the exit waits for tasks that still run.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7878);

/// Serves until the input ends or a shutdown signal arrives.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    descriptors::raise_limit();
    let settings = Settings::load(&args.source)?;
    let mut limits = settings.server.limits();
    limits.connections = descriptors::max_connections(limits.connections);
    let assembly = assemble(&settings, &[], &WatcherRegistry::new())?;
    let server = Server::new(
        Arc::clone(&assembly.catalog) as Arc<dyn Provider>,
        limits,
        cursor_key::load_cursor_key(settings.server.secret.as_deref())?,
        CollectionsMode::from(settings.server.sep2093),
    );
    let server = server.with_watchers(Arc::clone(&assembly.watchers));
    let with_tools = settings.server.tools.unwrap_or(true);
    let server = Arc::new(if with_tools { server } else { server.without_tools() });
    if args.stdio {
        // One pipe needs one thread; more would only add hand-offs between threads.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let served = runtime.block_on(async {
            connect_upstreams(&assembly.mounts).await;
            let (input, output) = stdio_pipes::open_stdio()?;
            let serving = stdio::serve(server, input, output, shutdown_signal()?);
            tokio::select! {
                served = serving => anyhow::Ok(served?),
                () = reload::watch_settings(&args.source, &settings, &assembly) => Ok(()),
            }
        });
        // A blocking read of the terminal must not delay the exit.
        runtime.shutdown_background();
        return served;
    }
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve_http(args, &settings, &assembly, server));
    // A blocking read of a disk that does not answer must not prevent the exit.
    runtime.shutdown_timeout(EXIT_TIMEOUT);
    served
}

async fn serve_http(
    args: &ServeArgs,
    settings: &Settings,
    assembly: &Assembly,
    server: Arc<Server>,
) -> anyhow::Result<()> {
    let address = args.listen.or(settings.server.listen).unwrap_or(DEFAULT_ADDRESS);
    connect_upstreams(&assembly.mounts).await;
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}; choose another with --listen 127.0.0.1:0")
    })?;
    let address = listener.local_addr()?;
    let guard = http::OriginGuard {
        loopback: address.ip().is_loopback(),
        origins: settings.server.origins.clone(),
        hosts: settings.server.hosts.clone(),
    };
    let stop = shutdown_signal()?;
    let serving = http::serve(server, listener, guard, stop);
    let serving = async {
        tokio::select! {
            served = serving => served,
            () = reload::watch_settings(&args.source, settings, assembly) => Ok(()),
        }
    };
    // Serve clients while the banner is still counting.
    let (served, told) = tokio::join!(serving, print_banner(args, assembly, address));
    told.and(Ok(served?))
}

/// Connects to the upstream servers, so that the first client sees their capabilities. Waits
/// five seconds at most.
async fn connect_upstreams(built: &[BuiltMount]) {
    let all = futures_util::future::join_all(built.iter().map(BuiltMount::connect));
    if tokio::time::timeout(CONNECT_TIMEOUT, all).await.is_err() {
        tracing::warn!(
            "some servers did not connect within {CONNECT_TIMEOUT:?}; they are served once they do"
        );
    }
}

/// Prints the banner: what is served, and where.
async fn print_banner(
    args: &ServeArgs,
    assembly: &Assembly,
    address: SocketAddr,
) -> anyhow::Result<()> {
    let url = format!("http://{address}{}", http::PATH);
    if args.json {
        let mut told = check::mounts_json(assembly, COUNT_LIMIT).await;
        told["url"] = url.into();
        return output::print(&format!("{told}\n"));
    }
    let table = check::mounts_table(assembly, COUNT_LIMIT).await;
    let version = env!("CARGO_PKG_VERSION");
    let next = "(add it to a host: refdesk host-config)";
    output::print(&format!("refdesk {version}\n{table}  listening on {url}   {next}\n"))
}

/// Completes on SIGTERM or SIGINT.
fn shutdown_signal() -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
