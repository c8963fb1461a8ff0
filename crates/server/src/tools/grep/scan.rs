//! Streaming line scanner: finds matching lines in text that arrives in chunks.

use bytes::{Bytes, BytesMut};
use memchr::{memchr, memchr_iter, memrchr};

use super::expression::Expression;

/// Maximum bytes of context returned with one match.
const SHOWN: usize = 8 << 10;

/// The scanner of one text.
pub(super) struct Scan<'a> {
    expression: &'a Expression,
    /// Context lines before and after a match.
    around: usize,
    /// Buffered text, starting at a line start, and its offset in the whole text.
    held: Bytes,
    base: u64,
    /// Scan position in the buffer, and the number of the line that starts there.
    at: usize,
    line: u64,
    /// Limit of the scan until the next chunk: behind it, context lines may still be missing.
    end: usize,
    is_last: bool,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    /// The line number, counted from 1.
    pub(super) line: u64,
    /// The line without its line ending; an excerpt around the match if the line is too long.
    pub(super) text: String,
    /// The line with its context.
    pub(super) around: Stretch,
}

/// Consecutive lines of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The start, as a byte offset and as a line number.
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) text: String,
    /// Whether the last line is truncated.
    pub(super) cut: bool,
}

impl<'a> Scan<'a> {
    /// A scanner at the start of a text.
    pub(super) fn new(expression: &'a Expression, around: usize) -> Self {
        let held = Bytes::new();
        Self { expression, around, held, base: 0, at: 0, line: 1, end: 0, is_last: false }
    }

    /// Appends a chunk.
    pub(super) fn feed(&mut self, chunk: Bytes, is_last: bool) {
        let keep = back(&self.held, self.at, self.around);
        self.base += keep as u64;
        self.at -= keep;
        let rest = self.held.slice(keep..);
        self.held = if rest.is_empty() {
            chunk
        } else {
            let mut joined = BytesMut::with_capacity(rest.len() + chunk.len());
            joined.extend_from_slice(&rest);
            joined.extend_from_slice(&chunk);
            joined.freeze()
        };
        if self.base == 0 && self.at == 0 && self.held.starts_with(b"\xef\xbb\xbf") {
            (self.base, self.held) = (3, self.held.slice(3..));
        }
        self.is_last = is_last;
        self.end = if is_last {
            self.held.len()
        } else {
            let whole = memrchr(b'\n', &self.held).map_or(0, |at| at + 1);
            back(&self.held, whole, self.around).max(self.at)
        };
    }

    /// The next matching line in the buffered text.
    pub(super) fn next(&mut self) -> Option<Hit> {
        if self.at >= self.end {
            return None;
        }
        let found = self.expression.end(&self.held, self.at..self.end);
        let start = found.map(|found| {
            let before = memrchr(b'\n', &self.held[self.at..found]);
            before.map_or(self.at, |before| self.at + before + 1)
        });
        // There is no line behind the final line break.
        let Some(start) = start.filter(|start| *start < self.end) else {
            if !self.is_last {
                self.line += lines(&self.held[self.at..self.end]);
            }
            self.at = self.end;
            return None;
        };
        let stop = forward(&self.held, start, 1);
        let line = self.line + lines(&self.held[self.at..start]);
        (self.at, self.line) = (stop, line + 1);
        Some(self.hit(line, start, stop))
    }

    fn hit(&self, line: u64, start: usize, stop: usize) -> Hit {
        let stretch = |from: usize, to: usize, cut| Stretch {
            offset: self.base + from as u64,
            line: line - lines(&self.held[from..start.max(from)]),
            text: String::from_utf8_lossy(&self.held[from..to]).into_owned(),
            cut,
        };
        let whole = (back(&self.held, start, self.around), forward(&self.held, stop, self.around));
        let around = if whole.1 - whole.0 <= SHOWN {
            stretch(whole.0, whole.1, false)
        } else if stop - start <= SHOWN {
            stretch(start, stop, false)
        } else {
            let at = start + self.expression.start(&self.held[start..stop]);
            let from = character(&self.held, at.saturating_sub(SHOWN / 4).max(start));
            let to = character(&self.held, (from + SHOWN).min(stop));
            stretch(from, to, to < stop)
        };
        let is_shown = stop - start <= SHOWN;
        let text = if is_shown {
            String::from_utf8_lossy(&self.held[start..stop]).into_owned()
        } else {
            around.text.clone()
        };
        let text = text.trim_end_matches(['\r', '\n']).to_owned();
        Hit { line, text, around }
    }
}

fn lines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// The start of the line `count` lines before the one that starts at `at`.
fn back(text: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        if at == 0 {
            break;
        }
        at = memrchr(b'\n', &text[..at - 1]).map_or(0, |before| before + 1);
    }
    at
}

/// The start of the line `count` lines after the one at `at`.
fn forward(text: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        at = memchr(b'\n', &text[at..]).map_or(text.len(), |behind| at + behind + 1);
    }
    at
}

/// The start of the UTF-8 character that contains `at`.
fn character(text: &[u8], mut at: usize) -> usize {
    while at > 0 && text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests;
