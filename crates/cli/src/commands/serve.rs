//! `refdesk serve`: the MCP server over HTTP or stdio, until a shutdown signal.

mod banner;
mod daemon;
mod stdio_pipes;

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use resource::Provider;
use server::transport::{http, stdio};
use server::{CollectionsMode, Server};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

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
    let settings = Settings::load_for_serving(args);
    let has_file = open_log(args, settings.as_ref().ok())?;
    settings.and_then(|settings| serve(args, settings)).inspect_err(|error| {
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

fn serve(args: &ServeArgs, mut settings: Settings) -> anyhow::Result<()> {
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
    if args.stdio {
        // One pipe needs one thread; more would only add hand-offs between threads.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let served = runtime.block_on(async {
            start_mounts(&assembly.mounts, searching.as_ref(), &settings);
            if io::stdin().is_terminal() {
                let _ = io::stderr().write_all(STDIO_ON_A_TERMINAL.as_bytes());
            }
            let (input, output) = stdio_pipes::open_stdio()?;
            let (pipes, audit) = ((input, output), audit_log(args, &settings)?);
            let serving = stdio::serve_audited(server, pipes, shutdown_signal()?, audit);
            tokio::select! {
                served = serving => anyhow::Ok(served?),
                () = reload::watch_settings(args, &settings, (&assembly, searching.as_deref()), None) => Ok(()),
            }
        });
        // A blocking read of the terminal must not delay the exit.
        runtime.shutdown_background();
        return served;
    }
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve_http(
        args,
        &settings,
        (&assembly, searching.as_ref()),
        (server, folders),
    ));
    // A blocking read of a disk that does not answer must not prevent the exit.
    runtime.shutdown_timeout(EXIT_TIMEOUT);
    served
}

async fn serve_http(
    args: &ServeArgs,
    settings: &Settings,
    (assembly, searching): (&Assembly, Option<&Arc<Searching>>),
    (server, folders): (Arc<Server>, Vec<(String, PathBuf)>),
) -> anyhow::Result<()> {
    let address = settings.address.clone().unwrap_or_default();
    let (access, startup) = Access::new(args, settings, &address)?;
    start_mounts(&assembly.mounts, searching, settings);
    let OpenListener { listener, address, file } = address.open().await?;
    let options = access.http_options(settings, &address);
    let stop = shutdown_signal()?;
    let serving = http::serve(server, listener, options, stop);
    let serving = async {
        tokio::select! {
            served = serving => served,
            () = reload::watch_settings(args, settings, (assembly, searching.map(|searching| &**searching)), Some(&access)) => Ok(()),
        }
    };
    let has_tls = access.tls.is_some();
    let url = address.url(has_tls);
    let _announcement = RunningServer::announce(&url, folders, access.wants_token());
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
