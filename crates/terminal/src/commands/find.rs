//! `refdesk find`: resources by name.

use serde_json::{Value, json};

use crate::args::FindArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::filter::NamePattern;
use crate::output::Output;

/// How many resources a search by name looks at.
const MAX_WALKED: usize = 1_000_000;

pub(super) async fn run(
    args: &FindArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let start = match &args.uri {
        Some(written) => Some(connection.resolve_uri(written).await?),
        None => None,
    };
    let pattern = NamePattern::new(&args.pattern);
    let (mut found, mut is_cut) = (Vec::new(), false);
    let end = connection
        .walk(start.as_ref(), MAX_WALKED, |walked| {
            let resource = &walked.row.resource;
            let title = resource.title.as_deref();
            if pattern.matches(&resource.name) || title.is_some_and(|title| pattern.matches(title))
            {
                is_cut = found.len() == args.limit;
                if is_cut {
                    return Ok(false);
                }
                if !args.server.json {
                    let uri = resource.uri.as_str();
                    output.line(&connection.place(uri))?;
                }
                found.push(walked.row.json);
            }
            Ok(true)
        })
        .await?;
    end.tell(MAX_WALKED);
    if is_cut {
        crate::output::tell(&format!("there is more than {}; raise --limit", args.limit));
    }
    if args.server.json {
        let found: Vec<Value> = found.clone();
        output.json(&json!({ "resources": found }))?;
    }
    if found.is_empty() { Err(CommandError::NothingFound) } else { Ok(()) }
}
