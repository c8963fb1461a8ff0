//! Positioned reads: how a parser gets at the bytes of an archive, wherever they are.

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use bytes::Bytes;

/// How many bytes the first read at a place fetches, and how many each one that follows on.
const FIRST_FETCH: usize = 64 << 10;
const NEXT_FETCH: usize = 512 << 10;

/// Bytes of a known length that are read by position. May block.
pub trait PositionedRead: Send + Sync {
    /// The number of bytes.
    fn size(&self) -> u64;

    /// Reads at most `length` bytes at `offset`; fewer only at the end.
    fn read_at(&self, offset: u64, length: usize) -> io::Result<Bytes>;
}

impl PositionedRead for Bytes {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, length: usize) -> io::Result<Bytes> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        Ok(self.slice(start..start.saturating_add(length).min(self.len())))
    }
}

/// A range of a source, as a source: a member that is stored as it is.
pub struct SourceSection {
    source: Arc<dyn PositionedRead>,
    start: u64,
    size: u64,
}

impl SourceSection {
    /// The `size` bytes of `source` from `start` on, as far as there are so many.
    pub fn new(source: Arc<dyn PositionedRead>, start: u64, size: u64) -> Self {
        let size = size.min(source.size().saturating_sub(start));
        Self { source, start, size }
    }
}

impl PositionedRead for SourceSection {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, length: usize) -> io::Result<Bytes> {
        let left = self.size.saturating_sub(offset);
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(length);
        if length == 0 {
            return Ok(Bytes::new());
        }
        self.source.read_at(self.start + offset, length)
    }
}

/// Reads a source from a place on, with a buffer.
pub struct SourceReader {
    source: Arc<dyn PositionedRead>,
    /// The place after the buffer, and where reading ends.
    next: u64,
    end: u64,
    buffer: Bytes,
    fetch: usize,
}

impl SourceReader {
    /// Reads `source` from `start` to `end`.
    pub fn new(source: Arc<dyn PositionedRead>, start: u64, end: u64) -> Self {
        let end = end.min(source.size());
        Self { source, next: start, end, buffer: Bytes::new(), fetch: FIRST_FETCH }
    }

    /// Goes on `length` bytes further, without reading them.
    pub(crate) fn skip(&mut self, length: u64) {
        match usize::try_from(length).ok().filter(|length| *length <= self.buffer.len()) {
            Some(length) => drop(self.buffer.split_to(length)),
            None => {
                let beyond = length - self.buffer.len() as u64;
                self.next = self.next.saturating_add(beyond);
                self.buffer = Bytes::new();
                self.fetch = FIRST_FETCH;
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() || self.next >= self.end {
            return Ok(());
        }
        let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        self.buffer = self.source.read_at(self.next, self.fetch.min(left))?;
        self.next += self.buffer.len() as u64;
        self.fetch = NEXT_FETCH;
        Ok(())
    }
}

impl Read for SourceReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let length = into.len().min(self.buffer.len());
        into[..length].copy_from_slice(&self.buffer.split_to(length));
        Ok(length)
    }
}

impl BufRead for SourceReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.fill()?;
        Ok(&self.buffer)
    }

    fn consume(&mut self, length: usize) {
        drop(self.buffer.split_to(length.min(self.buffer.len())));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Arc;

    use bytes::Bytes;

    use super::{PositionedRead, SourceReader, SourceSection};

    #[test]
    fn a_reader_reads_on_and_skips_within_its_bounds() {
        let source: Arc<dyn PositionedRead> = Arc::new(Bytes::from_static(b"0123456789"));
        let mut reader = SourceReader::new(Arc::clone(&source), 2, 8);
        let mut two = [0; 2];
        reader.read_exact(&mut two).unwrap();
        reader.skip(1);
        let mut rest = String::new();
        reader.read_to_string(&mut rest).unwrap();
        assert_eq!((&two, rest.as_str()), (b"23", "567"));
        let mut beyond = SourceReader::new(Arc::clone(&source), 0, 8);
        beyond.skip(u64::MAX);
        assert_eq!(beyond.read(&mut two).unwrap(), 0);
        let section = SourceSection::new(source, 7, 100);
        assert_eq!(section.size(), 3);
        assert_eq!(&section.read_at(1, 100).unwrap()[..], b"89");
        assert!(section.read_at(9, 100).unwrap().is_empty());
    }
}
