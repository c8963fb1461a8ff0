//! The tool `resources_read`: reads a window of a resource by bytes, lines or tokens.

use protocol::inbound::tool::arguments::ReadArguments;
use protocol::inbound::tool::output::{NextWindow, ReadOutput};
use protocol::inbound::tool::{ContentBlock, TextLines, ToolOutput, ToolResult, single_line};
use resource::{Continuation, Error, ErrorKind, PageRequest, Result, Uri};

use super::resolve::resolve_uri;
use super::rows::{RowDetails, resource_rows, row_line, section_words};
use crate::exchange::Exchange;
use crate::methods::resources::choose_format;
use crate::server::Server;
use crate::window::{self, FormatWindow, WindowRange, WindowSpan};

/// How many members of a folder its listing shows.
const MAX_LISTED: usize = 100;

/// Reads the requested window; of a folder, its listing.
pub(super) async fn read_resource_window(
    server: &Server,
    exchange: &Exchange,
    read: &ReadArguments,
) -> Result<ToolResult> {
    let part = usize::try_from(read.part.unwrap_or(0)).unwrap_or(usize::MAX);
    let (range, etag) = (window_measure(read)?, read.etag.clone());
    let section = read.section().map_err(Error::invalid)?;
    let uri = &resolve_uri(server, &exchange.ctx, &read.uri).await?;
    let format = match &read.accept {
        Some(accept) => choose_format(server, &exchange.ctx, uri, accept).await?,
        None => None,
    };
    let span = WindowSpan { range, etag, format, part, section, prefers_text: true };
    let public = (uri.as_str() != read.uri).then(|| uri.to_string());
    let window = match window::read_window(server, &exchange.ctx, uri, &span).await {
        Ok(windowed) => windowed.windows.into_iter().next(),
        Err(error) if is_folder(server, exchange, (uri, read), &error).await => {
            return list_folder(server, exchange, uri, public).await;
        }
        Err(error) => return Err(error.about(uri)),
    };
    let window = window.ok_or_else(|| Error::internal("empty window"))?;
    // The bytes of an archive tell a model nothing; its members do.
    let has_own_text = window.resource.formats.len() > 1 || window.resource.is_page();
    if window.resource.is_archive
        && !has_own_text
        && read.accept.is_none()
        && !read.use_content_blocks
    {
        return list_folder(server, exchange, uri, public).await;
    }
    Ok(window_result(read, window, public))
}

/// Whether a read failed because the resource is a folder without content of its own, or an archive
/// whose bytes are withheld.
async fn is_folder(
    server: &Server,
    exchange: &Exchange,
    (uri, read): (&Uri, &ReadArguments),
    error: &Error,
) -> bool {
    let is_of_archive = match error.kind {
        ErrorKind::Invalid => false,
        ErrorKind::Unsupported if read.accept.is_none() && !read.use_content_blocks => true,
        _ => return false,
    };
    let found = server.provider.stat(&exchange.ctx, uri).await;
    found.is_ok_and(|found| match is_of_archive {
        true => found.is_archive && found.formats.len() == 1,
        false => found.listable == Some(true),
    })
}

/// The members of a folder, one per line.
async fn list_folder(
    server: &Server,
    exchange: &Exchange,
    uri: &Uri,
    public: Option<String>,
) -> Result<ToolResult> {
    let ask = PageRequest::first(MAX_LISTED);
    let page = server.provider.list(&exchange.ctx, Some(uri), &ask).await?;
    let members = page.items.iter().map(|item| &**item);
    let rows = resource_rows(&*server.provider, members, RowDetails::default());
    let mut lines = TextLines::default();
    for row in &rows {
        lines.push(&row_line(row));
    }
    let note = match (rows.is_empty(), page.next.is_some()) {
        (_, true) => "this folder has more: call resources_list with it as collection",
        (true, false) => "this folder is empty",
        (false, false) => "this is a folder: these are its members",
    };
    let text = String::from(lines);
    let blocks = vec![ContentBlock::Text(text.clone()), ContentBlock::line(&format!("[{note}]"))];
    let (text, note) = (Some(text), Some(note.to_owned()));
    let output = ReadOutput { uri: public, text, note, ..ReadOutput::default() };
    let structured = Some(ToolOutput::Read(output));
    Ok(ToolResult { blocks, structured, ..ToolResult::default() })
}

