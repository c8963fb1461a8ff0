//! Arguments of the commands, declared with clap. The doc comments are the help texts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use crate::complete;
pub(crate) use crate::server_args::{ColorChoice, ServerArgs};
pub(crate) use crate::view_args::{PickArgs, TopArgs};

/// A command that talks to a server.
#[derive(Debug, Subcommand)]
pub enum TerminalCommand {
    /// List a collection, or the mounts of a server
    Ls(LsArgs),
    /// Print the content of resources
    Cat(CatArgs),
    /// Describe resources: type, size, age, priority, formats
    Stat(StatArgs),
    /// Find resources by name
    Find(FindArgs),
    /// Find passages by words or by meaning
    Search(SearchArgs),
    /// Find lines by a regular expression
    Grep(GrepArgs),
    /// Fill in a URI template and print what it leads to; without arguments, list the templates
    Get(GetArgs),
    /// Call a tool; without arguments, list the tools
    Call(CallArgs),
    /// Print a line for each change of a resource
    Watch(WatchArgs),
    /// Gather what answers a question, within a budget of tokens
    Pack(PackArgs),
    /// Copy resources to disk
    Cp(CpArgs),
    /// Pick resources in a full-screen view
    Pick(PickArgs),
    /// Watch a running refdesk: mounts, clients, requests, subscriptions
    Top(TopArgs),
}

impl TerminalCommand {
    /// The arguments that name the server.
    pub fn server(&self) -> &ServerArgs {
        match self {
            Self::Ls(args) => &args.server,
            Self::Cat(args) => &args.server,
            Self::Stat(args) => &args.server,
            Self::Find(args) => &args.server,
            Self::Search(args) => &args.server,
            Self::Grep(args) => &args.server,
            Self::Get(args) => &args.server,
            Self::Call(args) => &args.server,
            Self::Watch(args) => &args.server,
            Self::Pack(args) => &args.server,
            Self::Cp(args) => &args.server,
            Self::Pick(args) => &args.server,
            Self::Top(args) => &args.server,
        }
    }

    /// Whether it asks the server to search: a refdesk that is started for it needs its index.
    pub fn needs_index(&self) -> bool {
        matches!(self, Self::Search(_) | Self::Pack(_) | Self::Pick(_))
    }
}

/// Conditions that a listed resource meets.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Filters")]
pub struct FilterArgs {
    /// Only names that contain this text or match this glob
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Only this MIME type: text/markdown, or image/ for all images
    #[arg(long, value_name = "MIME")]
    pub mime: Option<String>,
    /// Only for this audience: user or assistant
    #[arg(long, value_name = "WHO")]
    pub audience: Option<String>,
    /// Only with at least this priority, from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    pub min_priority: Option<f64>,
    /// Only if changed since this date, or within this time: 2026-01-31, 12h, 7d
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowOrder {
    /// By name
    Name,
    /// The largest first
    Size,
    /// The latest first
    Age,
    /// The highest priority first
    Priority,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk ls                         the mounts, or the resources of another server\n  \
    refdesk ls -l file:///app/src      type, size, age, priority, audience\n  \
    refdesk ls --tree app/src          a path works too\n  \
    refdesk ls --all --name '*.md' --since 7d\n  \
    refdesk ls -s \"npx -y @modelcontextprotocol/server-everything\"\n\n\
    Exit status: 0 listed, 1 nothing matches, 2 wrong arguments, 3 no connection, 4 no such resource.")]
