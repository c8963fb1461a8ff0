//! Benchmarks of the command line: time to the first byte of `ls` and `cat`, beside curl and the Inspector.

use std::{
    fs,
    io::Read as _,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

use crate::{
    fastmcp::run_to_end,
    fixture::{self, ListingOption},
    measure::median,
    message::BenchRequest,
    options::Options,
    process_usage,
    report::{progress, time},
    scaling_bench::ScalingRow,
    server_process::{self, ServerCommand},
};

/// The Inspector and the Node.js that it needs, at pinned versions.
const PACKAGES: [&str; 2] = ["@modelcontextprotocol/inspector@2.12.0", "node@22.23.3"];
const FILES: usize = 100;
const TEXT: &str = "The light of the harbour is seen from the sea.\n";

/// Measures the commands that are selected.
///
/// # Errors
/// When refdesk, curl or the Inspector does not start, or prints something else than expected.
pub async fn run(options: &Options) -> anyhow::Result<Vec<ScalingRow>> {
    let works = ["refdesk ls, first byte", "refdesk cat, first byte"];
    if !works.iter().any(|work| options.wants(work)) {
        return Ok(Vec::new());
    }
    let scratch = options.scratch()?;
    let inspector = Inspector::install(&scratch)?;
    let folder = scratch.join("commands");
    fs::create_dir_all(&folder).context("make the served folder")?;
    for number in 0..FILES {
        fs::write(folder.join(format!("{number:03}.txt")), TEXT).context("make a file")?;
    }
    let settings = scratch.join("commands.toml");
    let settings = fixture::fs_settings(&settings, &folder, ListingOption::Default, FILES)?;
    let refdesk = options.refdesk()?;
    let launch = ServerCommand::refdesk(&refdesk, &settings);
    let (_server, address) = server_process::start_http(&launch).await?;
    let rounds = if options.quick { 3 } else { 21 };
    let file = fixture::file_uri("007.txt");
    let contenders = [
        [
            refdesk_command(&refdesk, address, &["ls", &fixture::file_uri("")]),
            curl(address, "resources/list", &BenchRequest::list(None), None),
            inspector.command(address, &["resources/list"]),
        ],
        [
            refdesk_command(&refdesk, address, &["cat", &file]),
            curl(address, "resources/read", &BenchRequest::read(&file), Some(&file)),
            inspector.command(address, &["resources/read", "--uri", &file]),
        ],
    ];
    let mut rows = Vec::new();
    for ((work, wanted), commands) in
        works.into_iter().zip(["007.txt", TEXT.trim()]).zip(contenders)
    {
        if options.wants(work) {
            progress(work);
            rows.push(first_byte(work, wanted, commands, rounds)?);
        }
    }
    Ok(rows)
}

/// The time to the first byte and the CPU time of each command, in alternating rounds.
fn first_byte(
    work: &str,
    wanted: &str,
    mut commands: [Command; 3],
    rounds: usize,
) -> anyhow::Result<ScalingRow> {
    let mut runs: [(Vec<f64>, Vec<f64>); 3] = Default::default();
    for _ in 0..rounds {
        for (command, (waits, costs)) in commands.iter_mut().zip(&mut runs) {
            let before = process_usage::children_cpu()?;
            waits.push(wait_for_byte(command, wanted)?.as_secs_f64());
            costs.push(process_usage::children_cpu()?.saturating_sub(before).as_secs_f64());
        }
    }
    let [ours, curl, inspector] = runs.map(|(mut waits, costs)| {
        // CPU time is counted in hundredths of a second, so only the mean tells something.
        (median(&mut waits), costs.iter().sum::<f64>() / costs.len() as f64)
    });
    let shown = |(wait, cpu): (f64, f64)| {
        let [wait, cpu] = [wait, cpu].map(|seconds| time(Duration::from_secs_f64(seconds)));
        format!("{wait} (CPU {cpu})")
    };
    let ratio = ours.0 / inspector.0;
    Ok(ScalingRow {
        work: work.to_owned(),
        figure: shown(ours),
        reference: format!("curl {}, Inspector {}", shown(curl), shown(inspector)),
        ratio: Some(ratio),
        target: "1/10 of the Inspector",
        met: ratio <= 0.1,
    })
}

fn wait_for_byte(command: &mut Command, wanted: &str) -> anyhow::Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("start {command:?}"))?;
    let mut output = child.stdout.take().context("take the output")?;
    let mut printed = vec![0];
    output.read_exact(&mut printed).with_context(|| format!("{command:?} printed nothing"))?;
    let waited = started.elapsed();
    output.read_to_end(&mut printed).context("read the output")?;
    ensure!(child.wait().context("wait for a command")?.success(), "{command:?} failed");
    let printed = String::from_utf8_lossy(&printed);
    ensure!(printed.contains(wanted), "{command:?} printed {printed}");
    Ok(waited)
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}/mcp")
}

fn refdesk_command(program: &Path, address: SocketAddr, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words).args(["--server", &url(address)]);
    command
}

fn curl(address: SocketAddr, method: &str, request: &BenchRequest, name: Option<&str>) -> Command {
    let mut command = Command::new("curl");
    command.args(["--silent", &url(address), "--data", &request.body(1)]);
    let headers = [
        "Content-Type: application/json".to_owned(),
        "Accept: application/json, text/event-stream".to_owned(),
        format!("MCP-Protocol-Version: {}", crate::message::REVISION),
        format!("Mcp-Method: {method}"),
    ];
    let name = name.map(|name| format!("Mcp-Name: {name}"));
    for header in headers.into_iter().chain(name) {
        command.args(["--header", &header]);
    }
    command
}

/// An installed Inspector.
struct Inspector {
    node: PathBuf,
    launcher: PathBuf,
    home: PathBuf,
}

impl Inspector {
    /// Installs it in the scratch folder, unless an earlier run did.
    fn install(scratch: &Path) -> anyhow::Result<Self> {
        let home = fixture::create_once(scratch, "inspector", |root| {
            progress(&format!("install {}", PACKAGES.join(", ")));
            let mut install = Command::new("npm");
            install.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]);
            run_to_end(install.arg(root).args(PACKAGES))
        })?;
        let package = "node_modules/@modelcontextprotocol/inspector";
        let launcher = home.join(package).join("clients/launcher/build/index.js");
        Ok(Self { node: home.join("node_modules/node/bin/node"), launcher, home })
    }

    fn command(&self, address: SocketAddr, method: &[&str]) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.launcher).args(["--cli", "--protocol-era", "modern", "--method"]);
        command.args(method).args(["--format", "json", "--quiet", &url(address)]);
        // It keeps a catalog and secrets in the home folder.
        command.env("HOME", &self.home);
        command
    }
}
