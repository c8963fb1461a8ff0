//! What may be typed behind `refdesk`?

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

/// The reference desk for AI models: every source of context as MCP resources.
#[derive(Debug, Parser)]
#[command(name = "refdesk", version, about, propagate_version = true)]
#[command(after_help = "A minute to the first resource:\n  \
    refdesk serve .                 serve this folder at http://127.0.0.1:7878/mcp\n  \
    refdesk host-config claude      print what to paste into a host\n  \
    refdesk check                   see what refdesk.toml would serve")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve folders, or what a settings file names, to MCP clients
    Serve(Serve),
    /// Read the settings and say what would be served, or what is wrong
    Check(Check),
    /// Print the JSON to paste into a host
    HostConfig(HostConfig),
    /// Print completions for a shell
    Completions(Completions),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk serve                          this folder, or refdesk.toml if there is one\n  \
    refdesk serve ~/notes ~/src/app        two folders, as file:///notes and file:///app\n  \
    refdesk serve --stdio .                over standard input and output, as hosts start it\n  \
    refdesk serve --settings team.toml --listen 127.0.0.1:9000\n  \
    refdesk serve --mcp-config .mcp.json   the servers that a host has, as one\n  \
    refdesk serve --mount notes=\"npx -y @modelcontextprotocol/server-everything\"\n  \
    refdesk serve --mount team=https://mcp.example.com/mcp .\n\n\
    Set REFDESK_LOG=info (or debug) to see more on standard error.")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Speak over standard input and output instead of HTTP
    #[arg(long, conflicts_with = "listen")]
    pub(crate) stdio: bool,
    /// Where to listen; port 0 takes any that is free [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Say what is served as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where to find what is to be served.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Source {
    /// Folders to serve [default: what refdesk.toml names, else this folder]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// A settings file
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    pub(crate) settings: Option<PathBuf>,
    /// A file in which a host names its MCP servers, to serve them too; may be given again
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Vec<PathBuf>,
    /// An MCP server to serve too, as NAME=URL or NAME="PROGRAM ARGS"; may be given again
    #[arg(long, value_name = "NAME=SERVER")]
    pub(crate) mount: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk check                 refdesk.toml in this folder\n  \
    refdesk check team.toml       another file\n  \
    refdesk check --json          for a program to read")]
pub(crate) struct Check {
    /// The settings file
    #[arg(value_name = "FILE", default_value = "refdesk.toml")]
    pub(crate) file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk host-config claude                 both ways to connect, for Claude\n  \
    refdesk host-config vscode --stdio .       only the JSON, for a host that starts refdesk\n  \
    refdesk host-config cursor --http          only the JSON, for a server that is running")]
pub(crate) struct HostConfig {
    /// Which host it is for
    #[arg(value_enum, default_value_t = Host::Generic)]
    pub(crate) host: Host,
    #[command(flatten)]
    pub(crate) source: Source,
    /// Only the JSON for a host that starts refdesk itself
    #[arg(long, conflicts_with = "http")]
    pub(crate) stdio: bool,
    /// Only the JSON for a server that is running
    #[arg(long)]
    pub(crate) http: bool,
    /// Where that server listens
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7878/mcp")]
    pub(crate) url: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Host {
    /// Claude Desktop and Claude Code
    Claude,
    /// Visual Studio Code
    Vscode,
    /// Cursor
    Cursor,
    /// Any host that reads `mcpServers`
    Generic,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    refdesk completions bash > ~/.local/share/bash-completion/completions/refdesk")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