pub struct LsArgs {
    /// The collection: a URI, or a path such as app/src
    #[arg(value_name = "URI", add = ArgValueCompleter::new(complete::uris))]
    pub uri: Option<String>,
    /// Show type, size, age, priority and audience
    #[arg(short, long)]
    pub long: bool,
    /// Show what is in collections too, as a tree
    #[arg(long)]
    pub tree: bool,
    /// Show everything below, one URI a line
    #[arg(short, long, conflicts_with = "tree")]
    pub all: bool,
    /// How to sort, a tree within its collections [default: as the server lists]
    #[arg(long, value_name = "ORDER")]
    pub sort: Option<RowOrder>,
    /// The most resources to show
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    pub limit: usize,
    #[command(flatten)]
    pub filter: FilterArgs,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Which piece of a content, and in which form.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Window")]
pub struct WindowArgs {
    /// Only these bytes, counted from 0: 0-99, 100- or -99, which is 0-99
    #[arg(long, value_name = "RANGE", allow_negative_numbers = true, conflicts_with_all = ["lines", "tokens"])]
    pub bytes: Option<String>,
    /// Only these lines, counted from 1: 10-20, 10-, -20 or 10
    #[arg(long, value_name = "RANGE", allow_negative_numbers = true, conflicts_with = "tokens")]
    pub lines: Option<String>,
    /// Only the first tokens, estimated
    #[arg(long, value_name = "NUMBER")]
    pub tokens: Option<u64>,
    /// Only these pages of a document: 3 or 3-5
    #[arg(long, value_name = "RANGE")]
    pub page: Option<String>,
    /// The format to print: text/markdown, text/html
    #[arg(long, value_name = "MIME")]
    pub accept: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk cat file:///app/README.md\n  \
    refdesk cat app/report.pdf --accept text/markdown --page 3-5\n  \
    refdesk cat app/src/main.rs --lines 40-60\n  \
    refdesk cat app/logo.png > logo.png       blobs are written as they are\n\n\
    Exit status: 0 printed, 1 failed, 2 wrong arguments, 3 no connection, 4 no such resource.")]
pub struct CatArgs {
    /// URIs, or paths such as app/src/main.rs
    #[arg(value_name = "URI", required = true, add = ArgValueCompleter::new(complete::uris))]
    pub uris: Vec<String>,
    #[command(flatten)]
    pub window: WindowArgs,
    /// Do not start a pager on a terminal
    #[arg(long)]
    pub no_pager: bool,
    /// Print blobs and control characters to a terminal as they are
    #[arg(long)]
    pub raw: bool,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A server without resources/metadata has no answer of its own; the description\n\
    is then the entry of its list, or is made of a read, and the output says so.\n\n\
    Exit status: 0 described, 1 failed, 2 wrong arguments, 3 no connection, 4 no such resource."
)]
pub struct StatArgs {
    /// URIs, or paths such as app/src/main.rs
    #[arg(value_name = "URI", required = true, add = ArgValueCompleter::new(complete::uris))]
    pub uris: Vec<String>,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk find main                 names that contain main\n  \
    refdesk find '*.md' app/docs      in one collection\n\n\
    Exit status: 0 found, 1 nothing found, 2 wrong arguments, 3 no connection.")]
pub struct FindArgs {
    /// Text of a name, or a glob
    #[arg(value_name = "NAME")]
    pub pattern: String,
    /// Only in this collection
    #[arg(value_name = "URI", add = ArgValueCompleter::new(complete::uris))]
    pub uri: Option<String>,
    /// The most resources to show
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    pub limit: usize,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk search \"where is a cursor signed\"\n  \
    refdesk search 'path:docs \"shared memory\" -draft'\n\n\
    A server without a search of its own is read and searched from here, which takes longer.\n\n\
    Exit status: 0 found, 1 nothing found, 2 wrong arguments, 3 no connection.")]
pub struct SearchArgs {
    /// Words, \"phrases\", -not, OR, fields such as path: and lang:
    #[arg(value_name = "QUERY", required = true)]
    pub query: Vec<String>,
    /// How to search: words, meaning or both
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,
    /// The most passages to show
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 10)]
    pub limit: usize,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk grep 'fn \\w+_page'              file:line: text, as editors understand it\n  \
    refdesk grep -i todo app/src -C 2\n\n\
    Exit status: 0 found, 1 nothing found, 2 wrong arguments, 3 no connection.")]
