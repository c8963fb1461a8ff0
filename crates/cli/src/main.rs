//! The `refdesk` command-line program: arguments, settings, wiring, output.

mod args;
mod assemble;
mod commands;
mod cursor_key;
mod default_rules;
mod descriptors;
mod log_limit;
mod machine_memory;
mod mount_status;
mod output;
mod reload;
mod settings;
mod state_file;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, CliCommand};

fn main() -> ExitCode {
    let args = Args::parse();
    output::start_log();
    let done = match args.command {
        CliCommand::Supervise(args) => {
            return commands::supervise::run(&args)
                .unwrap_or_else(|error| output::report_error(&error));
        }
        CliCommand::Serve(serve) => commands::serve::run(&serve),
        CliCommand::Check(check) => commands::check::run(&check),
        CliCommand::HostConfig(host) => commands::host_config::run(&host),
        CliCommand::Completions(completions) => commands::completions::run(&completions),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::report_error(&error),
    }
}
