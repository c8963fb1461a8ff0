//! Command-line arguments, declared with clap. The doc comments are the help texts.

mod doctor;
mod host;
mod models;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use serde::Deserialize;
use terminal::TerminalCommand;

use crate::listen::ListenAddress;
pub(crate) use doctor::DoctorArgs;
pub(crate) use host::{HostConfigArgs, ImportArgs};
pub(crate) use models::{AddModelArgs, ListModelsArgs, ModelsCommand, RemoveModelArgs};

/// The reference desk for AI models: every source of context as MCP resources.
#[derive(Debug, Parser)]
#[command(name = "refdesk", version, about, propagate_version = true)]
#[command(after_help = "Quick start:\n  \
    refdesk serve .                 serve this folder at http://127.0.0.1:7878/mcp\n  \
    refdesk ls                      list what it serves; cat, search, grep and others read it\n  \
    refdesk ls -s URL               the same for any other MCP server\n  \
    refdesk host-config claude      print the config for a host (--write: add it there)\n  \
    refdesk check                   check refdesk.toml and show what it serves")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Serve folders, or the mounts of a settings file, to MCP clients
    Serve(ServeArgs),
    #[command(flatten)]
    Terminal(TerminalCommand),
    /// Check a settings file and show what it serves
    Check(CheckArgs),
    /// Print the config for a host, or write it into the host's file
    HostConfig(HostConfigArgs),
    /// Put the MCP servers that the hosts of this machine have into refdesk.toml
    Import(ImportArgs),
    /// Make access tokens for the clients of a server
    #[command(subcommand)]
    Token(TokenCommand),
    /// Show, remove or fill the search index of a settings file or folder
    #[command(subcommand)]
    Index(IndexCommand),
    /// Install, list and remove embedding models, for search by meaning
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Convert a document to a form that a model or a person can read
    Convert(ConvertArgs),
    /// Check an MCP server against the specification, and say what is wrong
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(ManArgs),
    /// Run a program for refdesk, and end it with refdesk
    #[command(hide = true)]
    Supervise(SuperviseArgs),
    /// Convert the document on standard input, confined, for refdesk
    #[command(hide = true)]
    ConvertWorker(ConvertWorkerArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Show where the index is, how large it is, and what it holds
    Status(IndexArgs),
    /// Remove the index and fill it anew
    Rebuild(IndexArgs),
    /// Remove the index
    Clear(IndexArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct IndexArgs {
    /// Settings file or folder
    #[arg(value_name = "FILE", default_value = "refdesk.toml")]
    pub(crate) file: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk serve                          this folder, or refdesk.toml if there is one\n  \
    refdesk serve ~/notes ~/src/app        two folders, as file:///notes and file:///app\n  \
    refdesk serve code=~/src/app           one folder under another name\n  \
    refdesk serve --stdio .                over stdio, the way a host starts it\n  \
    refdesk serve --settings team.toml --listen 127.0.0.1:9000\n  \
    refdesk serve --listen unix:/run/user/1000/refdesk.sock\n  \
    refdesk serve --listen 0.0.0.0:7878 --tls-cert cert.pem --tls-key key.pem\n  \
    refdesk serve --mcp-config .mcp.json   all servers of a host, combined\n  \
    refdesk serve --mount notes=\"npx -y @modelcontextprotocol/server-everything\"\n  \
    refdesk serve --mount team=https://mcp.example.com/mcp .\n  \
    refdesk serve --daemon                 in the background, for the commands in this folder\n\n\
    REFDESK_LOG=info (or debug) does the same as --log-level.")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Use standard input and output instead of HTTP
    #[arg(long, conflicts_with = "listen")]
    pub(crate) stdio: bool,
    /// Port of this machine (7878), address and port (port 0 is any free one), or unix:PATH for a
    /// socket of the owner only. Beyond this machine every client needs a token [default: 7878]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<ListenAddress>,
    /// Certificate chain for TLS, in PEM; reloaded when the file changes
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with = "stdio")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Do not serve the page for people, which a browser shows at the address
    #[arg(long)]
    pub(crate) no_page: bool,
    /// Log each request to this file as a line of JSON: who, what, outcome; no content
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// How much to log; info has a line for each request over HTTP [default: warn]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<LogThreshold>,
    /// Append the log to this file instead of standard error; a new file every 10 MiB, 5 are kept
    #[arg(long, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
    /// Print what is served as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve in the background at a socket, where the commands in this folder find the server
    #[arg(long, conflicts_with_all = ["stdio", "stop"])]
    pub(crate) daemon: bool,
    /// Stop the server that runs in the background for this folder
    #[arg(long, conflicts_with_all = ["stdio", "paths"])]
    pub(crate) stop: bool,
    /// Keep no search index, for a server that answers one command
    #[arg(long, hide = true)]
    pub(crate) without_index: bool,
}

