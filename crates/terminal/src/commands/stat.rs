//! `refdesk stat`: what is known of a resource, and where that comes from.

use protocol::outbound::request::methods;
use resource::Uri;
use serde_json::{Map, Value, json};

use crate::args::StatArgs;
use crate::connection::ServerConnection;
use crate::content::Selection;
use crate::error::CommandError;
use crate::output::{Output, Style, one_line, tell};
use crate::table::{self, Cell};

/// How many entries of a list are looked through for a resource.
const MAX_LISTED: usize = 20_000;

pub(super) async fn run(
    args: &StatArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let mut has_failed = false;
    let mut told = Vec::new();
    for written in &args.uris {
        let described = async {
            let uri = connection.resolve_uri(written).await?;
            describe(connection, &uri).await
        };
        match described.await {
            Ok(description) => told.push(description),
            Err(error @ (CommandError::NotFound(_) | CommandError::Failed(_)))
                if args.uris.len() > 1 =>
            {
                tell(&format!("error: {error}"));
                has_failed = true;
            }
            Err(error) => return Err(error),
        }
    }
    if args.server.json {
        let resources: Vec<Value> = told.iter().map(StatDescription::to_json).collect();
        output.json(&json!({ "resources": resources }))?;
    } else {
        for (at, description) in told.iter().enumerate() {
            if at > 0 {
                output.line("")?;
            }
            print_description(output, description)?;
        }
    }
    if has_failed { Err(CommandError::SomeFailed) } else { Ok(()) }
}

/// What is known of a resource, and how.
struct StatDescription {
    resource: Value,
    source: &'static str,
}

impl StatDescription {
    fn to_json(&self) -> Value {
        json!({ "resource": self.resource, "source": self.source })
    }
}

async fn describe(
    connection: &ServerConnection,
    uri: &Uri,
) -> Result<StatDescription, CommandError> {
    let params = json!({ "uri": uri.as_str() });
    if connection.peer.capabilities.has_metadata {
        let about = |error: client::Error| CommandError::about(uri.as_str(), error);
        let request = crate::listing::request(methods::RESOURCE_METADATA, &params)?;
        let answer = connection.client.send_request(&request).await.map_err(about)?;
        let answer: Value = serde_json::from_str(answer.get()).unwrap_or_default();
        return Ok(StatDescription {
            resource: answer["resource"].clone(),
            source: methods::RESOURCE_METADATA,
        });
    }
    let (mut found, mut seen) = (None, 0);
    connection
        .each_page(None, |rows| {
            seen += rows.len();
            found = rows.into_iter().find(|row| row.resource.uri == *uri);
            Ok(found.is_none() && seen < MAX_LISTED)
        })
        .await?;
    if let Some(row) = found {
        return Ok(StatDescription { resource: row.json, source: methods::LIST_RESOURCES });
    }
    let (mut size, mut mime) = (0, None);
    connection
        .read_chunks(uri, &Selection::default(), |chunk| {
            size += chunk.bytes.len();
            mime = mime.take().or(chunk.resource.mime);
            Ok(true)
        })
        .await?;
    let resource = json!({ "uri": uri.as_str(), "mimeType": mime, "size": size });
    Ok(StatDescription { resource, source: "a read: the server does not list it" })
}

fn print_description(output: &mut Output, described: &StatDescription) -> Result<(), CommandError> {
    let mut rows = Vec::new();
    let empty = Map::new();
    let members = described.resource.as_object().unwrap_or(&empty);
    let order = ["uri", "name", "title", "description", "mimeType", "size"];
    let named = order.into_iter().filter_map(|name| Some((name, members.get(name)?)));
    let others = members.iter().filter(|(name, _)| !order.contains(&name.as_str()));
    let others = others.map(|(name, value)| (name.as_str(), value));
    for (name, value) in named.chain(others) {
        add_rows(&mut rows, name, value);
    }
    add_rows(&mut rows, "known from", &described.source.into());
    for line in table::lines(output, &rows) {
        output.line(&line)?;
    }
    Ok(())
}

/// One row for a plain value; one for each member of an object.
fn add_rows(rows: &mut Vec<Vec<Cell>>, name: &str, value: &Value) {
    let shown = match value {
        Value::Null => return,
        Value::String(text) if text.is_empty() => return,
        Value::Object(members) => {
            for (member, value) in members {
                let member =
                    if name == "_meta" { member.clone() } else { format!("{name}.{member}") };
                add_rows(rows, &member, value);
            }
            return;
        }
        Value::String(text) => text.clone(),
        Value::Number(size) if name == "size" => {
            let bytes = size.as_u64().unwrap_or_default();
            match bytes < 1_000 {
                true => bytes.to_string(),
                false => format!("{bytes} ({})", table::size(bytes)),
            }
        }
        Value::Array(formats) if formats.iter().all(|format| format["mimeType"].is_string()) => {
            let names: Vec<&str> =
                formats.iter().filter_map(|format| format["mimeType"].as_str()).collect();
            names.join(", ")
        }
        other => other.to_string(),
    };
    rows.push(vec![Cell::styled(Style::Dim, one_line(name)), Cell::text(one_line(&shown))]);
}
