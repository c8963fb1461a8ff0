//! Tests of the commands: each runs as a person writes it, against a server within this process.

mod completions;
mod content;
mod copies;
mod lists;
mod servers;

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clap::Parser;
use client::{PipeOpener, ServerTarget};
use parking_lot::Mutex;

use crate::args::TerminalCommand;
use crate::connection::{ResolvedServer, ServerConnection, ServerResolver};
use crate::error::CommandError;
use crate::output::Output;

thread_local! {
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps what a person is told, for the test that runs on this thread.
pub(crate) fn keep_told(words: &str) {
    TOLD.with_borrow_mut(|told| told.push(words.to_owned()));
}

/// Whether a person was told something that begins so.
fn has_told(words: &str) -> bool {
    TOLD.with_borrow(|told| told.iter().any(|line| line.starts_with(words)))
}

/// The longest that a test waits.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: TerminalCommand,
}

/// Connects every command to one server.
struct OneServer(Arc<dyn PipeOpener>);

#[async_trait]
impl ServerResolver for OneServer {
    async fn resolve(&self, _: Option<&str>, _: bool) -> Result<ResolvedServer, CommandError> {
        let target = ServerTarget::Pipes(Arc::clone(&self.0));
        Ok(ResolvedServer { target, folders: Vec::new(), supervisor: None, locked: None })
    }
}

/// A buffer that the output of a command is written to.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl io::Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a command printed, what it told, and how it ended.
struct CommandRun {
    printed: String,
    told: Vec<String>,
    ended: Result<(), CommandError>,
}

impl CommandRun {
    fn lines(&self) -> Vec<&str> {
        self.printed.lines().collect()
    }

    fn status(&self) -> u8 {
        self.ended.as_ref().err().map_or(0, CommandError::exit_status)
    }
}

/// Runs a command against a server, with its output in a pipe.
async fn run(server: &Arc<impl PipeOpener + 'static>, words: &[&str]) -> CommandRun {
    run_in(server, words, None).await
}

/// The same, on a terminal of this many columns.
async fn run_in(
    server: &Arc<impl PipeOpener + 'static>,
    words: &[&str],
    width: Option<usize>,
) -> CommandRun {
    let words = ["refdesk"].iter().chain(words);
    let line = CommandLine::try_parse_from(words).unwrap_or_else(|error| panic!("{error}"));
    let resolver = OneServer(Arc::clone(server) as _);
    TOLD.take();
    let printed = Printed::default();
    let mut output = Output::to(Box::new(printed.clone()), width);
    let ran = async {
        let connection = ServerConnection::open(line.command.server(), &resolver).await?;
        let ran = crate::commands::run(&line.command, &connection, &mut output).await;
        connection.close().await;
        ran
    };
    let ended = tokio::time::timeout(PATIENCE, ran).await.expect("the command ends");
    output.finish().unwrap();
    drop(output);
    let printed = String::from_utf8_lossy(&printed.0.lock()).into_owned();
    CommandRun { printed, told: TOLD.take(), ended }
}
