//! Windowed read: a byte range of a file, aligned to characters.
//!
//! Reads only the range, and enough to detect what the file is, once per version. Text that must
//! be decoded is decoded once to find its lines, and then from the line before the range.

use std::io;
use std::ops::Range;

use bytes::Bytes;
use encoding_rs::Encoding;
use resource::{ByteSource, Part, Slice};

use super::budget::WorkBudget;
use super::chunks::{DecodingReader, FileChunks};
use super::file_form::{KnownForm, MAX_IN_MEMORY, read_magic, read_sample, scan_large_file};
use super::read::OpenFile;
use super::root::FsRoot;
use super::stamp::FileStamp;
use detection::mime;
use detection::text::{
    ByteClasses, ContentForm, SampleExtent, complete_utf8_len, has_iso_2022_jp_escapes, is_utf8,
};

/// Files up to this size are decoded inline.
const MAX_INLINE_SIZE: u64 = 64 * 1024;

/// Bytes of a text that tell its type.
const TEXT_SIGNATURE_BYTES: u64 = 512;

impl OpenFile {
    /// Reads `length` bytes at `offset`, aligned to characters.
    pub(super) fn read_part(
        self,
        offset: u64,
        length: u64,
        root: &FsRoot,
        budget: &WorkBudget,
    ) -> io::Result<Part> {
        let known = root.form_cache.form_for_windows((&self.file, &self.stamp), budget)?;
        // Windows of length zero would make no progress.
        let length = length.max(1);
        let charset = match self.ruled_form(known.form) {
            ContentForm::Blob => return self.blob_part(offset, length),
            ContentForm::Charset(charset) => charset,
            ContentForm::Utf8 => {
                let window = self.read_utf8(offset, length, budget)?;
                let may_differ = matches!(window.kind, WindowKind::Escapes | WindowKind::Broken);
                let scanned = match may_differ && !known.is_certain {
                    true => self.scan_for_charset(known, root, budget)?,
                    false => None,
                };
                match (scanned, window.kind) {
                    (Some(charset), _) => charset,
                    (None, WindowKind::Text | WindowKind::Escapes) => {
                        return self.utf8_part(window);
                    }
                    (None, WindowKind::Broken | WindowKind::Binary) => {
                        return self.blob_part(offset, length);
                    }
                }
            }
        };
        self.decoded_part(charset, (offset, length), root, budget)
    }

    /// Looks for a charset in all of a file that seemed to be UTF-8, after a window that is not.
    fn scan_for_charset(
        &self,
        known: KnownForm,
        root: &FsRoot,
        budget: &WorkBudget,
    ) -> io::Result<Option<&'static Encoding>> {
        let size = self.stamp.size;
        let sample = read_sample(&self.file, size)?;
        let form = scan_large_file(&self.file, size, &sample, budget)?;
        let charset = match form {
            ContentForm::Charset(charset) => Some(charset),
            ContentForm::Utf8 | ContentForm::Blob => None,
        };
        // Other windows of a text with a few broken bytes stay text.
        let form = charset.map_or(known.form, ContentForm::Charset);
        root.form_cache.insert(&self.stamp, KnownForm { form, is_certain: true });
        Ok(charset)
    }

    fn blob_part(self, offset: u64, length: u64) -> io::Result<Part> {
        let size = self.stamp.size;
        let start = offset.min(size);
        let range = start..start.saturating_add(length).min(size);
        let head = read_magic(&self.file)?;
        let chunks = FileChunks::raw(&self.file, range.clone());
        let (source, range) = load_or_stream(chunks, range, self.stamp)?;
        Ok(self.into_part(ContentForm::Blob, source, &head, Some(slice(&range, size))))
    }

    /// Aligns and reads a window of a file that seems to be UTF-8.
    fn read_utf8(&self, offset: u64, length: u64, budget: &WorkBudget) -> io::Result<Utf8Window> {
        let byte = |at| {
            let mut byte = Vec::with_capacity(1);
            self.file.read_at(at, 1, &mut byte)?;
            io::Result::Ok(byte.first().copied())
        };
        let slice = Slice::aligned(self.stamp.size, (offset, length), true, byte)?;
        let range = slice.offset..slice.offset + slice.length;
        let chunks = FileChunks::raw(&self.file, range);
        if slice.length > MAX_IN_MEMORY {
            budget.require_unlimited()?;
            let kind = WindowKind::of_chunks(chunks, budget)?;
            return Ok(Utf8Window { slice, bytes: None, kind });
        }
        let bytes = chunks.collect()?;
        let kind = WindowKind::of(&bytes, bytes.len());
        Ok(Utf8Window { slice, bytes: Some(bytes), kind })
    }

    fn utf8_part(self, window: Utf8Window) -> io::Result<Part> {
        let range = window.slice.offset..window.slice.offset + window.slice.length;
        let source = match window.bytes {
            Some(bytes) => ByteSource::Bytes(bytes),
            None => FileChunks::text(&self.file, range).into_stream(self.stamp),
        };
        let head = self.text_head()?;
        Ok(self.into_part(ContentForm::Utf8, source, &head, Some(window.slice)))
    }

    fn decoded_part(
        self,
        charset: &'static Encoding,
        (offset, length): (u64, u64),
        root: &FsRoot,
        budget: &WorkBudget,
    ) -> io::Result<Part> {
        let size = self.stamp.size;
        if size > MAX_INLINE_SIZE {
            budget.require_unlimited()?;
        }
        let index = root.decode_index.index_of((&self.file, &self.stamp), charset, budget)?;
        let point = index.point_before(offset);
        let mut aligner = WindowAligner::new(offset..offset.saturating_add(length), point.decoded);
        let mut reader = DecodingReader::resume(&self.file, size, charset, point);
        while !aligner.is_done()
            && let Some(text) = reader.next()?
        {
            budget.check_cancelled()?;
            aligner.feed(&text);
        }
        #[cfg(test)]
        root.decode_index.count_decoded(reader.decoded_bytes - point.decoded);
        let range = aligner.finish(index.total);
        let reader = DecodingReader::resume(&self.file, size, charset, point);
        let chunks = FileChunks::decoded(reader, range.clone());
        let (source, range) = load_or_stream(chunks, range, self.stamp)?;
        let slice = slice(&range, index.total);
        let head = self.text_head()?;
        Ok(self.into_part(ContentForm::Charset(charset), source, &head, Some(slice)))
    }

    /// The first bytes of a text whose name does not tell its type.
    fn text_head(&self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        if mime::is_uncertain(mime::by_name(&self.resource.name)) {
            self.file.read_at(0, TEXT_SIGNATURE_BYTES, &mut head)?;
        }
        Ok(head)
    }
}

