//! Starts the servers under test as child processes.

use std::{
    ffi::OsString,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, anyhow, bail};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    net::TcpStream,
    process::{Child, Command},
    sync::mpsc,
    time::{sleep, timeout},
};

use crate::stdio_pipe::Pipe;

const START_TIMEOUT: Duration = Duration::from_mins(1);
const CONNECT_INTERVAL: Duration = Duration::from_millis(10);

/// The command line of a server.
#[derive(Clone, Debug)]
pub(crate) struct ServerCommand {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(&'static str, PathBuf)>,
}

impl ServerCommand {
    /// A program with its arguments.
    pub(crate) fn new(program: &Path, arguments: Vec<OsString>) -> Self {
        Self { program: program.to_owned(), arguments, environment: Vec::new() }
    }

    /// refdesk with a settings file.
    pub(crate) fn refdesk(program: &Path, settings: &Path) -> Self {
        Self::new(program, vec!["serve".into(), "--settings".into(), settings.into()])
    }

    /// The same with a folder in the environment.
    pub(crate) fn with_environment(mut self, name: &'static str, folder: &Path) -> Self {
        self.environment.push((name, folder.to_owned()));
        self
    }

    /// The same under TLS.
    pub(crate) fn with_tls(mut self, certificate: &Path, key: &Path) -> Self {
        let files = [("--tls-cert", certificate), ("--tls-key", key)];
        let words = files.into_iter().flat_map(|(name, file)| [name.into(), file.into()]);
        self.arguments.extend::<Vec<OsString>>(words.collect());
        self
    }

    /// The rmcp server to compare with.
    pub(crate) fn peer(program: &Path, threads: Option<usize>) -> Self {
        let arguments = threads
            .map_or_else(Vec::new, |count| vec!["--threads".into(), count.to_string().into()]);
        Self::new(program, arguments)
    }

    /// The same server with few resources, as an upstream of gateways. `lasting` is the TTL of its
    /// responses.
    pub(crate) fn upstream(program: &Path, lasting: Option<Duration>) -> Self {
        let millis = lasting.unwrap_or_default().as_millis().to_string();
        Self::new(program, vec!["--copies".into(), "--ttl".into(), millis.into()])
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, path)| (name, path)));
        command.stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    fn start(&self, command: &mut Command) -> anyhow::Result<(Child, u32)> {
        let child = command.spawn();
        let child = child.with_context(|| format!("start {}", self.program.display()))?;
        let pid = child.id().context("the server ended at once")?;
        Ok((child, pid))
    }
}

/// A running server, killed on drop.
pub(crate) struct ServerProcess {
    pub(crate) pid: u32,
    _child: Child,
}

/// Starts a server on a free loopback port and waits until it prints its address.
pub(crate) async fn start_http(
    launch: &ServerCommand,
) -> anyhow::Result<(ServerProcess, SocketAddr)> {
    let mut command = launch.command();
    command.args(["--listen", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let (mut child, pid) = launch.start(&mut command)?;
    let (sender, receiver) = mpsc::unbounded_channel();
    drain(child.stdout.take(), &sender);
    drain(child.stderr.take(), &sender);
    drop(sender);
    let address = timeout(START_TIMEOUT, wait_for_address(receiver))
        .await
        .map_err(|_| anyhow!("{} printed no address", launch.program.display()))?
        .with_context(|| format!("start {}", launch.program.display()))?;
    Ok((ServerProcess { pid, _child: child }, address))
}

/// Starts a server that is configured to listen on `address`, and waits until it does.
pub(crate) async fn start_at(
    launch: &ServerCommand,
    address: SocketAddr,
) -> anyhow::Result<ServerProcess> {
    let mut command = launch.command();
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let (mut child, pid) = launch.start(&mut command)?;
    let (sender, mut output) = mpsc::unbounded_channel();
    drain(child.stderr.take(), &sender);
    let listening = timeout(START_TIMEOUT, async {
        while TcpStream::connect(address).await.is_err() {
            sleep(CONNECT_INTERVAL).await;
        }
    });
    if listening.await.is_err() {
        let said = output.try_recv().unwrap_or_default();
        bail!("{} does not listen on {address}; output: {said}", launch.program.display());
    }
    Ok(ServerProcess { pid, _child: child })
}

/// Starts a server over stdio.
pub(crate) fn start_stdio(launch: &ServerCommand) -> anyhow::Result<(ServerProcess, Pipe)> {
    let mut command = launch.command();
    command.arg("--stdio").stdin(Stdio::piped()).stdout(Stdio::piped());
    let (mut child, pid) = launch.start(&mut command)?;
    let (sender, _) = mpsc::unbounded_channel();
    drain(child.stderr.take(), &sender);
    let input = child.stdin.take().context("take the server's input")?;
    let output = child.stdout.take().context("take the server's output")?;
    Ok((ServerProcess { pid, _child: child }, Pipe::new(input, output)))
}

/// Drains a stream to its end, so that the server never blocks on a full pipe.
fn drain<R: AsyncRead + Unpin + Send + 'static>(
    stream: Option<R>,
    sender: &mpsc::UnboundedSender<String>,
) {
    let sender = sender.clone();
    if let Some(stream) = stream {
        tokio::spawn(async move {
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                // The receiver is dropped once the address is known.
                let _ = sender.send(line);
            }
        });
    }
}

async fn wait_for_address(
    mut lines: mpsc::UnboundedReceiver<String>,
) -> anyhow::Result<SocketAddr> {
    let mut said = String::new();
    while let Some(line) = lines.recv().await {
        if let Some(address) = address_in(&line) {
            return Ok(address);
        }
        said.push('\n');
        said.push_str(&line);
    }
    bail!("the server exited before it listened; output:{said}")
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("http://").or_else(|| line.split_once("https://"))?;
    rest.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::address_in;

    #[test]
    fn the_address_is_found_in_a_line_for_people() {
        let line = "  listening on http://127.0.0.1:7878/mcp      (add it to a host)";
        assert_eq!(address_in(line).unwrap().port(), 7878);
        assert_eq!(address_in("on https://127.0.0.1:1/mcp").unwrap().port(), 1);
        assert_eq!(address_in("refdesk 0.1.0"), None);
    }
}
