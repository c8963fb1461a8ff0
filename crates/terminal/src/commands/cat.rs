//! `refdesk cat`: content to standard output, as it is.

use std::io::Write as _;
use std::process::{Command, Stdio};

use resource::{Resource, Uri};
use serde_json::json;

use crate::args::CatArgs;
use crate::connection::ServerConnection;
use crate::content::{Chunk, Selection};
use crate::error::CommandError;
use crate::highlight::{HIGHLIGHTED, to_terminal};
use crate::output::{Output, tell, visible};

/// How much of a content is held back to decide whether it needs a pager.
const MAX_HELD_BYTES: usize = 8 << 20;

pub(super) async fn run(
    args: &CatArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let selection = Selection::parse(&args.window)?;
    let mut has_failed = false;
    for written in &args.uris {
        let printed = async {
            let uri = connection.resolve_uri(written).await?;
            if args.server.json {
                return print_json(connection, output, &uri, &selection).await;
            }
            let style = PrintStyle { raw: args.raw, pager: !args.no_pager && args.uris.len() == 1 };
            print_content(connection, output, &uri, &selection, style).await
        };
        match printed.await {
            Ok(()) => {}
            // As `cat` does: the others are printed, and the exit status tells.
            Err(error @ (CommandError::NotFound(_) | CommandError::Failed(_)))
                if args.uris.len() > 1 =>
            {
                tell(&format!("error: {error}"));
                has_failed = true;
            }
            Err(error) => return Err(error),
        }
    }
    match has_failed {
        false => Ok(()),
        true => {
            output.finish()?;
            Err(CommandError::SomeFailed)
        }
    }
}

/// How content is shown on a terminal.
#[derive(Clone, Copy)]
pub(super) struct PrintStyle {
    /// Control characters and blobs as they are.
    pub(super) raw: bool,
    /// A long text in a pager.
    pub(super) pager: bool,
}

/// Prints what `selection` wants of a resource.
pub(super) async fn print_content(
    connection: &ServerConnection,
    output: &mut Output,
    uri: &Uri,
    selection: &Selection,
    style: PrintStyle,
) -> Result<(), CommandError> {
    let is_shown = output.is_terminal && !style.raw;
    let highlighted = match is_shown && output.colors {
        true => highlighted_form(connection, uri, selection).await,
        false => None,
    };
    let selection = highlighted.as_ref().unwrap_or(selection);
    let mut held: Vec<u8> = Vec::new();
    let mut blob: Option<(Resource, Vec<u8>)> = None;
    connection
        .read_chunks(uri, selection, |chunk| {
            let Chunk { resource, is_text, bytes } = chunk;
            if !is_shown {
                output.bytes(&bytes)?;
            } else if is_text {
                let text = String::from_utf8_lossy(&bytes);
                let text = match highlighted {
                    Some(_) => to_terminal(&text),
                    None => visible(&text),
                };
                hold_text(output, &mut held, &text)?;
            } else {
                let (_, held) = blob.get_or_insert_with(|| (resource, Vec::new()));
                held.extend_from_slice(&bytes);
                return Ok(held.len() <= MAX_HELD_BYTES);
            }
            Ok(true)
        })
        .await?;
    if let Some((resource, bytes)) = blob {
        return show_blob(output, uri, &resource, &bytes);
    }
    let text = String::from_utf8_lossy(&held);
    if style.pager && text.lines().count() >= output.height && show_in_pager(&text) {
        return Ok(());
    }
    output.bytes(text.as_bytes())?;
    if is_shown && !text.is_empty() && !text.ends_with('\n') {
        output.bytes(b"\n")?;
    }
    Ok(())
}

/// The same selection of the highlighted form, if the server has one and no other was wanted.
async fn highlighted_form(
    connection: &ServerConnection,
    uri: &Uri,
    selection: &Selection,
) -> Option<Selection> {
    if !connection.peer.capabilities.has_metadata {
        return None;
    }
    let wanted = selection.in_form(HIGHLIGHTED)?;
    let (resource, _) = connection.client.metadata(uri).await.ok()?;
    resource.mime_types().any(|mime| mime == HIGHLIGHTED).then_some(wanted)
}

/// Keeps text for the pager; prints what is too long to keep.
fn hold_text(output: &mut Output, held: &mut Vec<u8>, text: &str) -> Result<(), CommandError> {
    held.extend_from_slice(text.as_bytes());
    if held.len() > MAX_HELD_BYTES {
        output.bytes(held)?;
        held.clear();
    }
    Ok(())
}

