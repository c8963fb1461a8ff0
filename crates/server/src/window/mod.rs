//! Windowed reads of a resource, by bytes, lines or tokens.
//!
//! Providers know only windows of bytes. This module builds the others from those, and reads little
//! more than it returns. A client that follows [`Piece::next`] from window to window gets the
//! whole text in order, whatever sizes it asks for.
//!
//! One function decides where a text may be cut: `cut::end`.

mod cut;
mod lines;
mod marks;
mod walk;

use std::sync::Arc;

use bytes::Bytes;
use resource::{
    Body, Context, Error, ErrorKind, Freshness, Next, Part, Resource, Result, Slice, Source, Uri,
};

use crate::server::Server;
pub(crate) use marks::Marks;
use walk::Walk;

/// The most bytes in one window, whatever the request.
pub const MOST: u64 = 1 << 20;

/// A request for a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The range, and its unit.
    pub by: By,
    /// The version to read. Without one, any version, but all bytes are of the same one.
    pub etag: Option<String>,
}

/// A range in bytes, lines or tokens. No window has more than [`MOST`] bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// At most `length` bytes. Text ends after a line if a line ends in the last tenth of the
    /// window (and in its last KiB), else between characters; it has at least one character.
    Bytes {
        /// First byte. Inside a character, the next character.
        offset: u64,
        /// The most bytes.
        length: u64,
    },
    /// Whole lines. A line longer than `bytes` is split: then [`Piece::next`] is an offset, and
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

/// The same window of each format, the primary format first. Windows by lines or tokens leave out
/// formats that are not text.
#[derive(Debug)]
pub struct Windowed {
    /// One window per format; never empty.
    pub pieces: Vec<Piece>,
    /// How long it may be cached, and by whom.
    pub freshness: Freshness,
}

/// A window of one format.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The resource, described for this format.
    pub resource: Arc<Resource>,
    /// Whether it is text; then the bytes are UTF-8.
    pub is_text: bool,
    /// The content, `slice.length` bytes.
    pub bytes: Bytes,
    /// Which bytes out of how many, and which lines, for a window by lines.
    pub slice: Slice,
}

impl Piece {
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
        self.slice.next().is_none()
    }

    /// Where the next window starts: at a line after whole lines, else at a byte.
    pub fn next(&self) -> Option<Next> {
        let line = self.slice.next_line().map(Next::Line);
        line.or_else(|| self.slice.next().map(Next::Offset))
    }

    /// The content, if it is text.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|_| self.is_text)
    }

    /// Converts it into a part of a reading.
    pub fn into_part(self) -> Part {
        let source = Source::Bytes(self.bytes);
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
pub async fn read(server: &Server, ctx: &Context, uri: &Uri, span: &Span) -> Result<Windowed> {
    span.check()?;
    let mut walk = Walk::new(&*server.provider, ctx, uri);
    if span.etag.is_some() {
        walk.pin.clone_from(&span.etag);
        return give(server, &mut walk, &span.by).await;
    }
    // The index is valid for one version. Pin it: the read fails if the resource has changed.
    if let (By::Lines { .. }, Some(seen)) = (&span.by, server.marks.etag(uri)) {
        walk.pin = Some(seen);
        match give(server, &mut walk, &span.by).await {
            Err(error) if error.kind == ErrorKind::Changed => server.marks.forget(uri),
            given => return given,
        }
    }
    walk.pin = None;
    match give(server, &mut walk, &span.by).await {
        Err(error) if error.kind == ErrorKind::Changed => {
            walk.pin = None;
            give(server, &mut walk, &span.by).await
        }
        given => given,
    }
}

impl Span {
    fn check(&self) -> Result<()> {
        let words = match self.by {
            By::Bytes { length: 0, .. } | By::Lines { bytes: 0, .. } => {
                "a window of 0 bytes is empty; ask for at least 1"
            }
            By::Lines { start: 0, .. } => "line 0 does not exist; lines are counted from 1",
            By::Lines { most: Some(0), .. } => "a window of 0 lines is empty; ask for at least 1",
            By::Tokens { most: 0, .. } => "a window of 0 tokens is empty; ask for at least 1",
            _ => return Ok(()),
        };
        Err(Error::invalid(words))
    }
}

async fn give(server: &Server, walk: &mut Walk<'_>, by: &By) -> Result<Windowed> {
    let mut pieces = Vec::new();
    let mut part = 0;
    while part == 0 || part < walk.parts {
        let piece = match *by {
            By::Bytes { offset, length } => Some(walk.bytes(part, offset, length).await?),
            By::Tokens { offset, most } => walk.tokens(part, offset, most).await?,
            By::Lines { start, most, bytes } => {
                walk.lines(part, &server.marks, start, (most, bytes)).await?
            }
        };
        pieces.extend(piece);
        part += 1;
    }
    if pieces.is_empty() {
        let words = "this resource is not text and has no lines or tokens; read it by bytes, with \
            offset and length or max_bytes";
        return Err(Error::invalid(words).about(walk.uri));
    }
    Ok(Windowed { pieces, freshness: walk.freshness })
}
