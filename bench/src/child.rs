//! How does a server come up for one work, and go down after it?

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
    process::{Child, Command},
    sync::mpsc,
    time::timeout,
};

use crate::pipe::Pipe;

const PATIENCE: Duration = Duration::from_mins(1);

/// How a server is started.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Launch {
    /// A program with its arguments.
    pub(crate) fn new(program: &Path, arguments: Vec<OsString>) -> Self {
        Self { program: program.to_owned(), arguments }
    }

    /// refdesk with a settings file.
    pub(crate) fn refdesk(program: &Path, settings: &Path) -> Self {
        Self::new(program, vec!["serve".into(), "--settings".into(), settings.into()])
    }

    /// The server it is compared with.
    pub(crate) fn peer(program: &Path, threads: Option<usize>) -> Self {
        let arguments = threads
            .map_or_else(Vec::new, |count| vec!["--threads".into(), count.to_string().into()]);
        Self::new(program, arguments)
    }

    /// The same server with few resources, to stand behind others; whether its readings
    /// may be kept is for it to say.
    pub(crate) fn upstream(program: &Path, lasting: Option<Duration>) -> Self {
        let millis = lasting.unwrap_or_default().as_millis().to_string();
        Self::new(program, vec!["--copies".into(), "--ttl".into(), millis.into()])
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    fn start(&self, command: &mut Command) -> anyhow::Result<(Child, u32)> {
        let child = command.spawn();
        let child = child.with_context(|| format!("start {}", self.program.display()))?;
        let pid = child.id().context("the server ended at once")?;
        Ok((child, pid))
    }
}

/// A running server; dropping it ends it.
pub(crate) struct Server {
    pub(crate) pid: u32,
    _child: Child,
}

/// Starts a server on a free port of the loopback and waits until it names its address.
pub(crate) async fn over_http(launch: &Launch) -> anyhow::Result<(Server, SocketAddr)> {
    let mut command = launch.command();
    command.args(["--listen", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let (mut child, pid) = launch.start(&mut command)?;
    let (sender, receiver) = mpsc::unbounded_channel();
    forward(child.stdout.take(), &sender);
    forward(child.stderr.take(), &sender);
    drop(sender);
    let address = timeout(PATIENCE, announced(receiver))
        .await
        .map_err(|_| anyhow!("{} named no address", launch.program.display()))?
        .with_context(|| format!("start {}", launch.program.display()))?;
    Ok((Server { pid, _child: child }, address))
}

/// Starts a server on two pipes.
pub(crate) fn over_stdio(launch: &Launch) -> anyhow::Result<(Server, Pipe)> {
    let mut command = launch.command();
    command.arg("--stdio").stdin(Stdio::piped()).stdout(Stdio::piped());
    let (mut child, pid) = launch.start(&mut command)?;
    let (sender, _) = mpsc::unbounded_channel();
    forward(child.stderr.take(), &sender);
    let input = child.stdin.take().context("take the server's input")?;
    let output = child.stdout.take().context("take the server's output")?;
    Ok((Server { pid, _child: child }, Pipe::new(input, output)))
}

/// Reads a stream to its end, whoever listens, so that the server never blocks on a full pipe.
fn forward<R: AsyncRead + Unpin + Send + 'static>(
    stream: Option<R>,
    sender: &mpsc::UnboundedSender<String>,
) {
    let sender = sender.clone();
    if let Some(stream) = stream {
        tokio::spawn(async move {
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                // Once the address is known nobody listens any more, and that is no failure.
                let _ = sender.send(line);
            }
        });
    }
}

async fn announced(mut lines: mpsc::UnboundedReceiver<String>) -> anyhow::Result<SocketAddr> {
    let mut said = String::new();
    while let Some(line) = lines.recv().await {
        if let Some(address) = address_in(&line) {
            return Ok(address);
        }
        said.push('\n');
        said.push_str(&line);
    }
    bail!("it ended before it listened; it said:{said}")
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("http://")?;
    rest.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::address_in;

    #[test]
    fn the_address_is_found_in_a_line_for_people() {
        let line = "  listening on http://127.0.0.1:7878/mcp      (add it to a host)";
        assert_eq!(address_in(line).unwrap().port(), 7878);
        assert_eq!(address_in("refdesk 0.1.0"), None);
    }
}