/// The least important lines that the log shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogThreshold {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// Arguments that select what to serve.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SourceArgs {
    /// Folders to serve, as PATH or NAME=PATH [default: the mounts of refdesk.toml, or this folder
    /// without one]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Settings file to use
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    pub(crate) settings: Option<PathBuf>,
    /// Also serve the MCP servers of this host config file; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Vec<PathBuf>,
    /// Also serve this server: NAME=URL or NAME="PROGRAM ARGS"; repeatable
    #[arg(long, value_name = "NAME=SERVER")]
    pub(crate) mount: Vec<String>,
    /// How long a list waits for servers that are still starting [default: 1s]
    #[arg(long, value_name = "TIME", env = "REFDESK_START_WAIT", hide_env_values = true, value_parser = humantime::parse_duration)]
    pub(crate) start_wait: Option<Duration>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk check                 refdesk.toml in this folder\n  \
    refdesk check team.toml       another file\n  \
    refdesk check --json          machine-readable output\n  \
    refdesk check --secrets       what refdesk masks, by file and line\n  \
    refdesk check --secrets .     the same for a folder")]
pub(crate) struct CheckArgs {
    /// The settings file, or a folder to serve
    #[arg(value_name = "FILE", default_value = "refdesk.toml")]
    pub(crate) file: PathBuf,
    /// List the secrets that refdesk masks, by file and line, without showing them
    #[arg(long)]
    pub(crate) secrets: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    refdesk completions bash > ~/.local/share/bash-completion/completions/refdesk")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk man ~/.local/share/man/man1\n  \
    refdesk man - | man -l -")]
pub(crate) struct ManArgs {
    /// The folder for the pages, one for each command; - prints the page of refdesk
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk convert report.pdf                    as Markdown, with page marks\n  \
    refdesk convert report.pdf --pages 3-5        three pages of it\n  \
    refdesk convert plan.xlsx --to text/csv --sheet Costs\n  \
    curl -s URL | refdesk convert - --from text/html\n  \
    refdesk convert --list                        what can be converted to what\n\n\
    Exit status: 0 converted, 1 cannot be converted, 2 wrong arguments.")]
pub(crate) struct ConvertArgs {
    /// The document; - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// MIME type to convert it to
    #[arg(long, value_name = "MIME", default_value = "text/markdown")]
    pub(crate) to: String,
    /// MIME type of the document [default: by its name and content]
    #[arg(long, value_name = "MIME")]
    pub(crate) from: Option<String>,
    /// Only these pages, e.g. 3 or 3-5
    #[arg(long, value_name = "RANGE", conflicts_with_all = ["slides", "sheet"])]
    pub(crate) pages: Option<String>,
    /// Only these slides, e.g. 3 or 3-5
    #[arg(long, value_name = "RANGE", conflicts_with = "sheet")]
    pub(crate) slides: Option<String>,
    /// Only the sheet with this name or number
    #[arg(long, value_name = "SHEET")]
    pub(crate) sheet: Option<String>,
    /// List what can be converted to what
    #[arg(long, conflicts_with = "file")]
    pub(crate) list: bool,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConvertWorkerArgs {
    /// The kind of the document, a MIME type or `source`
    pub(crate) kind: String,
    /// The MIME type of the form
    pub(crate) form: String,
    /// The name of the document, or its ending
    pub(crate) name: String,
    /// The most memory, in bytes
    #[arg(long)]
    pub(crate) memory: u64,
    /// The most time, in seconds
    #[arg(long)]
    pub(crate) seconds: u64,
    /// The most rows of a table
    #[arg(long)]
    pub(crate) rows: usize,
    /// The most columns of a table
    #[arg(long)]
    pub(crate) columns: usize,
    /// The longest side of a thumbnail
    #[arg(long)]
    pub(crate) pixels: u32,
    /// Tell where an image was taken
    #[arg(long)]
    pub(crate) position: bool,
    /// The program that reads PDF documents
    #[arg(long)]
    pub(crate) pdftotext: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SuperviseArgs {
    /// The process id of refdesk
    pub(crate) parent: i32,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token: print it once, with the settings that accept it
    New(NewTokenArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk token new alice                        a token for alice\n  \
    refdesk token new ci --expires 30d             it ends after 30 days\n  \
    refdesk token new bot --scope docs             with the scope docs\n\n\
    The settings keep only the hash of a token. To revoke it, delete its table; a running server\n\
    follows the edit. A client sends the token as: Authorization: Bearer rdk_...")]
pub(crate) struct NewTokenArgs {
    /// Who uses the token; the name stands in the audit log and in access rules
    pub(crate) name: String,
    /// How long the token is valid, such as 12h or 30d [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) expires: Option<Duration>,
    /// A scope that the token grants; repeatable
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
