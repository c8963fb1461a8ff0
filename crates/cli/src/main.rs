//! The `refdesk` command-line program: arguments, settings, wiring, output.

mod args;
mod assemble;
mod commands;
mod key;
mod mounts;
mod output;
mod reload;
mod rules;
mod settings;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let args = Args::parse();
    output::start_log();
    let done = match args.command {
        Command::Serve(serve) => commands::serve::run(&serve),
        Command::Check(check) => commands::check::run(&check),
        Command::HostConfig(host) => commands::host_config::run(&host),
        Command::Completions(completions) => commands::completions::run(&completions),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::fail(&error),
    }
}
