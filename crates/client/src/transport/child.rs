//! Child process transport: starts a program, talks over its pipes, and ends it with its children.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::time;

use super::pending::PendingRequests;
use super::pipe::{PipeTasks, PipeTransport};
use super::stderr::{StderrTail, drain_stderr};
use crate::error::Error;

/// How long to drain the output of a program that has exited.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// The exit status of a supervisor, or a shell, that cannot start its program.
const CANNOT_START: i32 = 127;

/// The program to start.
#[derive(Clone, Copy)]
pub(crate) struct ChildCommand<'a> {
    pub(crate) supervisor: Option<&'a PathBuf>,
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) inherited_env: &'a [(String, OsString)],
    pub(crate) env: &'a [(String, String)],
    pub(crate) cwd: Option<&'a PathBuf>,
}

impl ChildCommand<'_> {
    fn command(&self) -> Command {
        let mut command = match self.supervisor {
            None => Command::new(self.command),
            Some(supervisor) => {
                let mut command = Command::new(supervisor);
                command.arg("supervise");
                command.arg(std::process::id().to_string()).arg("--").arg(self.command);
                command
            }
        };
        command.args(self.args);
        command
    }
}

/// Starts a program in a process group of its own, so that its children end with it.
pub(crate) fn spawn(
    program: ChildCommand<'_>,
    pending: Arc<PendingRequests>,
    most: usize,
    exit_timeout: Duration,
) -> Result<PipeTransport, Error> {
    let mut command = program.command();
    command.env_clear().envs(program.inherited_env.iter().map(|(name, value)| (name, value)));
    command.envs(program.env.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = program.cwd {
        command.current_dir(folder);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A supervisor must live to end the program; the end of this process ends the supervisor.
    command.process_group(0).kill_on_drop(program.supervisor.is_none());
    let failed = |error| Error::Unreachable(format!("cannot start {}: {error}", program.command));
    let mut child = command.spawn().map_err(failed)?;
    let (Some(input), Some(output), Some(errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Error::Unreachable("the program has no pipes".to_owned()));
    };
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let complaints = Arc::new(StderrTail::default());
    tokio::spawn(drain_stderr(errors, Arc::clone(&complaints), Arc::clone(&pending)));
    let (pipe, ends) = PipeTransport::start(output, input, Arc::clone(&pending), most);
    let keeper = ChildSupervisor { child, group, stderr: complaints, pending, exit_timeout };
    let ending = tokio::spawn(keeper.run(ends));
    // Closing its input, SIGTERM and SIGKILL each have their time.
    Ok(pipe.with_end_task(ending, exit_timeout * 4 + DRAIN_TIMEOUT))
}

/// Supervises a program until it has exited.
struct ChildSupervisor {
    child: Child,
    group: Option<Pid>,
    stderr: Arc<StderrTail>,
    pending: Arc<PendingRequests>,
    exit_timeout: Duration,
}

impl ChildSupervisor {
    async fn run(mut self, mut tasks: PipeTasks) {
        let why = tokio::select! {
            status = self.child.wait() => {
                let _ = time::timeout(DRAIN_TIMEOUT, &mut tasks.reader).await;
                describe_exit(status.ok())
            }
            why = &mut tasks.reader => self.exit_reason(why.unwrap_or_default()).await,
            why = &mut tasks.writer => self.exit_reason(why.unwrap_or_default()).await,
            _ = &mut tasks.closing => {
                let _ = time::timeout(self.exit_timeout, &mut tasks.writer).await;
                "closed by the client".to_owned()
            }
        };
        let complaint = self.stderr.last_line(self.pending.mask());
        let exit = self.child.try_wait().ok().flatten().and_then(|status| status.code());
        let error = match exit {
            // Its own words say which program, and why.
            Some(CANNOT_START) if !complaint.is_empty() => {
                let why = complaint.strip_prefix("error: ").unwrap_or(&complaint);
                Error::Unreachable(why.to_owned())
            }
            Some(CANNOT_START) => Error::Unreachable(why),
            _ if complaint.is_empty() => Error::Closed(why),
            _ => Error::Closed(format!("{why}, and its last words are: {complaint}")),
        };
        self.pending.end(&error);
        // Its input closes with the writer; that asks the program to exit.
        tasks.writer.abort();
        self.stop().await;
        tasks.reader.abort();
    }

    /// Why a pipe ended: the exit status if the program exits too, else the pipe's own reason.
    async fn exit_reason(&mut self, pipe: String) -> String {
        match time::timeout(DRAIN_TIMEOUT, self.child.wait()).await {
            Ok(status) => describe_exit(status.ok()),
            Err(_) => pipe,
        }
    }

    async fn stop(mut self) {
        if time::timeout(self.exit_timeout, self.child.wait()).await.is_err() {
            self.signal(Signal::TERM);
            if time::timeout(self.exit_timeout, self.child.wait()).await.is_err() {
                self.signal(Signal::KILL);
                let _ = self.child.wait().await;
            }
        }
        // Children of the program may have outlived it.
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        let _ = self.group.map(|group| kill_process_group(group, signal));
    }
}

fn describe_exit(status: Option<ExitStatus>) -> String {
    status.map_or_else(
        || "the program exited".to_owned(),
        |status| match status.code() {
            Some(code) => format!("the program exited with status {code}"),
            None => format!("the program was ended by {status}"),
        },
    )
}
