//! Arguments of `refdesk doctor`.

use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk doctor                                   refdesk on this folder\n  \
    refdesk doctor https://mcp.example.com/mcp       a server at a URL\n  \
    refdesk doctor -- npx -y @modelcontextprotocol/server-everything\n  \
    refdesk doctor \"python3 server.py\"               the same as one text\n  \
    refdesk doctor notes                             the server `notes` of a host's config\n  \
    refdesk doctor --explain list-pages-end          what a rule is about\n  \
    refdesk doctor --junit doctor.xml --strict URL   for CI\n\n\
    It lists and reads; it calls no tool of the server, and writes nothing.\n\
    Exit status: 0 no errors, 1 errors (with --strict also warnings), 2 no connection or wrong arguments.")]
pub(crate) struct DoctorArgs {
    /// URL, program with arguments, or name of a server in the config of a host
    /// [default: refdesk on this folder]
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Program and its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "target")]
    pub(crate) command: Vec<String>,
    /// Check only this revision, such as 2025-11-25; repeatable
    #[arg(long, value_name = "DATE")]
    pub(crate) revision: Vec<String>,
    /// How long one request may take
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    pub(crate) timeout: Duration,
    /// How many listed resources are read in each revision
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub(crate) reads: usize,
    /// Call this tool, without arguments, and check that the change it makes is announced
    #[arg(long, value_name = "TOOL")]
    pub(crate) change: Option<String>,
    /// HTTP header, as `Name: value`; repeatable
    #[arg(long, value_name = "HEADER")]
    pub(crate) header: Vec<String>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the report to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Warnings fail too
    #[arg(long)]
    pub(crate) strict: bool,
    /// Explain a rule
    #[arg(long, value_name = "ID", conflicts_with_all = ["target", "command", "rules"])]
    pub(crate) explain: Option<String>,
    /// List all rules
    #[arg(long, conflicts_with_all = ["target", "command"])]
    pub(crate) rules: bool,
}
