//! Built-in MCP tools (`resources_list`, `resources_read`, …) for hosts that support only tools.
//!
//! They call the same provider as the protocol methods, so the same rules apply. A failure becomes
//! a tool result with `isError` and a next step, not a JSON-RPC error.

mod embedded;
mod filter;
mod grep;
mod list;
mod metadata;
mod near;
mod read;
mod templates;
mod walk;
mod watching;

use protocol::tool::{Arguments, Block, Given};
use protocol::{Reply, Tool};
use resource::{Error, ErrorKind, Json, Result, Uri};
use serde_json::{Value, json};

use crate::exchange::Exchange;
use crate::server::Server;

/// Runs `tool` with the parameters of a `tools/call` request.
pub(crate) async fn call(
    server: &Server,
    exchange: &Exchange,
    tool: Tool,
    params: &Json,
) -> Result<Reply> {
    let arguments = match Arguments::of(tool, params) {
        Ok(arguments) => arguments,
        Err(words) => return Ok(Reply::Given(Given::error(words))),
    };
    let given = match arguments {
        Arguments::List(list) => list::list(server, exchange, &list).await,
        Arguments::Templates(templates) => templates::list(server, exchange, templates).await,
        Arguments::Metadata(metadata) => metadata::describe(server, exchange, metadata).await,
        Arguments::Read(read) => read::read(server, exchange, &read).await,
        Arguments::ReadEmbedded(read) => embedded::read(server, exchange, read).await,
        Arguments::Watch(watch) => watching::watch(server, exchange, watch).await,
        Arguments::Unwatch(unwatch) => watching::unwatch(server, exchange, &unwatch),
        Arguments::Changes(changes) => watching::changes(server, exchange, changes).await,
        Arguments::Grep(grep) => grep::grep(server, exchange, &grep).await,
    };
    Ok(Reply::Given(match given {
        Ok(given) => given,
        Err(error) => refused(server, exchange, &error).await,
    }))
}

/// An error as a tool result: the message, the URI and a next step.
async fn refused(server: &Server, exchange: &Exchange, error: &Error) -> Given {
    let told = server.told(error);
    let words = match &error.uri {
        Some(uri) => format!("{told}: {uri}"),
        None => told,
    };
    let words = match next(server, exchange, error).await {
        Some(next) => format!("{words}; {next}"),
        None => words,
    };
    Given { facts: Some(facts(error)), ..Given::error(words) }
}

async fn next(server: &Server, exchange: &Exchange, error: &Error) -> Option<String> {
    match error.kind {
        ErrorKind::NotFound | ErrorKind::Denied => {
            let near = near::to(server, &exchange.ctx, error.uri.as_ref()?).await;
            Some(if near.is_empty() {
                "call resources_list to see what exists".to_owned()
            } else {
                let near: Vec<&str> = near.iter().map(Uri::as_str).collect();
                format!("did you mean {}?", near.join(", "))
            })
        }
        ErrorKind::Changed => {
            let etag = fact(error, "etag")?;
            Some(format!("read again from the beginning; the current etag is {etag}"))
        }
        ErrorKind::Unavailable => Some("try again later".to_owned()),
        _ => None,
    }
}

fn fact<'a>(error: &'a Error, name: &str) -> Option<&'a str> {
    error.facts.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}

/// The machine-readable part of an error: kind, URI and facts.
fn facts(error: &Error) -> Value {
    let kind = match error.kind {
        ErrorKind::NotFound | ErrorKind::Denied => "not_found",
        ErrorKind::Invalid => "invalid",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::TooLarge => "too_large",
        ErrorKind::Changed => "changed",
        ErrorKind::NeedsInput => "needs_input",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Internal => "internal",
    };
    let mut facts = json!({ "kind": kind });
    if let Some(uri) = &error.uri {
        facts["uri"] = uri.as_str().into();
    }
    for (name, value) in &error.facts {
        facts[*name] = value.as_str().into();
    }
    facts
}

/// The URIs of one call that failed, each with its error message.
struct Failed(Vec<(Uri, String)>);

impl Failed {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn add(&mut self, server: &Server, uri: &Uri, error: &Error) {
        self.0.push((uri.clone(), server.told(error)));
    }

    fn words(&self) -> impl Iterator<Item = Block> {
        self.0.iter().map(|(uri, words)| Block::Text(format!("{uri}: {words}")))
    }

    fn into_json(self) -> Value {
        let one = |(uri, words): (Uri, String)| json!({ "uri": uri.as_str(), "message": words });
        self.0.into_iter().map(one).collect()
    }
}
