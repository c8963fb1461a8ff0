//! Arguments that every command has: which server, and how to show what it says.

use std::time::Duration;

use clap::{Args, ValueEnum};

/// Which server, and how to show what it says.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Server and output")]
pub struct ServerArgs {
    /// URL, unix:PATH, command line, or the NAME of a server in the config of a host
    /// [default: the refdesk that runs for this folder, or one that serves it for this command]
    #[arg(short, long, value_name = "SERVER", env = "REFDESK_SERVER", hide_env_values = true)]
    pub server: Option<String>,
    /// HTTP header to send, as "NAME: VALUE"; repeatable
    #[arg(long, value_name = "HEADER")]
    pub header: Vec<String>,
    /// Protocol revision to speak, such as 2025-11-25 [default: the newest that both know]
    #[arg(long, value_name = "DATE")]
    pub revision: Option<String>,
    /// How long the server may stay silent
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = humantime::parse_duration)]
    pub timeout: Duration,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Whether to print in colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

/// Whether to print in colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    /// Whether to print in colour to a file that may be a terminal.
    pub fn applies(self, is_terminal: bool) -> bool {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => is_terminal && !set("NO_COLOR") && !is_dumb(),
        }
    }
}
