//! Windowed reads of a resource, by bytes, lines or tokens.
//!
//! Providers know only windows of bytes. This module builds the others from those, and reads little
//! more than it returns. A client that follows [`FormatWindow::next`] from window to window gets the
//! whole text in order, whatever sizes it asks for.
//!
//! One function decides where a text may be cut: `cut::end`.

mod cut;
mod line_index;
mod lines;
mod window_reader;

use std::sync::Arc;

use bytes::Bytes;
use resource::{
    Body, ByteSource, Context, Continuation, Error, ErrorKind, Freshness, Part, Resource, Result,
    SectionChoice, Slice, Uri,
};

use crate::server::Server;
pub(crate) use line_index::LineIndex;
use window_reader::WindowReader;

/// The most bytes in one window, whatever the request.
pub const MAX_WINDOW_BYTES: u64 = 1 << 20;

/// A request for a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowSpan {
    /// The range, and its unit.
    pub range: WindowRange,
    /// The version to read. Without one, any version, but all bytes are of the same one.
    pub etag: Option<String>,
    /// The one format to read, a MIME type; `None` for the primary one.
    pub format: Option<String>,
    /// The part to read, counted from 0 among those of the format.
    pub part: usize,
    /// The pages, sheets or slides that are the whole; `None` for all.
    pub section: Option<SectionChoice>,
    /// Whether the text of a document is read instead of its original, if no format is named.
    pub prefers_text: bool,
}

/// A range in bytes, lines or tokens. No window has more than [`MAX_WINDOW_BYTES`] bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowRange {
    /// At most `length` bytes. Text ends after a line if a line ends in the last tenth of the
    /// window (and in its last KiB), else between characters; it has at least one character.
    Bytes {
        /// First byte. Inside a character, the next character.
        offset: u64,
        /// The most bytes.
        length: u64,
    },
    /// Whole lines. A line longer than `bytes` is split: then [`FormatWindow::next`] is an offset, and
    /// the client continues by bytes.
    Lines {
        /// The first line, counted from 1.
        start: u64,
        /// The most lines.
        most: Option<u64>,
        /// The most bytes.
        bytes: u64,
    },
    /// As much text as fits into an estimated `most` tokens; it ends like a window by bytes.
    Tokens {
        /// First byte.
        offset: u64,
        /// The most tokens.
        most: u64,
    },
}

/// The windows that one request reads.
#[derive(Debug)]
pub struct WindowSet {
    /// The window of the requested part.
    pub windows: Vec<FormatWindow>,
    /// How long it may be cached, and by whom.
    pub freshness: Freshness,
}

/// A window of one format.
#[derive(Debug, Clone)]
pub struct FormatWindow {
    /// The resource, described for this format.
    pub resource: Arc<Resource>,
    /// Whether it is text; then the bytes are UTF-8.
    pub is_text: bool,
    /// The content, `slice.length` bytes.
    pub bytes: Bytes,
    /// Which bytes out of how many, and which lines, for a window by lines.
    pub slice: Slice,
}

impl FormatWindow {
    /// The URI of the resource.
    pub fn uri(&self) -> &Uri {
        &self.resource.uri
    }

    /// The version; `None` if the source has none.
    pub fn etag(&self) -> Option<&str> {
        self.resource.etag.as_deref()
    }

    /// Whether this is the end of the resource.
    pub fn is_last(&self) -> bool {
        self.slice.next_offset().is_none() && self.slice.next_part().is_none()
    }

    /// Where the next window starts: at a line after whole lines, else at a byte, or at the next
    /// part.
    pub fn next(&self) -> Option<Continuation> {
        self.slice.continuation()
    }

    /// The content, if it is text.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|_| self.is_text)
    }

    /// Converts it into a part of a reading.
    pub fn into_part(self) -> Part {
        let source = ByteSource::Bytes(self.bytes);
        let body = if self.is_text { Body::Text(source) } else { Body::Blob(source) };
        Part { resource: self.resource, body, slice: Some(self.slice) }
    }
}

