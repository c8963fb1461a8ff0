//! Child process of an examination: started in a process group of its own, and ended with it.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinHandle;
use tokio::time;

use super::pipe::PipeWire;
use crate::plain_text::plain;

/// How much of the end of stderr is kept.
const STDERR_BYTES: usize = 4 << 10;
/// How long the exit of a program is waited for, after its output ended.
const EXIT_WAIT: Duration = Duration::from_millis(500);

/// The program to start.
pub(super) struct DoctorProgram<'a> {
    pub(super) command: &'a str,
    pub(super) args: &'a [String],
    pub(super) env: &'a [(String, String)],
    pub(super) cwd: Option<&'a Path>,
}

/// Starts the program with pipes.
pub(super) fn start(program: &DoctorProgram<'_>, limit: usize) -> Result<PipeWire, String> {
    let mut command = Command::new(program.command);
    command.args(program.args).envs(program.env.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = program.cwd {
        command.current_dir(folder);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    let failed = |error| format!("cannot start {}: {error}", program.command);
    let mut child = command.spawn().map_err(failed)?;
    let (Some(input), Some(output), Some(errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("the program has no pipes".to_owned());
    };
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let stderr = Arc::default();
    let draining = tokio::spawn(drain(errors, Arc::clone(&stderr)));
    let mut wire = PipeWire::new(Box::new(output), Box::new(input), limit);
    wire.child = Some(ChildGuard { child, group, stderr, draining: Some(draining) });
    Ok(wire)
}

/// Ends the process and its children when it is dropped.
pub(super) struct ChildGuard {
    child: Child,
    group: Option<Pid>,
    stderr: Arc<Mutex<Vec<u8>>>,
    draining: Option<JoinHandle<()>>,
}

impl ChildGuard {
    /// Why the output ended: the exit status and the last words of the program.
    pub(super) async fn exit_reason(&mut self, why: &str) -> String {
        let status = time::timeout(EXIT_WAIT, self.child.wait()).await;
        let exit = match status {
            Ok(Ok(status)) => format!("the program exited ({status})"),
            _ => why.to_owned(),
        };
        // The last words may still be in the pipe.
        if let Some(draining) = self.draining.take() {
            let _ = time::timeout(EXIT_WAIT, draining).await;
        }
        let said = String::from_utf8_lossy(&self.stderr.lock()).into_owned();
        let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
        last.map_or(exit.clone(), |last| format!("{exit}; its last words: {}", plain(last)))
    }

    /// Kills what is still there, and reaps it.
    pub(super) async fn end(mut self) {
        let _ = time::timeout(EXIT_WAIT, self.child.wait()).await;
        self.kill_group();
        let _ = time::timeout(EXIT_WAIT, self.child.wait()).await;
    }

    fn kill_group(&self) {
        let _ = self.group.map(|group| kill_process_group(group, Signal::KILL));
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        self.kill_group();
    }
}

/// Reads stderr to its end, or the program would block; keeps the last bytes.
async fn drain(mut errors: ChildStderr, tail: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(read @ 1..) = errors.read(&mut buffer).await {
        let mut tail = tail.lock();
        tail.extend_from_slice(&buffer[..read]);
        let excess = tail.len().saturating_sub(STDERR_BYTES);
        tail.drain(..excess);
    }
}
