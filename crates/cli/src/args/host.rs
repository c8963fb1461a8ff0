//! Arguments of the commands that read and write the config files of hosts.

use std::path::PathBuf;

use crate::hosts::Host;

use super::SourceArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk host-config claude                 print the JSON for .mcp.json\n  \
    refdesk host-config vscode --write .       add this folder to .vscode/mcp.json\n  \
    refdesk host-config codex --http --write   add the running server to ~/.codex/config.toml\n  \
    refdesk host-config cursor --remove        take refdesk out of .cursor/mcp.json again\n\n\
    Standard output is one document to paste as it is; where to paste it is on standard error.")]
pub(crate) struct HostConfigArgs {
    /// The host to configure
    #[arg(value_enum, default_value_t = Host::Generic)]
    pub(crate) host: Host,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// The host starts refdesk itself; this is the default
    #[arg(long, conflicts_with_all = ["http", "url"])]
    pub(crate) stdio: bool,
    /// The host connects to a running server
    #[arg(long)]
    pub(crate) http: bool,
    /// URL of the running server [default: the one that runs, or the one in refdesk.toml]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Name of the server in the host
    #[arg(long, value_name = "NAME", default_value = "refdesk")]
    pub(crate) name: String,
    /// Add refdesk to the host's file, and keep a copy of the old one beside it
    #[arg(long)]
    pub(crate) write: bool,
    /// Take refdesk out of the host's file
    #[arg(long, conflicts_with = "write")]
    pub(crate) remove: bool,
    /// The host's file, where it is not the usual one
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print one line of JSON: the file, the document, and what changed
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk import                     find the servers of all hosts, ask, write refdesk.toml\n  \
    refdesk import --dry-run           only list them\n  \
    refdesk import --host claude --yes those of Claude Code, without a question\n\n\
    The hosts' own files stay as they are. Then: refdesk check, refdesk host-config HOST --write")]
pub(crate) struct ImportArgs {
    /// Look only at this host; repeatable
    #[arg(long, value_enum, value_name = "HOST")]
    pub(crate) host: Vec<Host>,
    /// The settings file to write
    #[arg(long, value_name = "FILE", default_value = "refdesk.toml")]
    pub(crate) settings: PathBuf,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// List the servers, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