pub struct GrepArgs {
    /// The regular expression
    #[arg(value_name = "PATTERN")]
    pub pattern: String,
    /// Only in this collection
    #[arg(value_name = "URI", add = ArgValueCompleter::new(complete::uris))]
    pub uri: Option<String>,
    /// Ignore case
    #[arg(short, long)]
    pub ignore_case: bool,
    /// Lines to show around a match
    #[arg(short = 'C', long, value_name = "NUMBER", default_value_t = 0)]
    pub context: usize,
    /// Print only the names of the resources
    #[arg(short = 'l', long)]
    pub files: bool,
    /// The most matches to show
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 1_000)]
    pub limit: usize,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk get                                    the templates and their variables\n  \
    refdesk get git://app-git/log/{+path} path=src/main.rs\n  \
    refdesk get log path=src/main.rs               a template by its name\n\n\
    Exit status: 0 printed, 1 failed, 2 wrong arguments, 3 no connection, 4 no such template or resource.")]
pub struct GetArgs {
    /// The template, or its name
    #[arg(value_name = "TEMPLATE", add = ArgValueCompleter::new(complete::templates))]
    pub template: Option<String>,
    /// Values of its variables, as NAME=VALUE
    #[arg(value_name = "NAME=VALUE", add = ArgValueCompleter::new(complete::variables))]
    pub values: Vec<String>,
    /// Print the URI instead of the content
    #[arg(long)]
    pub uri_only: bool,
    #[command(flatten)]
    pub window: WindowArgs,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk call                                   the tools\n  \
    refdesk call resources_read uri=app/README.md max_lines=20\n  \
    refdesk call echo -s everything message=hello\n  \
    refdesk call tool tags='[\"a\",\"b\"]'            JSON where the schema wants more than a text\n\n\
    A tool may ask back: on a terminal refdesk shows the questions as a form, elsewhere it cancels.\n\n\
    Exit status: 0 called, 1 the tool failed, 2 wrong arguments, 3 no connection, 4 no such tool.")]
pub struct CallArgs {
    /// The tool
    #[arg(value_name = "TOOL", add = ArgValueCompleter::new(complete::tools))]
    pub tool: Option<String>,
    /// Arguments, as NAME=VALUE
    #[arg(value_name = "NAME=VALUE", add = ArgValueCompleter::new(complete::arguments))]
    pub arguments: Vec<String>,
    /// All arguments as one JSON object; - reads it from standard input
    #[arg(long, value_name = "JSON", conflicts_with = "arguments")]
    pub input: Option<String>,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk watch app/README.md\n  \
    refdesk watch app/src --exec 'make test'       the URI is in REFDESK_URI\n  \
    refdesk watch --count 1 app/README.md          end after the first change\n\n\
    Without URIs: changes of the list. refdesk reconnects when the connection ends.\n\n\
    Exit status: 0 ended, 1 the server cannot watch it, 3 no connection, 130 interrupted.")]
pub struct WatchArgs {
    /// URIs, or paths such as app/src
    #[arg(value_name = "URI", add = ArgValueCompleter::new(complete::uris))]
    pub uris: Vec<String>,
    /// Run this shell command after each change
    #[arg(long, value_name = "COMMAND")]
    pub exec: Option<String>,
    /// End after this many changes
    #[arg(long, value_name = "NUMBER")]
    pub count: Option<u64>,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk pack \"how are cursors signed\" | llm\n  \
    refdesk pack --budget 2000 --json \"...\"\n\n\
    Exit status: 0 packed, 1 nothing found, 2 wrong arguments, 3 no connection.")]
pub struct PackArgs {
    /// The question
    #[arg(value_name = "QUESTION", required = true)]
    pub question: Vec<String>,
    /// The most tokens
    #[arg(long, value_name = "TOKENS", default_value_t = 4_000)]
    pub budget: u64,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk cp -r app/docs ./docs        a collection; run it again to resume\n  \
    refdesk cp app/logo.png .\n\n\
    Exit status: 0 copied, 1 some failed, 2 wrong arguments, 3 no connection, 4 no such resource.")]
pub struct CpArgs {
    /// The resource
    #[arg(value_name = "URI", add = ArgValueCompleter::new(complete::uris))]
    pub uri: String,
    /// The folder to copy to
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Copy what is in collections
    #[arg(short, long)]
    pub recursive: bool,
    /// Copy even what is there already
    #[arg(long)]
    pub force: bool,
    /// The most resources to copy
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    pub limit: usize,
    #[command(flatten)]
    pub server: ServerArgs,
}
