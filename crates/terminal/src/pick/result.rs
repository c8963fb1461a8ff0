//! What `refdesk pick` gives: URIs, a pack, or a basket of the server.

use std::sync::Arc;

use protocol::outbound::request::methods;
use resource::{Uri, tokens};
use serde_json::{Value, json};

use crate::args::{PickArgs, WindowArgs};
use crate::commands::print_part;
use crate::connection::ServerConnection;
use crate::content::Selection;
use crate::error::CommandError;
use crate::output::{Output, one_line, tell};

/// The longest name of a basket.
const MAX_NAME: usize = 64;
/// The most resources of a basket.
const MAX_SAVED: usize = 200;
/// The longest text of a resource that goes into a pack.
const MAX_PACKED_BYTES: usize = 16 << 20;

/// Checks what must hold before a person begins to pick.
pub(super) fn check(args: &PickArgs, connection: &ServerConnection) -> Result<(), CommandError> {
    let Some(name) = &args.save else { return Ok(()) };
    check_name(name)?;
    match connection.peer.capabilities.has_baskets {
        true => Ok(()),
        false => Err(CommandError::Failed(
            "this server keeps no baskets; leave out --save, and pipe the URIs where you need \
             them, or put the server behind refdesk"
                .to_owned(),
        )),
    }
}

fn check_name(name: &str) -> Result<(), CommandError> {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_fit) {
        true => Ok(()),
        false => {
            let words = "write 1 to 64 letters, digits and - _ .";
            Err(CommandError::Usage(format!("--save {}: {words}", one_line(name))))
        }
    }
}

/// Prints, packs or saves what was picked.
pub(crate) async fn give(
    args: &PickArgs,
    connection: &ServerConnection,
    output: &mut Output,
    uris: &[Arc<str>],
) -> Result<(), CommandError> {
    if let Some(name) = &args.save {
        return save(args, connection, output, name, uris).await;
    }
    if args.pack {
        return pack(args, connection, output, uris).await;
    }
    let places = uris.iter().map(|uri| match args.path {
        true => connection.place(uri),
        false => uri.to_string(),
    });
    if args.server.json {
        return output.json(&places.map(Value::from).collect());
    }
    places.into_iter().try_for_each(|place| output.line(&one_line(&place)))
}

async fn save(
    args: &PickArgs,
    connection: &ServerConnection,
    output: &mut Output,
    name: &str,
    uris: &[Arc<str>],
) -> Result<(), CommandError> {
    if uris.len() > MAX_SAVED {
        let words = format!("a basket holds {MAX_SAVED} resources; {} are chosen", uris.len());
        return Err(CommandError::Failed(words));
    }
    let uris: Vec<&str> = uris.iter().map(|uri| &**uri).collect();
    let saved =
        connection.ask(methods::SAVE_BASKET, &json!({ "name": name, "uris": uris })).await?;
    if args.server.json {
        return output.json(&saved);
    }
    output.line(&one_line(saved["uri"].as_str().unwrap_or_default()))
}

/// Prints the texts of the resources as one Markdown document, within the budget.
async fn pack(
    args: &PickArgs,
    connection: &ServerConnection,
    output: &mut Output,
    uris: &[Arc<str>],
) -> Result<(), CommandError> {
    let mut left = args.budget;
    let mut blocks = Vec::new();
    for uri in uris {
        if left == 0 {
            tell(&format!("left out: {uri}: the budget of {} tokens is used up", args.budget));
            continue;
        }
        let (text, mime) = match read_text(connection, uri, left).await {
            Ok(Some(read)) => read,
            Ok(None) => {
                tell(&format!("left out: {uri}: it has no text"));
                continue;
            }
            Err(CommandError::Unreachable(words)) => return Err(CommandError::Unreachable(words)),
            Err(error) => {
                tell(&format!("left out: {error}"));
                continue;
            }
        };
        let length = tokens::prefix_len(&text, left);
        if length < text.len() {
            tell(&format!("cut to fit the budget: {uri}"));
        }
        let text = &text[..length];
        left = left.saturating_sub(tokens::estimate(text));
        let part = json!({ "uri": &**uri, "mimeType": mime, "text": text });
        match args.server.json {
            true => blocks.push(json!({ "type": "resource", "resource": part })),
            false => print_part(output, &part)?,
        }
    }
    match args.server.json {
        true => output.json(&json!({ "budget": args.budget, "content": blocks })),
        false => Ok(()),
    }
}

/// The text of a resource and its type, somewhat more than `most` tokens of it.
async fn read_text(
    connection: &ServerConnection,
    uri: &str,
    most: u64,
) -> Result<Option<(String, Option<String>)>, CommandError> {
    let uri = Uri::parse(uri).map_err(|error| CommandError::Failed(error.to_string()))?;
    let form = text_form(connection, &uri).await;
    let window = WindowArgs { accept: form.map(str::to_owned), ..WindowArgs::default() };
    let (mut bytes, mut mime, mut is_text) = (Vec::new(), None, false);
    // No text has more than a token a byte, and few have less than one in sixteen.
    let enough = usize::try_from(most.saturating_mul(16)).unwrap_or(usize::MAX);
    let enough = enough.min(MAX_PACKED_BYTES);
    connection
        .read_chunks(&uri, &Selection::parse(&window)?, |chunk| {
            is_text = chunk.is_text;
            mime = mime.take().or(chunk.resource.mime);
            if is_text {
                bytes.extend_from_slice(&chunk.bytes);
            }
            Ok(is_text && bytes.len() < enough)
        })
        .await?;
    Ok(is_text.then(|| (String::from_utf8_lossy(&bytes).into_owned(), mime)))
}

/// The format in which a document is text, where the server says that it has one.
async fn text_form(connection: &ServerConnection, uri: &Uri) -> Option<&'static str> {
    if !connection.peer.capabilities.has_metadata {
        return None;
    }
    let (resource, _) = connection.client.metadata(uri).await.ok()?;
    resource.text_form()
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn a_basket_has_a_short_plain_name() {
        assert!(check_name("review-2026_11.b").is_ok());
        let long = "x".repeat(65);
        for wrong in ["", "a b", "a/b", "資料", &long] {
            assert_eq!(check_name(wrong).unwrap_err().exit_status(), 2, "{wrong}");
        }
    }
}
