//! Read requests and results: content, formats, byte windows and slices.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_core::Stream;

use crate::description::Resource;
use crate::error::{Error, Result};
use crate::page::Freshness;
use crate::relay::Json;
use crate::section::SectionChoice;
use crate::unknown_members::UnknownMembers;

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
    /// What an upstream server sent along with the content, at the top level and in `_meta`.
    pub extra: UnknownMembers,
}

impl Reading {
    /// A reading that holds all parts there are.
    pub fn new(content: Content, freshness: Freshness) -> Self {
        let total_parts = match &content {
            Content::Parts(parts) => parts.len(),
            Content::Collection(_) | Content::InputRequired(_) => 0,
        };
        Self { content, freshness, total_parts, extra: UnknownMembers::default() }
    }

    /// A reading of a text in memory, the only format of `resource`.
    pub fn of_text(
        resource: Resource,
        text: String,
        request: &ReadRequest,
        freshness: Freshness,
    ) -> Result<Self> {
        request.select(&mut vec![&resource], |resource| resource.mime.as_deref())?;
        let checked = request.window.check(resource.etag.as_deref(), text.len() as u64);
        checked.map_err(|error| error.about(&resource.uri))?;
        let (text, slice) = request.window.cut(&text.into(), true);
        let body = Body::Text(ByteSource::Bytes(text));
        let part = Part { resource: Arc::new(resource), body, slice };
        Ok(Self::new(Content::Parts(vec![part]), freshness))
    }

    /// Keeps the parts that `keeps` accepts, which may also change them, and counts the others off.
    pub fn retain_parts(&mut self, keeps: impl FnMut(&mut Part) -> bool) {
        let Content::Parts(parts) = &mut self.content else { return };
        let found = parts.len();
        parts.retain_mut(keeps);
        let removed = found - parts.len();
        self.count_off(removed);
    }

    /// Counts off parts that were removed. The number comes from the source, which may have counted
    /// fewer parts than it sent.
    pub fn count_off(&mut self, removed: usize) {
        let left = match &self.content {
            Content::Parts(parts) => parts.len(),
            Content::Collection(_) | Content::InputRequired(_) => 0,
        };
        self.total_parts = self.total_parts.saturating_sub(removed).max(left);
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
    /// The pages, sheets or slides wanted; `None` for all.
    pub section: Option<SectionChoice>,
}

impl ReadRequest {
    /// Requests everything that is within `limit` bytes.
    pub fn whole(limit: u64) -> Self {
        Self::from(Window::Whole { limit })
    }

    /// Whether it names a format or sections, which a source may have to make.
    pub fn wants_form(&self) -> bool {
        self.format.is_some() || self.section.is_some()
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
            // Two formats of one type differ in parameters: the one that is named in full wins.
            let is_exact = |own: &str| own.eq_ignore_ascii_case(wanted.trim());
            if parts.iter().any(|part| mime(part).is_some_and(is_exact)) {
                parts.retain(|part| mime(part).is_some_and(is_exact));
            } else {
                parts.retain(|part| mime(part).is_some_and(|own| is_same_type(own, wanted)));
            }
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
        Self { window, format: None, part: None, section: None }
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

impl Body {
    /// Text or a blob from this source.
    pub fn new(source: ByteSource, is_text: bool) -> Self {
        if is_text { Self::Text(source) } else { Self::Blob(source) }
    }
}

impl Window {
    /// Fails if the window pins another version than `etag`, or if a whole read of `total` bytes
    /// exceeds its limit.
    pub fn check(&self, etag: Option<&str>, total: u64) -> Result<()> {
        match self {
            Self::Part { etag: Some(pinned), .. } if Some(pinned.as_str()) != etag => {
                Err(Error::changed(etag.unwrap_or_default()))
            }
            Self::Whole { limit } if total > *limit => Err(Error::too_large(total, *limit)),
            Self::Part { .. } | Self::Whole { .. } => Ok(()),
        }
    }

    /// Cuts the window out of content in memory, without copying, text between characters.
    /// Returns the range too, unless the window is the whole.
    pub fn cut(&self, bytes: &Bytes, is_text: bool) -> (Bytes, Option<Slice>) {
        let Self::Part { offset, length, .. } = self else { return (bytes.clone(), None) };
        let byte = |at: u64| {
            Ok::<_, Infallible>(usize::try_from(at).ok().and_then(|at| bytes.get(at)).copied())
        };
        let Ok(slice) = Slice::aligned(bytes.len() as u64, (*offset, *length), is_text, byte);
        let start = slice.offset as usize;
        (bytes.slice(start..start + slice.length as usize), Some(slice))
    }
}

impl Slice {
    /// A range of `length` of `total` bytes from `offset` on, without line numbers.
    pub fn new(offset: u64, length: u64, total: u64) -> Self {
        Self { offset, length, total, lines: None, part: 0, total_parts: 1 }
    }

    /// The range for a window of this offset and length. In a text it starts at the offset or at
    /// the next character, ends between characters, and holds at least one. `byte` reads the byte
    /// at an offset inside the content; `None` if the content has become shorter.
    pub fn aligned<E>(
        total: u64,
        (offset, length): (u64, u64),
        is_text: bool,
        mut byte: impl FnMut(u64) -> Result<Option<u8>, E>,
    ) -> Result<Self, E> {
        let mut is_inside_character = |at: u64| {
            let is_continuation = |byte| byte & 0b1100_0000 == 0b1000_0000;
            Ok(is_text && at < total && byte(at)?.is_some_and(is_continuation))
        };
        // A character has at most four bytes; the bound also holds if a file stops being text.
        let mut edge = |from: u64| {
            let mut at = from;
            while at < from.saturating_add(3).min(total) && is_inside_character(at)? {
                at += 1;
            }
            Ok(at)
        };
        let start = edge(offset.min(total))?;
        let least = if start < total { edge(start + 1)? } else { total };
        let mut end = start.saturating_add(length).min(total);
        while end > least && is_inside_character(end)? {
            end -= 1;
        }
        Ok(Self::new(start, end.max(least) - start, total))
    }

    /// Says which of how many parts the range is of.
    #[must_use]
    pub fn of_part(self, part: usize, total_parts: usize) -> Self {
        Self { part, total_parts, ..self }
    }

    /// The part to read after this one; `None` before the end of this one, and after the last.
    pub fn next_part(&self) -> Option<usize> {
        let next = self.part.checked_add(1)?;
        (self.next_offset().is_none() && next < self.total_parts).then_some(next)
    }

    /// The offset where the next range of the part begins; `None` at its end.
    pub fn next_offset(&self) -> Option<u64> {
        self.offset.checked_add(self.length).filter(|end| *end < self.total)
    }

    /// The line where the next range begins; `None` at the end, inside a line, or without line
    /// numbers.
    pub fn next_line(&self) -> Option<u64> {
        self.next_offset()?;
        let lines = self.lines.as_ref().filter(|lines| !lines.truncated)?;
        lines.start.checked_add(lines.count)
    }

    /// Where the next range begins: at a line after whole lines, else at a byte, or at the next
    /// part; `None` at the end.
    pub fn continuation(&self) -> Option<Continuation> {
        let line = self.next_line().map(Continuation::Line);
        let offset = || self.next_offset().map(Continuation::Offset);
        line.or_else(offset).or_else(|| self.next_part().map(Continuation::Part))
    }
}

#[cfg(test)]
mod tests;
