//! Which lines of a text match, if it comes in chunks?

use bytes::{Bytes, BytesMut};
use memchr::{memchr, memchr_iter, memrchr};

use super::expression::Expression;

/// How many bytes around a match are given at the most.
const SHOWN: usize = 8 << 10;

/// A text that is looked through as it comes.
pub(super) struct Scan<'a> {
    expression: &'a Expression,
    /// How many lines are given before and behind a match.
    around: usize,
    /// What is at hand, from the beginning of a line on, and where that lies in the text.
    held: Bytes,
    base: u64,
    /// How far it was looked at, and the number of the line that begins there.
    at: usize,
    line: u64,
    /// How far it can be looked at before more has come.
    end: usize,
    is_last: bool,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    /// Its number, counted from 1.
    pub(super) line: u64,
    /// The line without its end, or as much around the match as is shown.
    pub(super) text: String,
    /// The lines around it.
    pub(super) around: Stretch,
}

/// Some lines of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Where it begins, in bytes and as a line.
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) text: String,
    /// Whether the last line is cut off.
    pub(super) cut: bool,
}

impl<'a> Scan<'a> {
    /// A text of which nothing has come yet.
    pub(super) fn new(expression: &'a Expression, around: usize) -> Self {
        let held = Bytes::new();
        Self { expression, around, held, base: 0, at: 0, line: 1, end: 0, is_last: false }
    }

    /// More of the text.
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

    /// The next line that matches of what has come.
    pub(super) fn next(&mut self) -> Option<Hit> {
        if self.at >= self.end {
            return None;
        }
        let found = self.expression.end(&self.held, self.at..self.end);
        let start = found.map(|found| {
            let before = memrchr(b'\n', &self.held[self.at..found]);
            before.map_or(self.at, |before| self.at + before + 1)
        });
        // Behind the last line end there is no line.
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

/// Where the line begins that stands `count` lines before the one at `at`.
fn back(text: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        if at == 0 {
            break;
        }
        at = memrchr(b'\n', &text[..at - 1]).map_or(0, |before| before + 1);
    }
    at
}

/// Where the line begins that stands `count` lines behind the one at `at`.
fn forward(text: &[u8], mut at: usize, count: usize) -> usize {
    for _ in 0..count {
        at = memchr(b'\n', &text[at..]).map_or(text.len(), |behind| at + behind + 1);
    }
    at
}

/// Where the character begins that `at` lies in.
fn character(text: &[u8], mut at: usize) -> usize {
    while at > 0 && text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests;