/// Reads the window `span` of `uri`, all of one version.
///
/// If the resource changes meanwhile, it is read again, once. If it changes again, or is not the
/// version that `span` pins, the error is [`ErrorKind::Changed`] and names the current etag. Blobs
/// have no lines or tokens, and collections without content have no windows; the error says what
/// to request instead.
pub async fn read_window(
    server: &Server,
    ctx: &Context,
    uri: &Uri,
    span: &WindowSpan,
) -> Result<WindowSet> {
    span.check()?;
    let given = read_format(server, ctx, uri, span).await;
    let document = match &given {
        _ if !span.prefers_text || span.format.is_some() || span.part > 0 => None,
        Ok(set) => set.windows.first().and_then(|window| window.resource.text_form()),
        // The version is that of the text, which has no lines or tokens as bytes.
        Err(error) if matches!(error.kind, ErrorKind::Changed | ErrorKind::Invalid) => {
            server.provider.stat(ctx, uri).await.ok().and_then(|resource| resource.text_form())
        }
        Err(_) => None,
    };
    let Some(form) = document else { return given };
    let text = WindowSpan { format: Some(form.to_owned()), ..span.clone() };
    match (read_format(server, ctx, uri, &text).await, given) {
        (Err(error), Ok(mut given)) if error.kind != ErrorKind::Changed => {
            for window in &mut given.windows {
                let words = format!("its text is left out: {error}");
                Arc::make_mut(&mut window.resource).notes.push(words);
            }
            Ok(given)
        }
        (read, _) => read,
    }
}

/// Reads the window in the format that it names, or else in the primary one.
async fn read_format(
    server: &Server,
    ctx: &Context,
    uri: &Uri,
    span: &WindowSpan,
) -> Result<WindowSet> {
    let mut walk = WindowReader::new(&*server.provider, ctx, uri);
    walk.format.clone_from(&span.format);
    walk.section.clone_from(&span.section);
    if span.etag.is_some() {
        walk.pinned_etag.clone_from(&span.etag);
        return read_part(server, &mut walk, span).await;
    }
    // The index is valid for one version. Pin it: the read fails if the resource has changed.
    let seen = server.line_index.etag(uri).filter(|_| span.section.is_none());
    if let (WindowRange::Lines { .. }, Some(seen)) = (&span.range, seen) {
        walk.pinned_etag = Some(seen);
        match read_part(server, &mut walk, span).await {
            Err(error) if error.kind == ErrorKind::Changed => server.line_index.remove(uri),
            given => return given,
        }
    }
    walk.pinned_etag = None;
    match read_part(server, &mut walk, span).await {
        Err(error) if error.kind == ErrorKind::Changed => {
            walk.pinned_etag = None;
            read_part(server, &mut walk, span).await
        }
        given => given,
    }
}

impl WindowSpan {
    /// A range of the primary part, of this version if one is given.
    pub fn new(range: WindowRange, etag: Option<String>) -> Self {
        let (format, section) = (None, None);
        Self { range, etag, format, part: 0, section, prefers_text: true }
    }

    fn check(&self) -> Result<()> {
        let words = match self.range {
            WindowRange::Bytes { length: 0, .. } | WindowRange::Lines { bytes: 0, .. } => {
                "a window of 0 bytes is empty; ask for at least 1"
            }
            WindowRange::Lines { start: 0, .. } => {
                "line 0 does not exist; lines are counted from 1"
            }
            WindowRange::Lines { most: Some(0), .. } => {
                "a window of 0 lines is empty; ask for at least 1"
            }
            WindowRange::Tokens { most: 0, .. } => {
                "a window of 0 tokens is empty; ask for at least 1"
            }
            _ => return Ok(()),
        };
        Err(Error::invalid(words))
    }
}

async fn read_part(
    server: &Server,
    walk: &mut WindowReader<'_>,
    span: &WindowSpan,
) -> Result<WindowSet> {
    let part = span.part;
    let window = match span.range {
        WindowRange::Bytes { offset, length } => Some(walk.read_bytes(part, offset, length).await?),
        WindowRange::Tokens { offset, most } => walk.read_tokens(part, offset, most).await?,
        WindowRange::Lines { start, most, bytes } => {
            walk.read_lines(part, &server.line_index, start, (most, bytes)).await?
        }
    };
    let Some(mut window) = window else {
        let words = "this resource is not text and has no lines or tokens; read it by bytes, with \
            offset and length or max_bytes";
        return Err(Error::invalid(words).about(walk.uri));
    };
    window.slice = window.slice.of_part(part, walk.parts);
    Ok(WindowSet { windows: vec![window], freshness: walk.freshness })
}
