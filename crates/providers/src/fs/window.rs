//! Windowed read: a byte range of a file, aligned to characters.
//!
//! Reads only the range, and enough of the head to detect what the file is. Text that must be
//! decoded is the exception: finding a range in it means decoding from the start.

use std::fs::File;
use std::io;
use std::ops::Range;

use encoding_rs::Encoding;
use resource::{Part, Slice, Source};

use super::chunks::{Chunks, Decoding, read_at};
use super::effort::Effort;
use super::read::{AT_HAND, Opened};
use super::text::{Form, Share, Signs, is_utf8, recognise, whole_characters};

/// Files up to this size are read in full to detect what they are.
const SMALL: u64 = 64 * 1024;

/// Bytes of a larger file used for detection.
const HEAD: u64 = 8 * 1024;

impl Opened {
    /// Reads `length` bytes at `offset`, aligned to characters.
    pub(super) fn part(self, offset: u64, length: u64, effort: &Effort) -> io::Result<Part> {
        let size = self.stamp.size;
        let mut head = Vec::new();
        read_at(&self.file, 0, if size <= SMALL { size } else { HEAD }, &mut head)?;
        let share = if size <= SMALL { Share::Whole } else { Share::Head };
        let form = recognise(&head, share);
        // Windows of length zero would make no progress.
        let length = length.max(1);
        match form {
            Form::Blob => self.blob(offset, length, &head),
            Form::Utf8 => self.utf8(offset, length, &head, effort),
            Form::Coded(charset) => {
                self.coded(charset, offset..offset.saturating_add(length), effort)
            }
        }
    }

    fn blob(self, offset: u64, length: u64, head: &[u8]) -> io::Result<Part> {
        let size = self.stamp.size;
        let start = offset.min(size);
        let range = start..start.saturating_add(length).min(size);
        let chunks = Chunks::raw(&self.file, range.clone());
        let (source, range) = settle(chunks, range)?;
        Ok(self.give(Form::Blob, source, head, Some(slice(&range, size))))
    }

    fn utf8(self, offset: u64, length: u64, head: &[u8], effort: &Effort) -> io::Result<Part> {
        let size = self.stamp.size;
        let range = characters(&self.file, offset, length, size)?;
        let slice = Some(slice(&range, size));
        if range.end - range.start > AT_HAND {
            effort.must_be_long()?;
            if !is_text(Chunks::raw(&self.file, range.clone()), effort)? {
                return self.blob(offset, length, head);
            }
            let source = Chunks::text(&self.file, range).stream();
            return Ok(self.give(Form::Utf8, source, head, slice));
        }
        let bytes = Chunks::raw(&self.file, range).collect()?;
        if Signs::of(&bytes).has(Signs::ZERO) || !is_utf8(&bytes, Share::Whole) {
            return self.blob(offset, length, head);
        }
        Ok(self.give(Form::Utf8, Source::Bytes(bytes), head, slice))
    }

    fn coded(
        self,
        charset: &'static Encoding,
        wanted: Range<u64>,
        effort: &Effort,
    ) -> io::Result<Part> {
        let size = self.stamp.size;
        if size > SMALL {
            effort.must_be_long()?;
        }
        let mut cut = Cut::new(wanted);
        let mut decoding = Decoding::new(&self.file, size, charset);
        while let Some(text) = decoding.next()? {
            effort.attended()?;
            cut.pass(&text);
        }
        let (range, total) = cut.end();
        let chunks = Chunks::coded(Decoding::new(&self.file, size, charset), range.clone());
        let (source, range) = settle(chunks, range)?;
        Ok(self.give(Form::Coded(charset), source, &[], Some(slice(&range, total))))
    }
}

/// Finds the character-aligned bounds of a window while decoded text streams past.
struct Cut {
    wanted: Range<u64>,
    start: Option<u64>,
    end: Option<u64>,
    passed: u64,
}

impl Cut {
    fn new(wanted: Range<u64>) -> Self {
        Self { wanted, start: None, end: None, passed: 0 }
    }

    fn pass(&mut self, text: &str) {
        let base = self.passed;
        self.passed += text.len() as u64;
        let inside = |at: u64| (at - base) as usize;
        if self.start.is_none() && self.wanted.start < self.passed {
            let start = base + text.ceil_char_boundary(inside(self.wanted.start)) as u64;
            self.start = Some(start);
            self.wanted.end = start.saturating_add(self.wanted.end - self.wanted.start);
        }
        let Some(start) = self.start.filter(|start| *start < self.passed) else { return };
        if self.end.is_none() && self.wanted.end < self.passed {
            let end = base + text.floor_char_boundary(inside(self.wanted.end.max(base))) as u64;
            let least =
                || start + text[inside(start)..].chars().next().map_or(0, char::len_utf8) as u64;
            self.end = Some(if end > start { end } else { least() });
        }
    }

    /// Returns the aligned range, and the length of the text.
    fn end(self) -> (Range<u64>, u64) {
        let start = self.start.unwrap_or(self.passed);
        (start..self.end.unwrap_or(self.passed), self.passed)
    }
}

/// Aligns the range of `length` bytes at `offset` to the characters of a UTF-8 file.
fn characters(file: &File, offset: u64, length: u64, size: u64) -> io::Result<Range<u64>> {
    if offset >= size {
        return Ok(size..size);
    }
    let mut around = Vec::new();
    read_at(file, offset, 8.min(size - offset), &mut around)?;
    let inside = around.iter().take(3).take_while(|byte| is_inside(**byte)).count();
    let start = offset + inside as u64;
    let end = start.saturating_add(length);
    if end >= size {
        return Ok(start..size);
    }
    let first = around.get(inside + 1..).unwrap_or_default();
    let width = 1 + first.iter().take(3).take_while(|byte| is_inside(**byte)).count() as u64;
    if length <= width {
        return Ok(start..start + width);
    }
    let mut tail = Vec::new();
    let back = length.min(4);
    read_at(file, end - back, back, &mut tail)?;
    let missing = tail.len() - whole_characters(&tail);
    Ok(start..end - missing as u64)
}

/// True if `byte` is a UTF-8 continuation byte.
fn is_inside(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// True if all `chunks` are UTF-8 text.
fn is_text(mut chunks: Chunks, effort: &Effort) -> io::Result<bool> {
    let mut carry = Vec::new();
    while let Some(chunk) = chunks.next()? {
        effort.attended()?;
        carry.extend_from_slice(&chunk);
        let whole = whole_characters(&carry);
        if Signs::of(&carry).has(Signs::ZERO) || !is_utf8(&carry[..whole], Share::Whole) {
            return Ok(false);
        }
        carry.drain(..whole);
    }
    Ok(carry.is_empty())
}

/// Returns the source for `chunks` of `range`, and the range that remains if the file shrank.
fn settle(chunks: Chunks, range: Range<u64>) -> io::Result<(Source, Range<u64>)> {
    if range.end - range.start > AT_HAND {
        return Ok((chunks.stream(), range));
    }
    let bytes = chunks.collect()?;
    let end = range.start + bytes.len() as u64;
    Ok((Source::Bytes(bytes), range.start..end))
}

fn slice(range: &Range<u64>, total: u64) -> Slice {
    Slice::new(range.start, range.end - range.start, total)
}
