//! The `refdesk` command-line program: arguments, settings, wiring, output.

mod access;
mod args;
mod assemble;
mod audit_log;
mod basket_files;
mod commands;
mod conversion;
mod cursor_key;
mod default_rules;
mod descriptors;
mod hosts;
mod listen;
mod log_limit;
mod machine_memory;
mod mount_status;
mod output;
mod reload;
mod request_log;
mod rotating_file;
mod running_server;
mod search_index;
mod server_choice;
mod settings;
mod state_file;
mod tls_files;
mod token;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use args::{Args, CliCommand, TokenCommand};
use server_choice::ServerChoice;

// Cheaper than the system's for many small requests, and gives memory back after a burst.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    if std::env::var_os("COMPLETE").is_some() {
        terminal::set_resolver(Box::new(ServerChoice { needs_index: false }));
        clap_complete::CompleteEnv::with_factory(Args::command).complete();
    }
    let args = Args::parse();
    if !matches!(args.command, CliCommand::Serve(_)) {
        output::start_log(None);
    }
    let done = match args.command {
        CliCommand::Supervise(args) => {
            return commands::supervise::run(&args)
                .unwrap_or_else(|error| output::report_error(&error));
        }
        CliCommand::ConvertWorker(args) => {
            return conversion::worker::run(&args)
                .unwrap_or_else(|error| output::report_error(&error));
        }
        CliCommand::Convert(convert) => {
            return commands::convert::run(&convert)
                .unwrap_or_else(|error| output::report_error(&error));
        }
        CliCommand::Terminal(command) => return commands::terminal::run(&command),
        CliCommand::Doctor(doctor) => return commands::doctor::run(&doctor),
        CliCommand::Serve(serve) => commands::serve::run(&serve),
        CliCommand::Check(check) => commands::check::run(&check),
        CliCommand::HostConfig(host) => commands::host_config::run(&host),
        CliCommand::Import(import) => commands::import::run(&import),
        CliCommand::Token(TokenCommand::New(token)) => commands::token::run(&token),
        CliCommand::Index(index) => commands::index::run(&index),
        CliCommand::Models(models) => commands::models::run(&models),
        CliCommand::Completions(completions) => commands::completions::run(&completions),
        CliCommand::Man(man) => commands::man::run(&man),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::report_error(&error),
    }
}
