//! `refdesk serve --daemon`: a server in the background, found again by the commands in its folder.

use std::fs::{self, DirBuilder};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::args::ServeArgs;
use crate::output;
use crate::running_server::RunningServer;
use crate::server_choice::OWN_PROGRAM;
use crate::state_file::state_folder;

/// The most bytes of the line that a server prints when it listens.
const MAX_LINE: u64 = 1 << 20;

/// Starts the server in the background, and waits until it listens.
pub(super) fn start(args: &ServeArgs) -> anyhow::Result<()> {
    let here = std::env::current_dir().context("cannot find the current folder")?;
    if let Some(running) = running_in(&here) {
        return output::print(&match args.json {
            true => format!("{}\n", json!({ "url": running.url, "alreadyRunning": true })),
            false => format!("a server runs already: {}\n", running.url),
        });
    }
    let socket = socket_path(&here)?;
    let state = state_folder().context("there is no home folder for the log")?;
    let mut command = Command::new(OWN_PROGRAM);
    command.args(std::env::args_os().skip(1).filter(|word| word != "--daemon" && word != "--json"));
    if args.listen.is_none() {
        command.arg("--listen").arg(format!("unix:{}", socket.display()));
    }
    if args.log_file.is_none() {
        let shown = state.display();
        fs::create_dir_all(&state).with_context(|| format!("cannot make the folder {shown}"))?;
        command.arg("--log-file").arg(state.join("daemon.log"));
    }
    command.arg("--json").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: Ctrl-C in this terminal is not for the daemon.
    let mut child = command.process_group(0).spawn().context("cannot start the server")?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out.take(MAX_LINE)).read_line(&mut line)?;
    }
    if line.is_empty() {
        let mut words = String::new();
        if let Some(errors) = child.stderr.take() {
            errors.take(MAX_LINE).read_to_string(&mut words)?;
        }
        anyhow::bail!("the server did not start: {}", words.trim().trim_start_matches("error: "));
    }
    if args.json {
        return output::print(&line);
    }
    let told: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
    let url = told["url"].as_str().unwrap_or_default();
    output::print(&format!(
        "serving {} at {url}\nthe commands in this folder use it; stop it with refdesk serve --stop\n",
        here.display()
    ))
}

/// Stops the server that runs for this folder.
pub(super) fn stop(is_json: bool) -> anyhow::Result<()> {
    let here = std::env::current_dir().context("cannot find the current folder")?;
    let running = running_in(&here).context("no server runs for this folder")?;
    let process = Pid::from_raw(running.process).context("the server does not tell its process")?;
    kill_process(process, Signal::TERM).context("cannot stop the server")?;
    output::print(&match is_json {
        true => format!("{}\n", json!({ "stopped": running.url })),
        false => format!("stopped {}\n", running.url),
    })
}

fn running_in(folder: &Path) -> Option<RunningServer> {
    RunningServer::find_all().into_iter().find(|server| server.folder == *folder)
}

/// A socket for the server of `folder`, in a folder that only this user can open.
fn socket_path(folder: &Path) -> anyhow::Result<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|path| path.is_dir()).map(|path| path.join("refdesk"));
    let place = runtime.or_else(|| Some(state_folder()?.join("run")));
    let place =
        place.context("there is no folder for the socket; name one with --listen unix:PATH")?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&place);
    made.with_context(|| format!("cannot make the folder {}", place.display()))?;
    let name = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
    Ok(place.join(format!("{}.sock", &name[..16])))
}
