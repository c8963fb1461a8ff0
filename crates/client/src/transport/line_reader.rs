//! Line reader with a length limit, for newline-delimited messages.

use bytes::{Bytes, BytesMut};

/// How much of an overlong line is kept, to identify the message.
const PREFIX_BYTES: usize = 4 << 10;

/// Splits a buffer into lines. The buffer never holds much more than one line.
#[derive(Debug, Default)]
pub(super) struct LineReader {
    pub(super) buffer: BytesMut,
    pub(super) max_bytes: usize,
    /// Length of the prefix that is known to hold no line break.
    searched: usize,
    /// Whether the rest of the current line is to be discarded.
    discarding: bool,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputLine {
    /// A complete line.
    Complete(Bytes),
    /// The beginning of a line over the limit.
    TooLong(Bytes),
}

impl LineReader {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, ..Self::default() }
    }

    pub(super) fn next(&mut self) -> Option<InputLine> {
        loop {
            let end = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
            let Some(end) = end.map(|end| end + self.searched) else {
                if self.discarding {
                    self.buffer.clear();
                }
                self.searched = self.buffer.len();
                return if self.searched > self.max_bytes { self.discard() } else { None };
            };
            let line = self.buffer.split_to(end + 1).freeze().slice(..end);
            self.searched = 0;
            if std::mem::take(&mut self.discarding) {
                continue;
            }
            return Some(if line.len() > self.max_bytes {
                truncated(&line)
            } else {
                InputLine::Complete(line)
            });
        }
    }

    fn discard(&mut self) -> Option<InputLine> {
        let told = truncated(&self.buffer);
        // A new buffer, so that the memory of the long line is freed.
        self.buffer = BytesMut::new();
        self.searched = 0;
        self.discarding = true;
        Some(told)
    }
}

fn truncated(line: &[u8]) -> InputLine {
    InputLine::TooLong(Bytes::copy_from_slice(&line[..line.len().min(PREFIX_BYTES)]))
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::super::reserve;
    use super::{InputLine, LineReader};

    fn lines(most: usize, chunks: &[&str]) -> Vec<InputLine> {
        let mut lines = LineReader::new(most);
        let mut found = Vec::new();
        for chunk in chunks {
            lines.buffer.extend_from_slice(chunk.as_bytes());
            found.extend(std::iter::from_fn(|| lines.next()));
        }
        found
    }

    fn whole(text: &'static str) -> InputLine {
        InputLine::Complete(text.into())
    }

    #[test]
    fn a_message_that_grows_leaves_little_behind() {
        let most = 1 << 20;
        for chunk in [1_000, 1_024, 3_000, 4_096, 13_000, 16_384] {
            let (mut buffer, mut left_behind) = (BytesMut::new(), 0);
            while buffer.len() < most {
                let before = buffer.capacity();
                reserve(&mut buffer, 16 << 10, most);
                left_behind += if buffer.capacity() == before { 0 } else { before };
                buffer.extend_from_slice(&vec![0; chunk]);
            }
            assert!(left_behind <= most / 2, "{chunk}: {left_behind}");
        }
    }

    #[test]
    fn lines_are_found_however_they_arrive() {
        assert_eq!(lines(9, &["a\nb", "c\n", "\n", "d"]), [whole("a"), whole("bc"), whole("")]);
    }

    #[test]
    fn the_rest_of_a_line_past_the_bound_is_not_kept() {
        let mut lines = LineReader::new(3);
        for _ in 0..100 {
            lines.buffer.extend_from_slice(b"abcd");
            lines.next();
            assert!(lines.buffer.is_empty());
        }
    }

    #[test]
    fn a_line_is_taken_at_the_bound_and_told_once_past_it() {
        assert_eq!(lines(3, &["abc\n"]), [whole("abc")]);
        assert_eq!(lines(3, &["abcd\nok\n"]), [InputLine::TooLong("abcd".into()), whole("ok")]);
        let found = lines(3, &["abcd", "efgh", "ijkl\nok\n"]);
        assert_eq!(found, [InputLine::TooLong("abcd".into()), whole("ok")]);
    }
}
