//! Terminal client of any MCP server: the commands, what they print, and shell completion.
//!
//! It speaks MCP like any stranger: what it shows of a refdesk, another client can have too.

mod args;
mod commands;
mod complete;
mod connection;
mod content;
mod copy;
mod error;
mod filter;
mod forms;
mod full_screen;
mod highlight;
mod images;
mod implied;
mod listing;
mod local_paths;
mod local_search;
mod output;
mod pick;
mod server_args;
mod table;
mod theme;
mod tool_arguments;
mod tools;
mod top;
mod tree;
mod view_args;
mod walk;

#[cfg(test)]
mod tests;

pub use args::TerminalCommand;
pub use complete::set_resolver;
pub use connection::{ResolvedServer, ServerResolver};
pub use error::CommandError;
pub use local_paths::LocalFolder;
pub use output::terminal_width;
pub use server_args::ColorChoice;

use tokio::signal::unix::{SignalKind, signal};

use connection::ServerConnection;
use output::Output;

/// Runs one command against the server that its arguments name.
pub async fn run(
    command: &TerminalCommand,
    resolver: &dyn ServerResolver,
) -> Result<(), CommandError> {
    let mut output = Output::new(command.server().color);
    // A person who presses Ctrl-C wants the program of the server to end too.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let connection = tokio::select! {
        biased;
        _ = interrupt.recv() => return Err(CommandError::Interrupted),
        opened = ServerConnection::open(command.server(), resolver) => opened?,
    };
    let ran = tokio::select! {
        biased;
        _ = interrupt.recv() => Err(CommandError::Interrupted),
        ran = commands::run(command, &connection, &mut output) => ran,
    };
    connection.close().await;
    ran.and_then(|()| output.finish())
}
