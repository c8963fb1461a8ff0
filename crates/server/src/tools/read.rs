//! The tool `resources_read`: reads a window of a resource by bytes, lines or tokens.

use protocol::inbound::tool::arguments::ReadArguments;
use protocol::inbound::tool::output::{ReadOutput, ReadPart};
use protocol::inbound::tool::{ContentBlock, ToolOutput, ToolResult};
use resource::{Continuation, Error, Result};

use crate::exchange::Exchange;
use crate::server::Server;
use crate::window::{self, FormatWindow, WindowRange, WindowSpan};

/// Reads the requested window.
pub(super) async fn read_resource_window(
    server: &Server,
    exchange: &Exchange,
    read: &ReadArguments,
) -> Result<ToolResult> {
    let part = usize::try_from(read.part.unwrap_or(0)).unwrap_or(usize::MAX);
    let (range, etag, format) = (window_measure(read)?, read.etag.clone(), read.format.clone());
    let span = WindowSpan { range, etag, format, part };
    let uri = &read.uri;
    let windowed = window::read_window(server, &exchange.ctx, uri, &span).await;
    let pieces = windowed.map_err(|error| error.about(uri))?.windows;
    let Some(first) = pieces.first() else { return Err(Error::internal("empty window")) };
    let note = range_note(first);
    let parts = pieces.iter().map(read_part).collect();
    let structured = ToolOutput::Read(ReadOutput { uri: uri.clone(), parts });
    let mut blocks = Vec::new();
    for piece in pieces {
        blocks.push(match piece.text() {
            _ if read.use_content_blocks => ContentBlock::Embedded(piece.into_part()),
            Some(text) => ContentBlock::Text(text.to_owned()),
            None => {
                let mime = piece.resource.mime.as_deref().unwrap_or("application/octet-stream");
                let length = piece.slice.length;
                ContentBlock::line(&format!(
                    "[{length} bytes of {mime}, base64 in structuredContent]"
                ))
            }
        });
    }
    blocks.push(ContentBlock::line(&note));
    Ok(ToolResult { blocks, structured: Some(structured), ..ToolResult::default() })
}

fn window_measure(read: &ReadArguments) -> Result<WindowRange> {
    let bytes = read.byte_limit();
    let by_lines = read.start_line.is_some() || read.max_lines.is_some();
    match (by_lines, read.offset, read.max_tokens) {
        (true, Some(_), _) => {
            Err(Error::invalid("offset and start_line exclude each other; pass only one"))
        }
        (true, None, Some(_)) => {
            Err(Error::invalid("max_tokens and max_lines exclude each other; pass only one"))
        }
        (true, None, None) => Ok(WindowRange::Lines {
            start: read.start_line.unwrap_or(1),
            most: read.max_lines,
            bytes,
        }),
        (false, offset, Some(most)) if read.max_bytes.is_none() => {
            Ok(WindowRange::Tokens { offset: offset.unwrap_or(0), most })
        }
        (false, _, Some(_)) => {
            Err(Error::invalid("max_tokens and max_bytes exclude each other; pass only one"))
        }
        (false, offset, None) => {
            Ok(WindowRange::Bytes { offset: offset.unwrap_or(0), length: bytes })
        }
    }
}

fn read_part(window: &FormatWindow) -> ReadPart {
    let FormatWindow { resource, is_text, bytes, slice } = window.clone();
    ReadPart { resource, is_text, bytes, slice }
}

/// A text note for the model: the range of this window and how to read the next one.
fn range_note(window: &FormatWindow) -> String {
    let slice = &window.slice;
    let end = slice.offset + slice.length;
    let stretch = match &slice.lines {
        Some(lines) => {
            let last = (lines.start + lines.count).saturating_sub(1);
            format!("lines {} to {last}, bytes {} to {end}", lines.start, slice.offset)
        }
        None => format!("bytes {} to {end}", slice.offset),
    };
    let etag = window.etag().map_or_else(String::new, |etag| format!(" and etag {etag}"));
    match window.next() {
        Some(Continuation::Offset(offset)) => {
            format!("[{stretch} of {}; continue with offset {offset}{etag}]", slice.total)
        }
        Some(Continuation::Line(line)) => {
            format!("[{stretch} of {}; continue with start_line {line}{etag}]", slice.total)
        }
        Some(Continuation::Part(part)) => {
            format!("[{stretch} of {}; continue with part {part}{etag}]", slice.total)
        }
        None => format!("[{stretch} of {}; end of resource]", slice.total),
    }
}