/// A window of a file that seems to be UTF-8.
struct Utf8Window {
    slice: Slice,
    /// Its content, unless it is long.
    bytes: Option<Bytes>,
    kind: WindowKind,
}

/// What a window of such a file is.
#[derive(Clone, Copy)]
enum WindowKind {
    Text,
    /// UTF-8 with the escape sequences of ISO-2022-JP.
    Escapes,
    /// Not UTF-8.
    Broken,
    /// With NUL, which no text contains.
    Binary,
}

/// Finds the character-aligned bounds of a window while decoded text streams past.
struct WindowAligner {
    wanted: Range<u64>,
    start: Option<u64>,
    end: Option<u64>,
    bytes_seen: u64,
}

impl WindowAligner {
    /// Text begins to stream past at `bytes_seen`, at or before the window.
    fn new(wanted: Range<u64>, bytes_seen: u64) -> Self {
        Self { wanted, start: None, end: None, bytes_seen }
    }

    fn is_done(&self) -> bool {
        self.end.is_some()
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

    /// Returns the aligned range in a text of `total` bytes.
    fn finish(self, total: u64) -> Range<u64> {
        self.start.unwrap_or(total)..self.end.unwrap_or(total)
    }
}

impl WindowKind {
    /// What `bytes` are, of which `whole` end with a character.
    fn of(bytes: &[u8], whole: usize) -> Self {
        let classes = ByteClasses::of(bytes);
        if classes.has(ByteClasses::NUL) {
            Self::Binary
        } else if !is_utf8(&bytes[..whole], SampleExtent::Whole) {
            Self::Broken
        } else if classes.has(ByteClasses::ESCAPE) && has_iso_2022_jp_escapes(bytes) {
            Self::Escapes
        } else {
            Self::Text
        }
    }

    fn of_chunks(mut chunks: FileChunks, budget: &WorkBudget) -> io::Result<Self> {
        let (mut kind, mut carry) = (Self::Text, Vec::new());
        while let Some(chunk) = chunks.next()? {
            budget.check_cancelled()?;
            carry.extend_from_slice(&chunk);
            let whole = complete_utf8_len(&carry);
            match Self::of(&carry, whole) {
                Self::Text => {}
                Self::Escapes => kind = Self::Escapes,
                other => return Ok(other),
            }
            carry.drain(..whole);
        }
        Ok(if carry.is_empty() { kind } else { Self::Broken })
    }
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
