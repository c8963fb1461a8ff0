//! Streaming line scanner: finds matching lines in text that arrives in chunks.

use bytes::{Bytes, BytesMut};
use memchr::{memchr, memchr_iter, memrchr};

use super::line_regex::LineRegex;

/// Maximum bytes of context returned with one match.
const MAX_CONTEXT_BYTES: usize = 8 << 10;

/// The scanner of one text.
pub(super) struct LineScanner<'a> {
    expression: &'a LineRegex,
    /// Context lines before and after a match.
    context_lines: usize,
    /// Buffered text, starting at a line start, and its offset in the whole text.
    buffer: Bytes,
    buffer_offset: u64,
    /// Scan position in the buffer, and the number of the line that starts there.
    position: usize,
    line: u64,
    /// Limit of the scan until the next chunk: behind it, context lines may still be missing.
    scan_limit: usize,
    is_last: bool,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineMatch {
    /// The line number, counted from 1.
    pub(super) line: u64,
    /// The line without its line ending; an excerpt around the match if the line is too long.
    pub(super) text: String,
    /// The line with its context.
    pub(super) context: ContextLines,
}

/// Consecutive lines of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContextLines {
    /// The start, as a byte offset and as a line number.
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) text: String,
    /// Whether the last line is truncated.
    pub(super) is_truncated: bool,
}

impl<'a> LineScanner<'a> {
    /// A scanner at the start of a text.
    pub(super) fn new(expression: &'a LineRegex, context_lines: usize) -> Self {
        let buffer = Bytes::new();
        Self {
            expression,
            context_lines,
            buffer,
            buffer_offset: 0,
            position: 0,
            line: 1,
            scan_limit: 0,
            is_last: false,
        }
    }

    /// Appends a chunk.
    pub(super) fn push_chunk(&mut self, chunk: Bytes, is_last: bool) {
        let keep = line_start_before(&self.buffer, self.position, self.context_lines);
        self.buffer_offset += keep as u64;
        self.position -= keep;
        let rest = self.buffer.slice(keep..);
        self.buffer = if rest.is_empty() {
            chunk
        } else {
            let mut joined = BytesMut::with_capacity(rest.len() + chunk.len());
            joined.extend_from_slice(&rest);
            joined.extend_from_slice(&chunk);
            joined.freeze()
        };
        if self.buffer_offset == 0 && self.position == 0 && self.buffer.starts_with(b"\xef\xbb\xbf")
        {
            (self.buffer_offset, self.buffer) = (3, self.buffer.slice(3..));
        }
        self.is_last = is_last;
        self.scan_limit = if is_last {
            self.buffer.len()
        } else {
            let whole = memrchr(b'\n', &self.buffer).map_or(0, |at| at + 1);
            line_start_before(&self.buffer, whole, self.context_lines).max(self.position)
        };
    }

    /// The next matching line in the buffered text.
    pub(super) fn next_match(&mut self) -> Option<LineMatch> {
        if self.position >= self.scan_limit {
            return None;
        }
        let found = self.expression.first_match_end(&self.buffer, self.position..self.scan_limit);
        let start = found.map(|found| {
            let before = memrchr(b'\n', &self.buffer[self.position..found]);
            before.map_or(self.position, |before| self.position + before + 1)
        });
        // There is no line behind the final line break.
        let Some(start) = start.filter(|start| *start < self.scan_limit) else {
            if !self.is_last {
                self.line += count_newlines(&self.buffer[self.position..self.scan_limit]);
            }
            self.position = self.scan_limit;
            return None;
        };
        let stop = line_start_after(&self.buffer, start, 1);
        let line = self.line + count_newlines(&self.buffer[self.position..start]);
        (self.position, self.line) = (stop, line + 1);
        Some(self.build_match(line, start, stop))
    }

    fn build_match(&self, line: u64, start: usize, stop: usize) -> LineMatch {
        let stretch = |from: usize, to: usize, cut| ContextLines {
            offset: self.buffer_offset + from as u64,
            line: line - count_newlines(&self.buffer[from..start.max(from)]),
            text: String::from_utf8_lossy(&self.buffer[from..to]).into_owned(),
            is_truncated: cut,
        };
        let whole = (
            line_start_before(&self.buffer, start, self.context_lines),
            line_start_after(&self.buffer, stop, self.context_lines),
        );
        let around = if whole.1 - whole.0 <= MAX_CONTEXT_BYTES {
            stretch(whole.0, whole.1, false)
        } else if stop - start <= MAX_CONTEXT_BYTES {
            stretch(start, stop, false)
        } else {
            let at = start + self.expression.first_match_start(&self.buffer[start..stop]);
            let from =
                char_start(&self.buffer, at.saturating_sub(MAX_CONTEXT_BYTES / 4).max(start));
            let to = char_start(&self.buffer, (from + MAX_CONTEXT_BYTES).min(stop));
            stretch(from, to, to < stop)
        };
        let is_shown = stop - start <= MAX_CONTEXT_BYTES;
        let text = if is_shown {
            String::from_utf8_lossy(&self.buffer[start..stop]).into_owned()
        } else {
            around.text.clone()
        };
        let text = text.trim_end_matches(['\r', '\n']).to_owned();
        LineMatch { line, text, context: around }
    }
}

fn count_newlines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// The start of the line `count` lines before the one that starts at `at`.
fn line_start_before(text: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        if at == 0 {
            break;
        }
        at = memrchr(b'\n', &text[..at - 1]).map_or(0, |before| before + 1);
    }
    at
}

/// The start of the line `count` lines after the one at `at`.
fn line_start_after(text: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        at = memchr(b'\n', &text[at..]).map_or(text.len(), |behind| at + behind + 1);
    }
    at
}

/// The start of the UTF-8 character that contains `at`.
fn char_start(text: &[u8], mut at: usize) -> usize {
    while at > 0 && text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests;
