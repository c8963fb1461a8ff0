//! `refdesk serve`: the MCP server over HTTP or stdio, until a shutdown signal.

mod banner;
mod daemon;
mod shutdown;
mod stdio_pipes;

use std::io::{self, IsTerminal as _, Write as _};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use resource::Provider;
use server::transport::http::{ConnectionThreads, HttpOptions};
use server::transport::{http, stdio};
use server::{CollectionsMode, Server};
use tokio::runtime::Builder;

use crate::access::{Access, audit_log};
use crate::args::ServeArgs;
use crate::assemble::{
    Assembly, BuiltMount, OwnResources, assemble, check_depth, shared_work_pool,
};
use crate::listen::OpenListener;
use crate::output::LogOptions;
use crate::rotating_file::RotatingFile;
use crate::running_server::RunningServer;
use crate::search_index::{SearchParts, Searching};
use crate::settings::{Diagnostic, Settings};
use crate::{cursor_key, descriptors, output, reload};
use banner::Banner;
use shutdown::ShutdownSignals;

/// How long the exit waits for tasks that still run.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// The size of a log file, and how many full ones are kept.
const LOG_SIZE: u64 = 10 << 20;
const LOGS_KEPT: u16 = 5;

/// What a person sees who starts the server for a host by hand.
const STDIO_ON_A_TERMINAL: &str = "\
    refdesk serves MCP over standard input and output, as a host starts it, and waits for JSON-RPC.\n\
    To leave, press Ctrl-D or Ctrl-C. To serve over HTTP: refdesk serve. To add it to a host: \
    refdesk host-config\n";

/// Serves until the input ends or a shutdown signal arrives. With a log file, it also has the
/// reason for a failed start: hosts hide standard error.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    if args.stop {
        return daemon::stop(args.json);
    }
    if args.daemon {
        return daemon::start(args);
    }
    // One pipe needs one thread; more would only add hand-offs between threads.
    let mut builder =
        if args.stdio { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    let runtime = builder.enable_all().build()?;
    // It outlives the runtime, whose tasks use it.
    let mut prepared = None;
    let served = runtime.block_on(serve_until_shutdown(args, &mut prepared));
    if args.stdio {
        // A blocking read of the terminal must not delay the exit.
        runtime.shutdown_background();
    } else {
        // A blocking read of a disk that does not answer must not prevent the exit.
        runtime.shutdown_timeout(EXIT_TIMEOUT);
    }
    served
}

/// Loads the settings, starts the log, sets the server up and serves. A signal ends any of it.
async fn serve_until_shutdown(
    args: &ServeArgs,
    prepared: &mut Option<PreparedServer>,
) -> anyhow::Result<()> {
    let mut signals = ShutdownSignals::catch()?;
    let own_args = args.clone();
    let load = move || {
        let settings = Settings::load_for_serving(&own_args);
        let has_file = open_log(&own_args, settings.as_ref().ok())?;
        anyhow::Ok((settings, has_file))
    };
    let Some(loaded) = signals.run_step(load).await? else { return Ok(()) };
    let (settings, has_file) = loaded?;
    let served = match settings {
        Ok(settings) => serve(args, settings, (signals, prepared)).await,
        Err(error) => Err(error),
    };
    served.inspect_err(|error| {
        if has_file {
            let diagnostic = error.downcast_ref().map(Diagnostic::one_line);
            tracing::error!("refdesk stops: {}", diagnostic.unwrap_or(format!("{error:#}")));
        }
    })
}

/// Starts the log; returns whether it is a file.
fn open_log(args: &ServeArgs, settings: Option<&Settings>) -> anyhow::Result<bool> {
    let of_settings =
        || settings.and_then(|all| Some(all.resolve_path(all.server.log_file.as_ref()?)));
    let path = args.log_file.clone().or_else(of_settings);
    let file = path.map(|path| {
        let shown = path.display().to_string();
        RotatingFile::open(path, LOG_SIZE, LOGS_KEPT)
            .with_context(|| format!("cannot write the log file {shown}"))
    });
    let file = file.transpose()?;
    let has_file = file.is_some();
    let usual_level = settings.and_then(|settings| settings.server.log_level);
    output::start_log(Some(LogOptions { level: args.log_level, usual_level, file }));
    Ok(has_file)
}

/// A server that is set up, and what it serves.
struct PreparedServer {
    settings: Settings,
    assembly: Assembly,
    searching: Option<Arc<Searching>>,
    server: Arc<Server>,
    folders: Vec<(String, PathBuf)>,
}