/// Shows a text in the pager of the user; returns whether there is one.
fn show_in_pager(text: &str) -> bool {
    let pager = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let pager = pager.unwrap_or_else(|| "less -FRX".to_owned());
    let started = Command::new("sh").args(["-c", &pager]).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = started else { return false };
    if let Some(mut input) = child.stdin.take() {
        // The person may leave the pager before the end.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait().is_ok_and(|status| status.code() != Some(127))
}

/// Shows an image where the terminal can; other blobs would only confuse it.
fn show_blob(
    output: &mut Output,
    uri: &Uri,
    resource: &Resource,
    bytes: &[u8],
) -> Result<(), CommandError> {
    let mime = resource.mime.as_deref().unwrap_or("application/octet-stream");
    if let Some(sequence) = image_sequence(mime, bytes, |name| std::env::var(name).ok()) {
        output.bytes(sequence.as_bytes())?;
        return output.line("");
    }
    Err(CommandError::Failed(format!(
        "{uri} is {mime}, not text: write it to a file (> FILE), or choose a form with --accept \
         text/markdown; --raw prints it anyway"
    )))
}

/// The escape sequences that draw an image, for terminals that are known to draw images.
fn image_sequence(
    mime: &str,
    bytes: &[u8],
    variable: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    if !mime.starts_with("image/") || mime.contains("svg") {
        return None;
    }
    let term = variable("TERM").unwrap_or_default();
    let program = variable("TERM_PROGRAM").unwrap_or_default();
    let data = base64_simd::STANDARD.encode_to_string(bytes);
    let is_kitty = term.contains("kitty") || term.contains("ghostty") || program == "ghostty";
    if is_kitty && mime == "image/png" {
        // The kitty graphics protocol: base64 in chunks of 4096, `m=1` on all but the last.
        let chunks: Vec<&[u8]> = data.as_bytes().chunks(4096).collect();
        let mut sequence = String::new();
        for (at, chunk) in chunks.iter().enumerate() {
            let more = u8::from(at + 1 < chunks.len());
            let keys = if at == 0 { format!("a=T,f=100,m={more}") } else { format!("m={more}") };
            let chunk = String::from_utf8_lossy(chunk);
            sequence.push_str(&format!("\x1b_G{keys};{chunk}\x1b\\"));
        }
        return Some(sequence);
    }
    let is_iterm = program == "iTerm.app" || program == "WezTerm";
    let size = bytes.len();
    is_iterm
        .then(|| format!("\x1b]1337;File=inline=1;size={size};preserveAspectRatio=1:{data}\x07"))
}

async fn print_json(
    connection: &ServerConnection,
    output: &mut Output,
    uri: &Uri,
    selection: &Selection,
) -> Result<(), CommandError> {
    let mut whole: Option<(Resource, bool, Vec<u8>)> = None;
    connection
        .read_chunks(uri, selection, |chunk| {
            let (_, _, bytes) =
                whole.get_or_insert_with(|| (chunk.resource, chunk.is_text, Vec::new()));
            bytes.extend_from_slice(&chunk.bytes);
            Ok(true)
        })
        .await?;
    let Some((resource, is_text, bytes)) = whole else { return Ok(()) };
    let mut part = json!({ "uri": resource.uri.as_str(), "mimeType": resource.mime });
    match is_text {
        true => part["text"] = String::from_utf8_lossy(&bytes).into(),
        false => part["blob"] = base64_simd::STANDARD.encode_to_string(&bytes).into(),
    }
    output.json(&part)
}

#[cfg(test)]
mod tests {
    use super::image_sequence;

    #[test]
    fn images_are_drawn_by_terminals_that_can() {
        let set = |name: &'static str, value: &'static str| {
            move |wanted: &str| (wanted == name).then(|| value.to_owned())
        };
        let kitty = image_sequence("image/png", &[7; 5_000], set("TERM", "xterm-kitty")).unwrap();
        assert_eq!(kitty.matches("\x1b_G").count(), 2);
        assert!(kitty.contains("a=T,f=100,m=1;") && kitty.contains("\x1b_Gm=0;"), "{kitty}");
        let iterm = image_sequence("image/jpeg", b"x", set("TERM_PROGRAM", "iTerm.app")).unwrap();
        assert!(iterm.starts_with("\x1b]1337;File=inline=1;size=1;"), "{iterm}");
        assert!(image_sequence("image/png", b"x", set("TERM", "xterm")).is_none());
        assert!(image_sequence("image/svg+xml", b"x", set("TERM_PROGRAM", "WezTerm")).is_none());
        assert!(image_sequence("text/plain", b"x", set("TERM", "xterm-kitty")).is_none());
    }
}
