//! Windowed read: a byte range of a file, aligned to characters.
//!
//! Reads only the range, and enough of the head to detect what the file is. Text that must be
//! decoded is the exception: finding a range in it means decoding from the start.

use std::io;
use std::ops::Range;

use encoding_rs::Encoding;
use resource::{ByteSource, Part, Slice};

use super::budget::WorkBudget;
use super::chunks::{DecodingReader, FileChunks, read_at};
use super::read::{MAX_IN_MEMORY, OpenFile};
use super::stamp::FileStamp;
use super::text::{
    ByteClasses, ContentForm, SampleExtent, complete_utf8_len, detect_form, is_utf8,
};

/// Files up to this size are read in full to detect what they are.
const MAX_FULL_SNIFF: u64 = 64 * 1024;

/// Bytes of a larger file used for detection.
const SNIFF_BYTES: u64 = 8 * 1024;

impl OpenFile {
    /// Reads `length` bytes at `offset`, aligned to characters.
    pub(super) fn read_part(
        self,
        offset: u64,
        length: u64,
        budget: &WorkBudget,
    ) -> io::Result<Part> {
        let size = self.stamp.size;
        let mut head = Vec::new();
        read_at(&self.file, 0, if size <= MAX_FULL_SNIFF { size } else { SNIFF_BYTES }, &mut head)?;
        let share = if size <= MAX_FULL_SNIFF { SampleExtent::Whole } else { SampleExtent::Head };
        let form = detect_form(&head, share);
        // Windows of length zero would make no progress.
        let length = length.max(1);
        match form {
            ContentForm::Blob => self.blob_part(offset, length, &head),
            ContentForm::Utf8 => self.utf8_part(offset, length, &head, budget),
            ContentForm::Charset(charset) => {
                self.decoded_part(charset, offset..offset.saturating_add(length), budget)
            }
        }
    }

    fn blob_part(self, offset: u64, length: u64, head: &[u8]) -> io::Result<Part> {
        let size = self.stamp.size;
        let start = offset.min(size);
        let range = start..start.saturating_add(length).min(size);
        let chunks = FileChunks::raw(&self.file, range.clone());
        let (source, range) = load_or_stream(chunks, range, self.stamp)?;
        Ok(self.into_part(ContentForm::Blob, source, head, Some(slice(&range, size))))
    }

    fn utf8_part(
        self,
        offset: u64,
        length: u64,
        head: &[u8],
        budget: &WorkBudget,
    ) -> io::Result<Part> {
        let size = self.stamp.size;
        let byte = |at| {
            let mut byte = Vec::with_capacity(1);
            read_at(&self.file, at, 1, &mut byte)?;
            io::Result::Ok(byte.first().copied())
        };
        let slice = Slice::aligned(size, (offset, length), true, byte)?;
        let range = slice.offset..slice.offset + slice.length;
        let slice = Some(slice);
        if range.end - range.start > MAX_IN_MEMORY {
            budget.require_unlimited()?;
            if !is_text(FileChunks::raw(&self.file, range.clone()), budget)? {
                return self.blob_part(offset, length, head);
            }
            let source = FileChunks::text(&self.file, range).into_stream(self.stamp);
            return Ok(self.into_part(ContentForm::Utf8, source, head, slice));
        }
        let bytes = FileChunks::raw(&self.file, range).collect()?;
        if ByteClasses::of(&bytes).has(ByteClasses::NUL) || !is_utf8(&bytes, SampleExtent::Whole) {
            return self.blob_part(offset, length, head);
        }
        Ok(self.into_part(ContentForm::Utf8, ByteSource::Bytes(bytes), head, slice))
    }

    fn decoded_part(
        self,
        charset: &'static Encoding,
        wanted: Range<u64>,
        budget: &WorkBudget,
    ) -> io::Result<Part> {
        let size = self.stamp.size;
        if size > MAX_FULL_SNIFF {
            budget.require_unlimited()?;
        }
        let mut cut = WindowAligner::new(wanted);
        let mut decoding = DecodingReader::new(&self.file, size, charset);
        while let Some(text) = decoding.next()? {
            budget.check_cancelled()?;
            cut.feed(&text);
        }
        let (range, total) = cut.finish();
        let chunks =
            FileChunks::decoded(DecodingReader::new(&self.file, size, charset), range.clone());
        let (source, range) = load_or_stream(chunks, range, self.stamp)?;
        Ok(self.into_part(ContentForm::Charset(charset), source, &[], Some(slice(&range, total))))
    }
}

/// Finds the character-aligned bounds of a window while decoded text streams past.
struct WindowAligner {
    wanted: Range<u64>,
    start: Option<u64>,
    end: Option<u64>,
    bytes_seen: u64,
}

impl WindowAligner {
    fn new(wanted: Range<u64>) -> Self {
        Self { wanted, start: None, end: None, bytes_seen: 0 }
    }

    fn feed(&mut self, text: &str) {
        let base = self.bytes_seen;
        self.bytes_seen += text.len() as u64;
        let inside = |at: u64| (at - base) as usize;
        if self.start.is_none() && self.wanted.start < self.bytes_seen {
            let start = base + text.ceil_char_boundary(inside(self.wanted.start)) as u64;
            self.start = Some(start);
            self.wanted.end = start.saturating_add(self.wanted.end - self.wanted.start);
        }
        let Some(start) = self.start.filter(|start| *start < self.bytes_seen) else { return };
        if self.end.is_none() && self.wanted.end < self.bytes_seen {
            let end = base + text.floor_char_boundary(inside(self.wanted.end.max(base))) as u64;
            let least =
                || start + text[inside(start)..].chars().next().map_or(0, char::len_utf8) as u64;
            self.end = Some(if end > start { end } else { least() });
        }
    }

    /// Returns the aligned range, and the length of the text.
    fn finish(self) -> (Range<u64>, u64) {
        let start = self.start.unwrap_or(self.bytes_seen);
        (start..self.end.unwrap_or(self.bytes_seen), self.bytes_seen)
    }
}

/// True if all `chunks` are UTF-8 text.
fn is_text(mut chunks: FileChunks, budget: &WorkBudget) -> io::Result<bool> {
    let mut carry = Vec::new();
    while let Some(chunk) = chunks.next()? {
        budget.check_cancelled()?;
        carry.extend_from_slice(&chunk);
        let whole = complete_utf8_len(&carry);
        if ByteClasses::of(&carry).has(ByteClasses::NUL)
            || !is_utf8(&carry[..whole], SampleExtent::Whole)
        {
            return Ok(false);
        }
        carry.drain(..whole);
    }
    Ok(carry.is_empty())
}

/// Returns the source for `chunks` of `range`, and the range that remains if the file shrank.
fn load_or_stream(
    chunks: FileChunks,
    range: Range<u64>,
    stamp: FileStamp,
) -> io::Result<(ByteSource, Range<u64>)> {
    if range.end - range.start > MAX_IN_MEMORY {
        return Ok((chunks.into_stream(stamp), range));
    }
    let bytes = chunks.collect()?;
    let end = range.start + bytes.len() as u64;
    Ok((ByteSource::Bytes(bytes), range.start..end))
}

fn slice(range: &Range<u64>, total: u64) -> Slice {
    Slice::new(range.start, range.end - range.start, total)
}
