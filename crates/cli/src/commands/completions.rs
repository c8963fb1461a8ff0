//! `refdesk completions`: shell completion scripts.

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};
use crate::output;

/// Prints the completion script of one shell.
pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "refdesk", &mut script);
    output::print(&String::from_utf8(script)?)
}