/// Sets the server up: opens the index, builds the mounts, and starts none of them.
fn prepare(args: &ServeArgs, mut settings: Settings) -> anyhow::Result<PreparedServer> {
    check_depth()?;
    descriptors::raise_limit();
    let mut limits = settings.server.limits();
    if !args.stdio {
        limits.connections = descriptors::max_connections(limits.connections);
    }
    let search = if args.without_index { None } else { SearchParts::open(&settings) };
    let own = OwnResources::stored(&settings, limits.memory);
    let assembly = assemble(&settings, &[], &own, search.as_ref())?;
    let folders = settings.served_folders();
    settings.forget_mounts();
    let settle = (limits.debounce_quiet, limits.debounce_max);
    let searching = search.and_then(|search| Searching::new(search, &assembly, settle));
    let searching = searching.map(Arc::new);
    let server = Server::within(
        own.memory,
        Arc::clone(&assembly.catalog) as Arc<dyn Provider>,
        limits,
        cursor_key::load_cursor_key(settings.server.secret.as_deref())?,
        CollectionsMode::from(settings.server.sep2093),
    );
    let server = server.with_watchers(own.watchers).with_clients(own.clients);
    let server = server.with_baskets(own.baskets).with_work_pool(shared_work_pool());
    let server = match &searching {
        Some(searching) => server.with_search(Arc::clone(&searching.service)),
        None => server,
    };
    let with_tools = settings.server.tools.unwrap_or(true);
    let server = Arc::new(if with_tools { server } else { server.without_tools() });
    Ok(PreparedServer { settings, assembly, searching, server, folders })
}

async fn serve(
    args: &ServeArgs,
    settings: Settings,
    (mut signals, prepared): (ShutdownSignals, &mut Option<PreparedServer>),
) -> anyhow::Result<()> {
    let own_args = args.clone();
    let done = signals.run_step(move || prepare(&own_args, settings)).await?;
    let Some(done) = done.transpose()? else { return Ok(()) };
    let prepared = prepared.insert(done);
    match args.stdio {
        true => serve_stdio(args, prepared, signals).await,
        false => serve_http(args, prepared, signals).await,
    }
}

async fn serve_stdio(
    args: &ServeArgs,
    prepared: &PreparedServer,
    mut signals: ShutdownSignals,
) -> anyhow::Result<()> {
    let PreparedServer { settings, assembly, searching, server, .. } = prepared;
    start_mounts(&assembly.mounts, searching.as_ref(), settings);
    if io::stdin().is_terminal() {
        let _ = io::stderr().write_all(STDIO_ON_A_TERMINAL.as_bytes());
    }
    let (input, output) = stdio_pipes::open_stdio()?;
    let (pipes, audit) = ((input, output), audit_log(args, settings)?);
    let serving = stdio::serve_audited(Arc::clone(server), pipes, signals.received(), audit);
    let mounted = (assembly, searching.as_deref());
    tokio::select! {
        served = serving => Ok(served?),
        () = reload::watch_settings(args, settings, mounted, None) => Ok(()),
    }
}

async fn serve_http(
    args: &ServeArgs,
    prepared: &PreparedServer,
    mut signals: ShutdownSignals,
) -> anyhow::Result<()> {
    let PreparedServer { settings, assembly, searching, server, folders } = prepared;
    let address = settings.address.clone().unwrap_or_default();
    let (access, startup) = Access::new(args, settings, &address)?;
    start_mounts(&assembly.mounts, searching.as_ref(), settings);
    let OpenListener { listener, address, file } = address.open().await?;
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = Some(Arc::new(ConnectionThreads::start(cores)?));
    let options = HttpOptions { threads, ..access.http_options(settings, &address) };
    let serving = http::serve(Arc::clone(server), listener, options, signals.received());
    let mounted = (assembly, searching.as_deref());
    let serving = async {
        tokio::select! {
            served = serving => served,
            () = reload::watch_settings(args, settings, mounted, Some(&access)) => Ok(()),
        }
    };
    let has_tls = access.tls.is_some();
    let url = address.url(has_tls);
    let _announcement = RunningServer::announce(&url, folders.clone(), access.wants_token());
    let banner = Banner::new(settings, &address, (startup, &access));
    // Serve clients while the banner is still counting.
    let (served, told) = tokio::join!(serving, banner.print(args, assembly));
    drop(file);
    told.and(Ok(served?))
}

/// Connects to the upstream servers and begins to index, in the background: neither must delay the
/// first client.
fn start_mounts(built: &[BuiltMount], searching: Option<&Arc<Searching>>, settings: &Settings) {
    if let Some(searching) = searching.cloned() {
        let (built, search) = (built.to_vec(), settings.search.clone());
        tokio::spawn(async move {
            searching.enable_meaning(&search).await;
            searching.keep(&built);
        });
    }
    for mount in built {
        let mount = mount.clone();
        tokio::spawn(async move { mount.connect().await });
    }
}