fn window_result(read: &ReadArguments, window: FormatWindow, public: Option<String>) -> ToolResult {
    let mut output = bookkeeping(&window);
    output.uri = public;
    output.note = content_note(&window);
    let mut notes: Vec<_> = output.note.iter().map(|note| format!("[{note}]")).collect();
    notes.extend(range_note(&window));
    let numbered = |text: &str| match &window.slice.lines {
        Some(lines) if read.line_numbers => number_lines(text, lines.start),
        _ => text.to_owned(),
    };
    let mut blocks = Vec::new();
    match window.text().map(numbered) {
        _ if read.use_content_blocks => blocks.push(ContentBlock::Embedded(window.into_part())),
        Some(text) => {
            output.text = Some(text.clone());
            blocks.push(ContentBlock::Text(text));
        }
        None => return binary_result(&window, output.uri),
    }
    blocks.extend(notes.iter().map(|note| ContentBlock::line(note)));
    ToolResult { blocks, structured: Some(ToolOutput::Read(output)), ..ToolResult::default() }
}

/// The result for content that is not text: a model cannot use it in base64.
fn binary_result(window: &FormatWindow, uri: Option<String>) -> ToolResult {
    let mime = window.resource.mime.as_deref().unwrap_or("application/octet-stream");
    let total = window.slice.total;
    let mut formats = window.resource.formats.iter().map(|format| format.mime.as_str());
    let text = formats.find(|format| format.starts_with("text/"));
    let mut note = match text {
        Some(text) => format!("not text; accept {text:?} tells about it in words, or pass"),
        None => "not text; pass".to_owned(),
    };
    note.push_str(" use_content_blocks, or use resources_read_embedded with media");
    for more in &window.resource.notes {
        note.push_str(&format!("; {more}"));
    }
    let words = format!("[{total} bytes of {mime}: {note}]");
    let output = ReadOutput {
        uri,
        mime: Some(mime.to_owned()),
        total_bytes: Some(total),
        note: Some(note),
        ..ReadOutput::default()
    };
    ToolResult::with_text(single_line(&words), ToolOutput::Read(output))
}

/// What the text is made of and what it lacks; `None` for an original that lacks nothing.
fn content_note(window: &FormatWindow) -> Option<String> {
    let resource = &window.resource;
    let total = resource.outline.as_deref().and_then(section_words);
    let original = resource.formats.first().map(|original| original.mime.as_str());
    let made = original.filter(|original| Some(*original) != resource.mime.as_deref());
    let made = made.map(|original| format!("made of {original}"));
    let is_first = window.slice.offset == 0;
    let facts = made.filter(|_| is_first).into_iter().chain(total.filter(|_| is_first));
    let notes: Vec<String> = facts.chain(resource.notes.iter().cloned()).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// Where the window lies, and how to go on.
fn bookkeeping(window: &FormatWindow) -> ReadOutput {
    let slice = &window.slice;
    let next = window.next();
    let is_part = next.is_some() || slice.offset > 0;
    let several = slice.total_parts > 1;
    ReadOutput {
        total_bytes: is_part.then_some(slice.total),
        part: several.then_some(slice.part),
        total_parts: several.then_some(slice.total_parts),
        next: next.map(|next| match next {
            Continuation::Offset(offset) => NextWindow::Offset(offset),
            Continuation::Line(line) => NextWindow::StartLine(line),
            Continuation::Part(part) => NextWindow::Part(part),
        }),
        etag: next.and_then(|_| window.etag().map(str::to_owned)),
        ..ReadOutput::default()
    }
}

/// The text with a number and a tab before each line.
fn number_lines(text: &str, start: u64) -> String {
    let mut numbered = String::with_capacity(text.len() + text.len() / 8);
    for (number, line) in (start..).zip(text.split_inclusive('\n')) {
        numbered.push_str(&format!("{number}\t{line}"));
    }
    numbered
}

fn window_measure(read: &ReadArguments) -> Result<WindowRange> {
    let bytes = read.byte_limit();
    let by_lines = read.start_line.is_some() || read.max_lines.is_some() || read.line_numbers;
    match (by_lines, read.offset, read.max_tokens) {
        (true, Some(_), _) => {
            Err(Error::invalid("offset excludes start_line and line_numbers; pass only one"))
        }
        (true, None, Some(_)) => {
            Err(Error::invalid("max_tokens excludes max_lines and line_numbers; pass only one"))
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

/// A text note for the model: the range of this window and how to read the next one. The whole
/// resource needs none.
fn range_note(window: &FormatWindow) -> Option<String> {
    let slice = &window.slice;
    if slice.offset == 0 && window.is_last() && slice.total_parts <= 1 {
        return None;
    }
    let end = slice.offset + slice.length;
    let stretch = match &slice.lines {
        Some(lines) => {
            let last = (lines.start + lines.count).saturating_sub(1);
            format!("lines {} to {last}, bytes {} to {end}", lines.start, slice.offset)
        }
        None => format!("bytes {} to {end}", slice.offset),
    };
    let etag = window.etag().map_or_else(String::new, |etag| format!(" and etag {etag}"));
    Some(match window.next() {
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
    })
}
