//! Streaming line scanner: finds matching lines in text that arrives in chunks.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use machinery::WorkSignal;
use memchr::{memchr, memchr_iter, memrchr};

use super::line_regex::LineRegex;
use super::long_line::{LongLineSearch, LongLineStep};

/// Maximum bytes of context returned with one match.
const MAX_CONTEXT_BYTES: usize = 8 << 10;
/// Maximum bytes of the matches in one batch, and what each match counts besides its text.
const MAX_BATCH_BYTES: usize = 1 << 20;
const MATCH_OVERHEAD: usize = 256;
/// What part of a slice is short enough to search without a thread of its own.
const INLINE_FRACTION: usize = 32;

/// The scanner of one text.
pub(super) struct LineScanner {
    expression: Arc<LineRegex>,
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
    /// The search through a line that is longer than a slice.
    long_line: Option<LongLineSearch>,
}

/// Why there are no more matches for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchEnd {
    /// The buffered text has been searched.
    ChunkDone,
    /// The slice is over, or the batch is full.
    Paused,
    /// A line is too long for this pattern.
    TooCostly,
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

impl LineScanner {
    /// A scanner at the start of a text.
    pub(super) fn new(expression: Arc<LineRegex>, context_lines: usize) -> Self {
        let buffer = Bytes::new();
        Self {
            expression,
            context_lines,
            buffer,
            buffer_offset: 0,
            position: 0,
            line: 1,
            scan_limit: 0,
            long_line: None,
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
        self.scan_limit = if is_last {
            self.buffer.len()
        } else {
            let whole = memrchr(b'\n', &self.buffer).map_or(0, |at| at + 1);
            line_start_before(&self.buffer, whole, self.context_lines).max(self.position)
        };
    }

    /// Whether the rest of the buffered text is searched in a moment, whatever the pattern.
    pub(super) fn is_short(&self) -> bool {
        self.long_line.is_none()
            && self.scan_limit - self.position <= self.expression.slice_bytes() / INLINE_FRACTION
    }

    /// The number of the line that is searched next.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The next matching lines in the buffered text, until the slice is over.
    pub(super) fn next_batch(&mut self, signal: &WorkSignal) -> (Vec<LineMatch>, BatchEnd) {
        let (mut matches, mut bytes) = (Vec::new(), 0);
        while bytes < MAX_BATCH_BYTES {
            match self.next_match(signal) {
                Ok(found) => {
                    bytes += MATCH_OVERHEAD + found.text.len() + found.context.text.len();
                    matches.push(found);
                }
                Err(end) => return (matches, end),
            }
        }
        (matches, BatchEnd::Paused)
    }

    /// The next matching line in the buffered text.
    fn next_match(&mut self, signal: &WorkSignal) -> Result<LineMatch, BatchEnd> {
        loop {
            if let Some(search) = self.long_line.take() {
                if let Some(found) = self.search_long_line(search, signal)? {
                    return Ok(found);
                }
                continue;
            }
            if self.position >= self.scan_limit {
                return Err(BatchEnd::ChunkDone);
            }
            if signal.is_over() {
                return Err(BatchEnd::Paused);
            }
            let Some(end) = self.slice_end() else {
                self.start_long_line()?;
                continue;
            };
            let found = self.expression.first_match_end(&self.buffer, self.position..end);
            let start = found.map(|found| {
                let before = memrchr(b'\n', &self.buffer[self.position..found]);
                before.map_or(self.position, |before| self.position + before + 1)
            });
            // A match behind the final line break belongs to the next line, if there is one.
            match (found, start.filter(|start| *start < end)) {
                (Some(found), Some(start)) => {
                    let stop = line_start_after(&self.buffer, start, 1);
                    return Ok(self.take_match(start, stop, found));
                }
                _ => {
                    self.line += count_newlines(&self.buffer[self.position..end]);
                    self.position = end;
                }
            }
        }
    }

    /// The end of the next slice, at a line start; `None` if the line is longer than a slice.
    fn slice_end(&self) -> Option<usize> {
        let end = self.position.saturating_add(self.expression.slice_bytes());
        if end >= self.scan_limit {
            return Some(self.scan_limit);
        }
        memrchr(b'\n', &self.buffer[self.position..end]).map(|at| self.position + at + 1)
    }

    fn start_long_line(&mut self) -> Result<(), BatchEnd> {
        let next_line = line_start_after(&self.buffer, self.position, 1);
        let end = next_line - usize::from(self.buffer[..next_line].ends_with(b"\n"));
        let (dfa, line) = (self.expression.lazy_dfa(), self.position..end);
        self.long_line = LongLineSearch::new(dfa, &self.buffer, line.clone(), next_line);
        if self.long_line.is_none() {
            return Err(BatchEnd::TooCostly);
        }
        Ok(())
    }

    fn search_long_line(
        &mut self,
        mut search: LongLineSearch,
        signal: &WorkSignal,
    ) -> Result<Option<LineMatch>, BatchEnd> {
        let (line, next_line) = (search.line.clone(), search.next_line);
        let found = match search.resume(self.expression.lazy_dfa(), &self.buffer, signal) {
            LongLineStep::Found(found) => Some(found),
            LongLineStep::NotFound => None,
            LongLineStep::Paused => {
                self.long_line = Some(search);
                return Err(BatchEnd::Paused);
            }
            LongLineStep::Undecided if line.len() <= self.expression.uncut_bytes() => {
                self.expression.first_match_end(&self.buffer, line.clone())
            }
            LongLineStep::Undecided => return Err(BatchEnd::TooCostly),
        };
        if let Some(found) = found {
            return Ok(Some(self.take_match(line.start, next_line, found)));
        }
        (self.position, self.line) = (next_line, self.line + 1);
        Ok(None)
    }

    /// Moves behind the line at `start`, in which a match ends at `found`.
    fn take_match(&mut self, start: usize, stop: usize, found: usize) -> LineMatch {
        let line = self.line + count_newlines(&self.buffer[self.position..start]);
        (self.position, self.line) = (stop, line + 1);
        self.build_match(line, (start, stop), found)
    }

    fn build_match(&self, line: u64, (start, stop): (usize, usize), found: usize) -> LineMatch {
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
            // The start is looked for only near the end, because a long line may not be searched
            // at once.
            let near = (MAX_CONTEXT_BYTES / 4).min(self.expression.slice_bytes());
            let near = char_start(&self.buffer, found.saturating_sub(near).max(start));
            let at = self.expression.first_match_start(&self.buffer, near..found).unwrap_or(near);
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
