//! The hidden command `supervise`: runs a program for refdesk, and ends all its descendants.
//!
//! refdesk starts each program behind a mount through this small parent, because only a living
//! process can clean up after refdesk was killed. The kernel tells it when refdesk dies, and makes
//! it the parent of every orphan below it, also of those that left the process group.

use std::fs::{self, File};
use std::io;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_current_process_group,
    kill_process, set_child_subreaper, set_parent_process_death_signal, wait,
};
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};
use tokio::time::{self, Instant};

use crate::args::SuperviseArgs;
use crate::output;

/// How long the program may take to exit after SIGTERM. Shorter than the client's own timeout, so
/// that this process is not killed before it has cleaned up.
const EXIT_GRACE: Duration = Duration::from_secs(1);
/// How often, and how many times, the last descendants are killed.
const KILL_INTERVAL: Duration = Duration::from_millis(20);
const KILL_ROUNDS: usize = 250;

/// The exit status for a program that cannot be started, as shells have it; the client knows it.
const CANNOT_START: u8 = 127;

/// Runs the program until it exits or refdesk ends; returns its exit status.
pub(crate) fn run(args: &SuperviseArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(supervise(args))
}

async fn supervise(args: &SuperviseArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals {
        child: signal(SignalKind::child())?,
        hangup: signal(SignalKind::hangup())?,
        terminate: signal(SignalKind::terminate())?,
    };
    set_child_subreaper(Some(getpid()))?;
    set_parent_process_death_signal(Some(Signal::HUP))?;
    let parent = Pid::from_raw(args.parent);
    // refdesk may have died before the kernel knew that we want to be told.
    if getppid() != parent {
        return Ok(ExitCode::FAILURE);
    }
    let (program, arguments) = args.command.split_first().context("no program to start")?;
    let child = Command::new(program).args(arguments).spawn();
    let child = match child.with_context(|| format!("cannot start {}", program.display())) {
        Ok(child) => child,
        Err(error) => {
            output::report_error(&error);
            return Ok(ExitCode::from(CANNOT_START));
        }
    };
    release_stdio()?;
    let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let status = signals.wait_for_exit(child, parent).await;
    kill_descendants(&mut signals.child).await;
    Ok(status.map_or(ExitCode::FAILURE, exit_code))
}

/// Lets go of the pipes, so that refdesk sees when the program closes them.
fn release_stdio() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(rustix::stdio::dup2_stderr(&null)?)
}

struct Signals {
    child: SignalStream,
    hangup: SignalStream,
    terminate: SignalStream,
}

impl Signals {
    /// Waits until `child` exits; `None` if it did not exit in time after a request to stop.
    async fn wait_for_exit(
        &mut self,
        child: Option<Pid>,
        parent: Option<Pid>,
    ) -> Option<WaitStatus> {
        let mut deadline: Option<Instant> = None;
        loop {
            while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
                if Some(pid) == child {
                    return Some(status);
                }
            }
            let late = time::sleep_until(deadline.unwrap_or_else(Instant::now));
            tokio::select! {
                _ = self.child.recv() => {}
                // The kernel also sends it when only the thread ends that started us.
                _ = self.hangup.recv() => if getppid() != parent {
                    // It reaches this process too, which begins the countdown.
                    let _ = kill_current_process_group(Signal::TERM);
                },
                _ = self.terminate.recv() => {
                    deadline.get_or_insert_with(|| Instant::now() + EXIT_GRACE);
                }
                () = late, if deadline.is_some() => return None,
            }
        }
    }
}

/// Kills the children of this process until there are none: the children of each become ours.
async fn kill_descendants(child_exits: &mut SignalStream) {
    for _ in 0..KILL_ROUNDS {
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        let _ = time::timeout(KILL_INTERVAL, child_exits.recv()).await;
    }
}

/// The children of this process.
fn children() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    ids.filter(|id| parent_of(*id) == Some(getpid()))
}

/// The parent of a process. Its name, in parentheses, may contain anything.
fn parent_of(id: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}

/// The exit status as a shell reports it: a signal counts from 128.
fn exit_code(status: WaitStatus) -> ExitCode {
    let code = status.exit_status().or_else(|| Some(128 + status.terminating_signal()?));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
