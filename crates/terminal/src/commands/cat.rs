//! `refdesk cat`: content to standard output, as it is.

use std::io::Write as _;
use std::process::{Command, Stdio};

use resource::{Resource, Uri};
use serde_json::json;

use crate::args::CatArgs;
use crate::connection::ServerConnection;
use crate::content::{Chunk, Selection};
use crate::error::CommandError;
use crate::highlight::{HIGHLIGHTED, HighlightConverter};
use crate::images::{ImageProtocol, ImageRoom, THUMBNAIL};
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
    if !output.is_terminal || style.raw {
        let print = |chunk: Chunk| output.bytes(&chunk.bytes).map(|()| true);
        return connection.read_chunks(uri, selection, print).await;
    }
    if let Some(form) = shown_form(connection, output, uri, selection).await {
        let mut content = ShownContent::default();
        if form.is_highlighted {
            content.highlight = Some(HighlightConverter::default());
        }
        let take = |chunk| content.take(chunk, output);
        match connection.read_chunks(uri, &form.selection, take).await {
            // The server may not be able to make the form, of a file that is too large for it.
            Err(CommandError::Failed(_)) if !content.is_printed => {}
            read => return read.and_then(|()| content.show(output, uri, style.pager)),
        }
    }
    let mut content = ShownContent::default();
    connection.read_chunks(uri, selection, |chunk| content.take(chunk, output)).await?;
    content.show(output, uri, style.pager)
}

/// A form of a resource that suits a terminal better than its own.
struct ShownForm {
    selection: Selection,
    is_highlighted: bool,
}

/// The highlighted form of code, or the small PNG of an image that the terminal cannot draw, if
/// the server has one and no other was wanted.
async fn shown_form(
    connection: &ServerConnection,
    output: &Output,
    uri: &Uri,
    selection: &Selection,
) -> Option<ShownForm> {
    if !connection.peer.capabilities.has_metadata || !selection.is_free() {
        return None;
    }
    let (resource, _) = connection.client.metadata(uri).await.ok()?;
    let has_form = |form: &str| resource.mime_types().any(|mime| mime == form);
    let own = resource.mime.as_deref().unwrap_or_default();
    let (form, is_highlighted) = if output.colors && has_form(HIGHLIGHTED) {
        (HIGHLIGHTED, true)
    } else if own.starts_with("image/") && has_form(THUMBNAIL) {
        let protocol = ImageProtocol::of_terminal()?;
        let is_small = resource.size.is_none_or(|size| size <= MAX_HELD_BYTES as u64);
        let is_drawn = protocol.draws(own) && is_small && protocol != ImageProtocol::Sixel;
        (Some(THUMBNAIL).filter(|_| !is_drawn)?, false)
    } else {
        return None;
    };
    Some(ShownForm { selection: selection.in_form(form)?, is_highlighted })
}

/// Content on its way to a terminal.
#[derive(Default)]
struct ShownContent {
    /// Converts the text, if it is of the highlighted form.
    highlight: Option<HighlightConverter>,
    /// Text for the pager.
    held: String,
    /// Whether there was text that is too long for the pager.
    is_printed: bool,
    blob: Option<(Resource, Vec<u8>)>,
}

impl ShownContent {
    /// Takes a chunk; returns whether more is wanted.
    fn take(&mut self, chunk: Chunk, output: &mut Output) -> Result<bool, CommandError> {
        let Chunk { resource, is_text, bytes, offset: _ } = chunk;
        if !is_text {
            let (_, held) = self.blob.get_or_insert_with(|| (resource, Vec::new()));
            held.extend_from_slice(&bytes);
            return Ok(held.len() <= MAX_HELD_BYTES);
        }
        let text = String::from_utf8_lossy(&bytes);
        self.held.push_str(&match &mut self.highlight {
            Some(converter) => converter.convert(&text),
            None => visible(&text),
        });
        if self.held.len() > MAX_HELD_BYTES {
            // The last character stays: a text that does not end with a newline gets one.
            let last = self.held.floor_char_boundary(self.held.len() - 1);
            output.bytes(&self.held.as_bytes()[..last])?;
            self.held.drain(..last);
            self.is_printed = true;
        }
        Ok(true)
    }

    /// Shows what was held back.
    fn show(mut self, output: &mut Output, uri: &Uri, pager: bool) -> Result<(), CommandError> {
        if let Some((resource, bytes)) = &self.blob {
            return show_blob(output, uri, resource, bytes);
        }
        if let Some(converter) = &mut self.highlight {
            self.held.push_str(&converter.finish());
        }
        let is_long = self.held.lines().count() >= output.height;
        if pager && !self.is_printed && is_long && show_in_pager(&self.held) {
            return Ok(());
        }
        output.bytes(self.held.as_bytes())?;
        if !self.held.is_empty() && !self.held.ends_with('\n') {
            output.bytes(b"\n")?;
        }
        Ok(())
    }
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
    let is_image = mime.starts_with("image/") && bytes.len() <= MAX_HELD_BYTES;
    let protocol = is_image.then(ImageProtocol::of_terminal).flatten();
    let room = ImageRoom { columns: output.width.unwrap_or(80), pixels: output.pixels };
    if let Some(sequence) = protocol.and_then(|own| own.sequence(mime, bytes, room)) {
        output.bytes(sequence.as_bytes())?;
        return output.line("");
    }
    Err(CommandError::Failed(format!(
        "{uri} is {mime}, not text: write it to a file (> FILE), or choose a form with --accept \
         text/markdown; --raw prints it anyway"
    )))
}

/// Prints what `selection` wants of a resource as JSON, in the members that a read has.
pub(super) async fn print_json(
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
