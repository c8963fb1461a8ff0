//! `refdesk find`: resources by name.

use serde_json::json;

use crate::args::FindArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::filter::NamePattern;
use crate::output::Output;
use crate::walk::tell_cut;

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
        .walk(start.as_ref(), |walked| {
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
    end.tell();
    if is_cut {
        tell_cut(args.limit);
    }
    if args.server.json {
        output.json(&json!({ "resources": found }))?;
    }
    if found.is_empty() { Err(CommandError::NothingFound) } else { Ok(()) }
}
