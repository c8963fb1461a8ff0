//! Which stretch of a resource is given, if it is asked for by bytes, lines or tokens?
//!
//! Providers know windows of bytes; everything else is made of those here, so that nothing but
//! what is needed is read. Whoever follows [`Piece::next`] from window to window gets the text,
//! whole and in order, in whatever sizes it is asked for.
//!
//! Where a window ends is decided in one place, `cut`.

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

/// The most bytes that one window has, whatever is asked for.
pub const MOST: u64 = 1 << 20;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Which stretch.
    pub by: By,
    /// The version it must be of. Without one it is of any version, but of a single one.
    pub etag: Option<String>,
}

/// A stretch, in the measure of whoever asks. No window has more than [`MOST`] bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// At most `length` bytes. A text ends behind a line if one ends in the last tenth of the
    /// window (and the last KiB of it), else between characters, with one at the least.
    Bytes {
        /// Where it begins. Inside a character it moves to the next one.
        offset: u64,
        /// How long it may be.
        length: u64,
    },
    /// Whole lines. A line that is longer than `bytes` is given in pieces: then [`Piece::next`] is
    /// an offset, and whoever goes on does so by bytes.
    Lines {
        /// The first line, counted from 1.
        start: u64,
        /// How many lines at most.
        most: Option<u64>,
        /// How many bytes at most.
        bytes: u64,
    },
    /// As much as is estimated to be at most so many tokens; it ends like one by bytes.
    Tokens {
        /// Where it begins, in bytes.
        offset: u64,
        /// How many tokens at most.
        most: u64,
    },
}

/// What is given: the same window of each format, the primary one first. By lines and by tokens,
/// formats that are no text are left out.
#[derive(Debug)]
pub struct Windowed {
    /// The window, once per format; never empty.
    pub pieces: Vec<Piece>,
    /// How long it may be kept, and by whom.
    pub freshness: Freshness,
}

/// A window of one format.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The resource, described for this format.
    pub resource: Arc<Resource>,
    /// Whether it is text, and the bytes are UTF-8.
    pub is_text: bool,
    /// The content, `slice.length` bytes of it.
    pub bytes: Bytes,
    /// Which bytes of how many, and which lines if they were asked for.
    pub slice: Slice,
}

impl Piece {
    /// What it is a window of.
    pub fn uri(&self) -> &Uri {
        &self.resource.uri
    }

    /// The version; nothing if the source knows of none.
    pub fn etag(&self) -> Option<&str> {
        self.resource.etag.as_deref()
    }

    /// Whether nothing follows.
    pub fn is_last(&self) -> bool {
        self.slice.next().is_none()
    }

    /// Where to go on: at a line if lines were asked for and whole ones given, else at a byte.
    pub fn next(&self) -> Option<Next> {
        let line = self.slice.next_line().map(Next::Line);
        line.or_else(|| self.slice.next().map(Next::Offset))
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|_| self.is_text)
    }

    /// The same as a part of a reading.
    pub fn into_part(self) -> Part {
        let source = Source::Bytes(self.bytes);
        let body = if self.is_text { Body::Text(source) } else { Body::Blob(source) };
        Part { resource: self.resource, body, slice: Some(self.slice) }
    }
}

/// The window of `uri` that `span` asks for, all of one version.
///
/// A resource that changes while it is read is read anew once; if it changes again, or is no
/// longer the version that `span` pins, that is an error of the kind [`ErrorKind::Changed`] which
/// names the present etag. Blobs have no lines and no tokens, and collections without content no
/// windows at all; the words of the error say what to ask for instead.
pub async fn read(server: &Server, ctx: &Context, uri: &Uri, span: &Span) -> Result<Windowed> {
    span.check()?;
    let mut walk = Walk::new(&*server.provider, ctx, uri);
    if span.etag.is_some() {
        walk.pin.clone_from(&span.etag);
        return give(server, &mut walk, &span.by).await;
    }
    // Places that were seen before are good for that version; whether it still is, reading tells.
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
                "a window of 0 bytes holds nothing; ask for 1 at the least"
            }
            By::Lines { start: 0, .. } => "lines are counted from 1",
            By::Lines { most: Some(0), .. } => "0 lines hold nothing; ask for 1 at the least",
            By::Tokens { most: 0, .. } => "0 tokens hold nothing; ask for 1 at the least",
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
        let words = "this resource is no text and has neither lines nor tokens; read it by bytes, \
            with offset and a length or max_bytes";
        return Err(Error::invalid(words).about(walk.uri));
    }
    Ok(Windowed { pieces, freshness: walk.freshness })
}
