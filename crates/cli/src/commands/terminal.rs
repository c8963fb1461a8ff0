//! The commands that read a server: runs them, and reports how they ended.

use std::process::ExitCode;

use terminal::TerminalCommand;
use tokio::runtime::Builder;

use crate::output;
use crate::server_choice::ServerChoice;

/// Runs the command. Each kind of failure has an exit status of its own.
pub(crate) fn run(command: &TerminalCommand) -> ExitCode {
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return output::report_error(&error.into()),
    };
    let choice = ServerChoice { needs_index: command.needs_index() };
    let ran = runtime.block_on(terminal::run(command, &choice));
    // A blocking read of the terminal must not delay the exit.
    runtime.shutdown_background();
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is_silent() {
                output::tell(&format!("error: {}\n", output::one_line(&error.to_string())));
            }
            ExitCode::from(error.exit_status())
        }
    }
}
