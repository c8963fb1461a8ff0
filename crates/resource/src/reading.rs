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
    /// How many parts there are of the wanted format. A window may hold fewer; the others are read
    /// by their number.
    pub total_parts: usize,
}

impl Reading {
    /// A reading that holds all parts there are.
    pub fn new(content: Content, freshness: Freshness) -> Self {
        let total_parts = match &content {
            Content::Parts(parts) => parts.len(),
            Content::Collection(_) | Content::InputRequired(_) => 0,
        };
        Self { content, freshness, total_parts }
    }
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

/// What a read wants of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRequest {
    /// How much of each part.
    pub window: Window,
    /// The one format wanted, a MIME type; `None` for all formats.
    pub format: Option<String>,
    /// The one part wanted, counted from 0 among those of the wanted format; `None` for all parts
    /// of a whole reading, and for the ones that the source chooses of a window.
    pub part: Option<usize>,
}

impl ReadRequest {
    /// Requests everything that is within `limit` bytes.
    pub fn whole(limit: u64) -> Self {
        Self::from(Window::Whole { limit })
    }

    /// Requests this window instead.
    #[must_use]
    pub fn with_window(&self, window: Window) -> Self {
        Self { window, ..self.clone() }
    }

    /// Keeps the wanted ones of `parts`, which `mime` tells the format of. Returns how many there
    /// are of the wanted format. An error, if there is none.
    pub fn select<T>(
        &self,
        parts: &mut Vec<T>,
        mime: impl Fn(&T) -> Option<&str>,
    ) -> Result<usize> {
        if let Some(wanted) = &self.format {
            parts.retain(|part| mime(part).is_some_and(|own| is_same_type(own, wanted)));
            if parts.is_empty() {
                let why = format!("the resource has no format {wanted:?}");
                return Err(Error::invalid(why));
            }
        }
        let total = parts.len();
        if let Some(wanted) = self.part {
            if wanted >= total {
                let why = format!("the resource has {total} parts, counted from 0");
                return Err(Error::invalid(why));
            }
            let mut at = 0;
            parts.retain(|_| {
                at += 1;
                at - 1 == wanted
            });
        }
        Ok(total)
    }
}

/// Whether two MIME types name one format, parameters aside.
fn is_same_type(own: &str, wanted: &str) -> bool {
    let essence = |mime: &str| mime.split(';').next().unwrap_or(mime).trim().to_ascii_lowercase();
    essence(own) == essence(wanted)
}

impl From<Window> for ReadRequest {
    fn from(window: Window) -> Self {
        Self { window, format: None, part: None }
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
    /// Which part of the resource the range is of, counted from 0.
    pub part: usize,
    /// The number of parts of the resource.
    pub total_parts: usize,
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
    /// At the beginning of this part, counted from 0.
    Part(usize),
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
        Self { offset, length, total, lines: None, part: 0, total_parts: 1 }
    }

    /// Says which of how many parts the range is of.
    #[must_use]
    pub fn of_part(self, part: usize, total_parts: usize) -> Self {
        Self { part, total_parts, ..self }
    }

    /// The part to read after this one; `None` before the end of this one, and after the last.
    pub fn next_part(&self) -> Option<usize> {
        let next = self.part + 1;
        (self.next_offset().is_none() && next < self.total_parts).then_some(next)
    }

    /// The offset where the next range of the part begins; `None` at its end.
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

    /// Where the next range begins: at a line after whole lines, else at a byte, or at the next
    /// part; `None` at the end.
    pub fn continuation(&self) -> Option<Continuation> {
        let line = self.next_line().map(Continuation::Line);
        let offset = || self.next_offset().map(Continuation::Offset);
        line.or_else(offset).or_else(|| self.next_part().map(Continuation::Part))
    }
}
