//! Arguments of the full-screen views, declared with clap. The doc comments are the help texts.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::args::ServerArgs;
use crate::complete;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk cat $(refdesk pick app/src)    the view is on the terminal, the URIs on the pipe\n  \
    vim $(refdesk pick --path)             files of this machine, by their paths\n  \
    refdesk pick --pack | llm              the texts, within the budget\n  \
    refdesk pick --save review             a basket of the server: basket://review\n\n\
    Type to search, Tab to choose, Enter to end; ? shows all keys.\n\n\
    Exit status: 0 picked, 1 failed, 2 wrong arguments, 3 no connection, 130 left without a result.")]
pub struct PickArgs {
    /// The collection to pick from: a URI, or a path such as app/src
    #[arg(value_name = "URI", add = ArgValueCompleter::new(complete::uris))]
    pub uri: Option<String>,
    /// The tokens that the choice should fit in
    #[arg(long, value_name = "TOKENS", default_value_t = 8_000)]
    pub budget: u64,
    /// Print the paths of files that are on this machine, instead of their URIs
    #[arg(long, conflicts_with_all = ["pack", "save"])]
    pub path: bool,
    /// Print the texts as Markdown, within the budget, instead of the URIs
    #[arg(long)]
    pub pack: bool,
    /// Keep the choice as a basket of the server
    #[arg(long, value_name = "NAME", conflicts_with = "pack")]
    pub save: Option<String>,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    refdesk top                                the refdesk that runs for this folder\n  \
    refdesk top -s http://127.0.0.1:7878/mcp   another one\n  \
    refdesk top --json | jq '.clients'         one snapshot for a script\n\n\
    q leaves. The view follows changes, and refreshes every 2 s.\n\n\
    Exit status: 0 left or printed, 1 not a refdesk, 3 no connection, 130 interrupted.")]
pub struct TopArgs {
    /// Print one snapshot as text, and end
    #[arg(long)]
    pub once: bool,
    #[command(flatten)]
    pub server: ServerArgs,
}
