//! Built-in MCP tools (`resources_list`, `resources_read`, …) for hosts that support only tools.
//!
//! They call the same provider as the protocol methods, so the same rules apply. A failure becomes
//! a tool result with `isError` and a next step, not a JSON-RPC error.

mod filter;
mod grep;
mod list;
mod metadata;
pub(crate) mod pack;
mod read;
mod read_embedded;
mod recursive_list;
mod resolve;
mod rows;
mod search;
mod search_tools;
mod suggest;
mod templates;
mod watch_tools;

use machinery::WorkRefusal;
use protocol::inbound::tool::output::UriFailure;
use protocol::inbound::tool::{ContentBlock, ToolArguments, ToolResult};
use protocol::{BuiltinTool, Reply};
use resource::{Error, ErrorKind, Json, Result, Uri};

use crate::exchange::Exchange;
use crate::server::Server;

/// How many failed URIs of one call get a next step.
const MAX_NEXT_STEPS: usize = 3;

/// Runs `tool` with the parameters of a `tools/call` request.
pub(crate) async fn run_tool(
    server: &Server,
    exchange: &Exchange,
    tool: BuiltinTool,
    params: &Json,
) -> Result<Reply> {
    let arguments = match ToolArguments::decode(tool, params) {
        Ok(arguments) => arguments,
        Err(words) => return Ok(Reply::ToolResult(ToolResult::error(words))),
    };
    let given = match arguments {
        ToolArguments::List(mut list) => {
            filter::take_folder(&mut list.filter);
            list::list_resources(server, exchange, &list).await
        }
        ToolArguments::Templates(templates) => {
            templates::list_templates(server, exchange, templates).await
        }
        ToolArguments::Metadata(metadata) => {
            metadata::describe_resources(server, exchange, metadata).await
        }
        ToolArguments::Read(read) => read::read_resource_window(server, exchange, &read).await,
        ToolArguments::ReadEmbedded(read) => {
            read_embedded::read_embedded(server, exchange, read).await
        }
        ToolArguments::Watch(watch) => watch_tools::watch_resources(server, exchange, watch).await,
        ToolArguments::Unwatch(unwatch) => {
            watch_tools::unwatch_resources(server, exchange, &unwatch).await
        }
        ToolArguments::Changes(changes) => {
            watch_tools::list_changes(server, exchange, changes).await
        }
        ToolArguments::Grep(mut grep) => {
            filter::take_folder(&mut grep.filter);
            grep::grep_resources(server, exchange, &grep).await
        }
        ToolArguments::Search(mut search) => {
            filter::take_folder(&mut search.filter);
            search::search_resources(server, exchange, &search).await
        }
        ToolArguments::Pack(mut pack) => {
            filter::take_folder(&mut pack.filter);
            pack::pack_context(server, exchange, &pack).await
        }
        ToolArguments::SearchTools(search) => {
            search_tools::search_tools(server, exchange, &search).await
        }
        ToolArguments::CallTool(call) => {
            return search_tools::call_tool(server, exchange, &call, params).await;
        }
    };
    Ok(Reply::ToolResult(match given {
        Ok(given) => given,
        Err(error) => error_result(server, exchange, error).await,
    }))
}

/// An error as a tool result: the message, the URI and a next step.
async fn error_result(server: &Server, exchange: &Exchange, error: Error) -> ToolResult {
    let told = server.public_message(&error);
    let words = match &error.uri {
        Some(uri) => format!("{told}: {uri}"),
        None => told,
    };
    let words = match next_step(server, exchange, &error).await {
        Some(next) => format!("{words}; {next}"),
        None => words,
    };
    ToolResult { error: Some(error), ..ToolResult::error(words) }
}

async fn next_step(server: &Server, exchange: &Exchange, error: &Error) -> Option<String> {
    match error.kind {
        ErrorKind::NotFound | ErrorKind::Denied => {
            let uri = error.uri.as_ref()?;
            if let Some(words) = missing_mount(server, exchange, uri) {
                return Some(words);
            }
            let meant = [suggest::MeantUri::exact(uri)];
            let near = suggest::similar_uris(server, &exchange.ctx, &meant).await;
            Some(if near.is_empty() {
                "call resources_list to see what exists".to_owned()
            } else {
                suggest::question(&near)
            })
        }
        ErrorKind::Changed => {
            let etag = error_fact(error, "etag")?;
            Some(format!("read again from the beginning; the current etag is {etag}"))
        }
        ErrorKind::Unavailable => Some("try again later".to_owned()),
        _ => None,
    }
}

/// The names of the mounts, if the URI belongs to none.
fn missing_mount(server: &Server, exchange: &Exchange, uri: &Uri) -> Option<String> {
    let mounts = server.provider.facets().mounts?;
    let owner = mounts.mount_of(uri);
    let mounts = mounts.mounts(&exchange.ctx);
    // A mount that does not exist for the principal looks like none.
    let exists = mounts.iter().any(|mount| Some(&mount.name) == owner.as_ref());
    (!exists).then(|| format!("it is in no mount; {}", resolve::name_mounts(&mounts)))
}

/// The error of a call for whose work there is no place.
fn busy_error(refusal: WorkRefusal) -> Error {
    match refusal {
        WorkRefusal::QueueFull => Error::unavailable("too many of your searches are waiting"),
        WorkRefusal::TimedOut => Error::unavailable("the server is busy with other searches"),
        WorkRefusal::Failed => Error::internal("the search failed"),
    }
}

fn error_fact<'a>(error: &'a Error, name: &str) -> Option<&'a str> {
    error.facts.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}

/// The URIs of one call that failed.
struct UriFailures(Vec<UriFailure>);

impl UriFailures {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn add(&mut self, server: &Server, uri: &str, error: &Error) {
        let message = server.public_message(error);
        self.0.push(UriFailure { uri: uri.to_owned(), message });
    }

    /// Adds a failure with its next step; only a few have one, since each takes a while to find.
    async fn add_with_step(
        &mut self,
        (server, exchange): (&Server, &Exchange),
        uri: &str,
        error: &Error,
    ) {
        let next = match self.0.len() < MAX_NEXT_STEPS {
            true => next_step(server, exchange, error).await,
            false => None,
        };
        self.add(server, uri, error);
        if let (Some(failure), Some(next)) = (self.0.last_mut(), next) {
            failure.message = format!("{}; {next}", failure.message);
        }
    }

    fn text_blocks(&self) -> Vec<ContentBlock> {
        let text = |UriFailure { uri, message }: &UriFailure| format!("{uri}: {message}");
        self.0.iter().map(|failure| ContentBlock::line(&text(failure))).collect()
    }

    /// The result of a call whose URIs all failed.
    fn into_result(self) -> ToolResult {
        ToolResult { blocks: self.text_blocks(), is_error: true, ..ToolResult::default() }
    }
}
