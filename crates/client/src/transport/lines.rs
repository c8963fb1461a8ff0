//! Line reader with a length limit, for newline-delimited messages.

use bytes::{Bytes, BytesMut};

/// How much of an overlong line is kept, to identify the message.
const KEPT: usize = 4 << 10;

/// Splits a buffer into lines. The buffer never holds much more than one line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) buffer: BytesMut,
    pub(super) most: usize,
    /// Length of the prefix that is known to hold no line break.
    searched: usize,
    /// Whether the rest of the current line is to be discarded.
    skipping: bool,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A complete line.
    Whole(Bytes),
    /// The beginning of a line over the limit.
    Long(Bytes),
}

impl Lines {
    pub(super) fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    pub(super) fn next(&mut self) -> Option<Line> {
        loop {
            let end = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
            let Some(end) = end.map(|end| end + self.searched) else {
                self.searched = self.buffer.len();
                return if self.searched > self.most { self.skip() } else { None };
            };
            let line = self.buffer.split_to(end + 1).freeze().slice(..end);
            self.searched = 0;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            return Some(if line.len() > self.most { long(&line) } else { Line::Whole(line) });
        }
    }

    fn skip(&mut self) -> Option<Line> {
        let told = long(&self.buffer);
        // A new buffer, so that the memory of the long line is freed.
        self.buffer = BytesMut::new();
        self.searched = 0;
        (!std::mem::replace(&mut self.skipping, true)).then_some(told)
    }
}

fn long(line: &[u8]) -> Line {
    Line::Long(Bytes::copy_from_slice(&line[..line.len().min(KEPT)]))
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines};

    fn lines(most: usize, chunks: &[&str]) -> Vec<Line> {
        let mut lines = Lines::new(most);
        let mut found = Vec::new();
        for chunk in chunks {
            lines.buffer.extend_from_slice(chunk.as_bytes());
            found.extend(std::iter::from_fn(|| lines.next()));
        }
        found
    }

    fn whole(text: &'static str) -> Line {
        Line::Whole(text.into())
    }

    #[test]
    fn lines_are_found_however_they_arrive() {
        assert_eq!(lines(9, &["a\nb", "c\n", "\n", "d"]), [whole("a"), whole("bc"), whole("")]);
    }

    #[test]
    fn a_line_is_taken_at_the_bound_and_told_once_past_it() {
        assert_eq!(lines(3, &["abc\n"]), [whole("abc")]);
        assert_eq!(lines(3, &["abcd\nok\n"]), [Line::Long("abcd".into()), whole("ok")]);
        let found = lines(3, &["abcd", "efgh", "ijkl\nok\n"]);
        assert_eq!(found, [Line::Long("abcd".into()), whole("ok")]);
    }
}
