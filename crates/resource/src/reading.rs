//! What is given when a resource is opened?

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_core::Stream;

use crate::description::Resource;
use crate::error::{Error, Result};
use crate::page::Freshness;
use crate::relay::Json;

/// The answer to a read.
#[derive(Debug)]
pub struct Reading {
    /// What was found.
    pub content: Content,
    /// How long it may be kept, and by whom.
    pub freshness: Freshness,
}

/// A resource's own content, or the fact that it has none but what lies in it.
#[derive(Debug)]
pub enum Content {
    /// The content, once per format; never empty, the primary format first. A collection that has
    /// content of its own may give some of what lies in it behind that.
    Parts(Vec<Part>),
    /// A collection without content of its own; what lies in it is had by listing.
    Collection(Arc<Resource>),
    /// A question that must be answered first, in the words of whoever asks it.
    Question(Json),
}

/// The content in one format.
#[derive(Debug)]
pub struct Part {
    /// The resource, described for this format.
    pub resource: Arc<Resource>,
    /// The bytes.
    pub body: Body,
    /// Which stretch of the whole this is, if a window was asked for.
    pub slice: Option<Slice>,
}

/// Content as text or as bytes.
#[derive(Debug)]
pub enum Body {
    /// UTF-8; every chunk of a stream holds whole characters.
    Text(Source),
    /// Anything else.
    Blob(Source),
}

/// Where the bytes come from: memory, or a stream that is read as it is sent.
pub enum Source {
    /// All of it, at hand.
    Bytes(Bytes),
    /// Chunks in order; at least the first is at hand or cheap to get.
    Stream(Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

/// How much of a resource is asked for. Counted in bytes of what is given: raw bytes of a blob,
/// UTF-8 of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Window {
    /// All of it, unless it is over `limit`.
    Whole {
        /// More than this is refused as too large.
        limit: u64,
    },
    /// A stretch of it.
    Part {
        /// Where it begins. Inside a character it moves to the next one.
        offset: u64,
        /// How long it may be. It ends between characters, with one at the least.
        length: u64,
        /// The version it must be of.
        etag: Option<String>,
    },
}

/// Which stretch of the whole was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
    /// How long the whole is.
    pub total: u64,
    /// Which lines these are, if lines were counted.
    pub lines: Option<Lines>,
}

/// Which lines a stretch holds. A line ends behind its `\n`, the last one at the end of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// The number of the first, counted from 1.
    pub start: u64,
    /// How many there are, one that is cut off included.
    pub count: u64,
    /// Whether the last one is cut off: it is too long to be given in one piece.
    pub cut: bool,
}

/// Where to go on behind a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At this byte.
    Offset(u64),
    /// At the beginning of this line, counted from 1.
    Line(u64),
}

impl Window {
    /// What it shows of a text that is at hand and has this version, and which stretch that is.
    pub fn cut(&self, text: &str, version: &str) -> Result<(String, Option<Slice>)> {
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
    /// `length` of `total` bytes from `offset` on, in which nobody counted lines.
    pub fn new(offset: u64, length: u64, total: u64) -> Self {
        Self { offset, length, total, lines: None }
    }

    /// Where the following stretch begins; nothing at the end.
    pub fn next(&self) -> Option<u64> {
        let end = self.offset + self.length;
        (end < self.total).then_some(end)
    }

    /// The line at which the following stretch begins; nothing at the end, inside a line, or where
    /// lines were not counted.
    pub fn next_line(&self) -> Option<u64> {
        self.next()?;
        let lines = self.lines.as_ref().filter(|lines| !lines.cut)?;
        Some(lines.start + lines.count)
    }
}
