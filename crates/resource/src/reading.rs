//! Read requests and results: content, formats, byte windows and slices.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_core::Stream;

use crate::description::Resource;
use crate::error::{Error, Result};
use crate::page::Freshness;
use crate::relay::Json;

/// The result of a read.
#[derive(Debug)]
pub struct Reading {
    /// The content.
    pub content: Content,
    /// How long it may be cached, and by whom.
    pub freshness: Freshness,
}

/// What a read returns: content, a collection without content, or a request for input.
#[derive(Debug)]
pub enum Content {
    /// The content, once per format; never empty, the primary format first. A collection that has
    /// content of its own may append parts of its members.
    Parts(Vec<Part>),
    /// A collection without content of its own; list it to get its members.
    Collection(Arc<Resource>),
    /// The upstream server's `input_required` result, verbatim: the caller must answer it and
    /// read again.
    InputRequired(Json),
}

/// The content in one format.
#[derive(Debug)]
pub struct Part {
    /// The description of the resource in this format.
    pub resource: Arc<Resource>,
    /// The content.
    pub body: Body,
    /// The returned byte range, if the request named a window.
    pub slice: Option<Slice>,
}

/// Content as text or as bytes.
#[derive(Debug)]
pub enum Body {
    /// UTF-8; every chunk of a stream holds whole characters.
    Text(ByteSource),
    /// Binary data.
    Blob(ByteSource),
}

/// Where the bytes come from: memory, or a stream that the transport pulls while it sends.
pub enum ByteSource {
    /// All bytes, in memory.
    Bytes(Bytes),
    /// Chunks in order; at least the first is ready or cheap to get.
    Stream(Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>),
}

impl fmt::Debug for ByteSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

/// How much of a resource to read. Counted in bytes of the output: raw bytes of a blob, UTF-8 of
/// a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Window {
    /// All of it, if it is within `limit`.
    Whole {
        /// Anything larger fails as `TooLarge`.
        limit: u64,
    },
    /// A byte range of it.
    Part {
        /// The first byte. An offset inside a character moves to the next one.
        offset: u64,
        /// The maximum length. The range ends between characters and holds at least one.
        length: u64,
        /// The version to read; another one fails as `Changed`.
        etag: Option<String>,
    },
}

/// The byte range of the whole that a read returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
    /// The number of bytes of the whole.
    pub total: u64,
    /// The lines of the range, if the reader counted lines.
    pub lines: Option<LineRange>,
}

/// The lines of a byte range. A line ends after its `\n`, the last one at the end of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRange {
    /// The number of the first line, counted from 1.
    pub start: u64,
    /// The number of lines, including one that is cut off.
    pub count: u64,
    /// Whether the last line is cut off because it is too long for one read.
    pub truncated: bool,
}

/// Where the next read continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// At this byte.
    Offset(u64),
    /// At the beginning of this line, counted from 1.
    Line(u64),
}

impl Window {
    /// Applies the window to a text in memory that has this version. Returns the text and, for a
    /// partial window, its range.
    pub fn apply_to_text(&self, text: &str, version: &str) -> Result<(String, Option<Slice>)> {
        let total = text.len();
        match self {
            Self::Whole { limit } if total as u64 <= *limit => Ok((text.to_owned(), None)),
            Self::Whole { limit } => Err(Error::too_large(total as u64, *limit)),
            Self::Part { etag: Some(pinned), .. } if pinned != version => {
                Err(Error::changed(version))
            }
            Self::Part { offset, length, .. } => {
                let clamp = |at: u64| usize::try_from(at).unwrap_or(total).min(total);
                let start = text.ceil_char_boundary(clamp(*offset));
                let least = text.ceil_char_boundary(total.min(start + 1));
                let end = text.floor_char_boundary(clamp((start as u64).saturating_add(*length)));
                let end = end.max(least);
                let slice = Slice::new(start as u64, (end - start) as u64, total as u64);
                Ok((text[start..end].to_owned(), Some(slice)))
            }
        }
    }
}

impl Slice {
    /// A range of `length` of `total` bytes from `offset` on, without line numbers.
    pub fn new(offset: u64, length: u64, total: u64) -> Self {
        Self { offset, length, total, lines: None }
    }

    /// The offset where the next range begins; `None` at the end.
    pub fn next_offset(&self) -> Option<u64> {
        let end = self.offset + self.length;
        (end < self.total).then_some(end)
    }

    /// The line where the next range begins; `None` at the end, inside a line, or without line
    /// numbers.
    pub fn next_line(&self) -> Option<u64> {
        self.next_offset()?;
        let lines = self.lines.as_ref().filter(|lines| !lines.truncated)?;
        Some(lines.start + lines.count)
    }

    /// Where the next range begins: at a line after whole lines, else at a byte; `None` at the end.
    pub fn continuation(&self) -> Option<Continuation> {
        let line = self.next_line().map(Continuation::Line);
        line.or_else(|| self.next_offset().map(Continuation::Offset))
    }
}
