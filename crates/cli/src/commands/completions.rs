//! `refdesk completions`: scripts that let a shell ask refdesk, which asks the server, at each Tab.

use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

use crate::args::CompletionsArgs;
use crate::output;

/// Prints the completion script of one shell.
pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let shell: &dyn EnvCompleter = match args.shell {
        clap_complete::Shell::Bash => &Bash,
        clap_complete::Shell::Zsh => &Zsh,
        clap_complete::Shell::Fish => &Fish,
        clap_complete::Shell::Elvish => &Elvish,
        clap_complete::Shell::PowerShell => &Powershell,
        other => anyhow::bail!("there is no completion for {other}"),
    };
    let mut script = Vec::new();
    shell.write_registration("COMPLETE", "refdesk", "refdesk", "refdesk", &mut script)?;
    output::print(&String::from_utf8(script)?)
}
