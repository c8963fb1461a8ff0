//! Form detection of a file: what it contains, found in a sample or in all of it.
//!
//! Whole reads and windows ask here, so that both find the same charset.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use encoding_rs::{Encoding, ISO_2022_JP};
use machinery::{Cache, CacheBounds};

use super::budget::WorkBudget;
use super::chunks::{CHUNK, DecodingReader};
use super::platform::FileHandle;
use super::stamp::FileStamp;
use detection::package::{PACKAGE_HEAD_BYTES, is_zip};
use detection::text::{
    ByteClasses, CHARSET_SAMPLE_BYTES, ContentForm, SampleExtent, complete_utf8_len,
    detect_by_decoding, detect_form, detect_without_decoding, guess_charset,
    has_iso_2022_jp_escapes, has_only_text_characters, is_utf8,
};

/// Up to this many bytes are held in memory; more are streamed, and only a sample of them tells
/// windows what they are.
pub(super) const MAX_IN_MEMORY: u64 = 1024 * 1024;

/// Most bytes that are decoded inline: to find the charset of more takes milliseconds.
const MAX_INLINE_DECODING: usize = 16 * 1024;

/// A larger file whose head is text is text where its windows are.
const MAX_STRICT: u64 = 64 * 1024;
const WINDOW_HEAD_BYTES: usize = 8 * 1024;

/// The sample of a large file: its start, and blocks at even distances.
const HEAD_BYTES: u64 = 16 * 1024;
const BLOCKS: u64 = 32;
const BLOCK_BYTES: u64 = 1024;

/// Bytes of a blob that tell its MIME type, unless it is a zip file.
const MAGIC_BYTES: u64 = 8 * 1024;

/// Most files whose form is cached.
const CACHED_FORMS: usize = 4_096;

/// The forms of files, by identity and version.
pub(super) struct FormCache {
    cache: Cache<(u64, u64), KnownForm>,
    /// How old a change must be before its timestamp is reliable; see `is_settled`.
    clock_margin: Duration,
}

/// What windows of a file are taken for.
#[derive(Clone, Copy)]
pub(super) struct KnownForm {
    pub(super) form: ContentForm,
    /// True if all of the file was looked at.
    pub(super) is_certain: bool,
}

impl FormCache {
    pub(super) fn new(clock_margin: Duration) -> Self {
        Self { cache: Cache::new(CacheBounds::entries(CACHED_FORMS)), clock_margin }
    }

    /// Returns the form of `file`, from the cache or from a look at it.
    ///
    /// A text with a few broken bytes is a blob as a whole, while its windows are text wherever
    /// they can be.
    pub(super) fn form_for_windows(
        &self,
        (file, stamp): (&FileHandle, &FileStamp),
        budget: &WorkBudget,
    ) -> io::Result<KnownForm> {
        if let Some(known) = self.cache.get(&version_key(stamp)) {
            return Ok(known);
        }
        let is_certain = stamp.size <= MAX_IN_MEMORY;
        let mut bytes = Vec::new();
        let extent = if is_certain {
            file.read_at(0, stamp.size, &mut bytes)?;
            SampleExtent::Whole
        } else {
            bytes = read_sample(file, stamp.size)?;
            SampleExtent::Head
        };
        let mut form = detect_bounded(&bytes, extent, budget)?;
        if form == ContentForm::Blob && stamp.size > MAX_STRICT {
            bytes.truncate(WINDOW_HEAD_BYTES);
            if detect_without_decoding(&bytes, SampleExtent::Head) == Some(ContentForm::Utf8) {
                form = ContentForm::Utf8;
            }
        }
        let known = KnownForm { form, is_certain };
        self.insert(stamp, known);
        Ok(known)
    }

    /// Caches the form of the file, if any later change is certain to change its stamp.
    pub(super) fn insert(&self, stamp: &FileStamp, known: KnownForm) {
        if stamp.is_settled(SystemTime::now(), self.clock_margin) {
            self.cache.insert(version_key(stamp), known, 1);
        }
    }
}

/// Identifies one version of one file.
pub(super) fn version_key(stamp: &FileStamp) -> (u64, u64) {
    (stamp.identity(), stamp.fingerprint())
}

/// Detects what `bytes` are. Decodes more than a few of them on a blocking thread only.
pub(super) fn detect_bounded(
    bytes: &[u8],
    extent: SampleExtent,
    budget: &WorkBudget,
) -> io::Result<ContentForm> {
    if let Some(form) = detect_without_decoding(bytes, extent) {
        return Ok(form);
    }
    if bytes.len() > MAX_INLINE_DECODING {
        budget.require_unlimited()?;
    }
    Ok(detect_by_decoding(bytes, extent))
}

/// Reads the first bytes of a file, as many as tell the MIME type of a blob.
pub(super) fn read_magic(file: &FileHandle) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.read_at(0, MAGIC_BYTES, &mut head)?;
    if is_zip(&head) {
        file.read_at(head.len() as u64, PACKAGE_HEAD_BYTES as u64 - MAGIC_BYTES, &mut head)?;
    }
    Ok(head)
}

/// Reads a sample of a large file. Behind its head, the sample consists of whole lines.
pub(super) fn read_sample(file: &FileHandle, size: u64) -> io::Result<Vec<u8>> {
    let mut sample = Vec::new();
    file.read_at(0, HEAD_BYTES, &mut sample)?;
    let step = size.saturating_sub(HEAD_BYTES) / (BLOCKS + 1);
    if step < BLOCK_BYTES {
        return Ok(sample);
    }
    let Some(end) = last_line_end(&sample) else { return Ok(sample) };
    sample.truncate(end);
    for block in 1..=BLOCKS {
        let mut bytes = Vec::new();
        // An even offset, for UTF-16.
        file.read_at((HEAD_BYTES + block * step) & !1, BLOCK_BYTES, &mut bytes)?;
        let first = first_line_end(&bytes).unwrap_or(bytes.len());
        let last = last_line_end(&bytes).unwrap_or(0);
        sample.extend_from_slice(bytes.get(first..last).unwrap_or_default());
    }
    Ok(sample)
}

/// The end of a line in `bytes`, which begin at an even offset, so that an even number of bytes of
/// UTF-16 comes before it.
fn last_line_end(bytes: &[u8]) -> Option<usize> {
    let feed = bytes.iter().rposition(|byte| *byte == b'\n')?;
    Some(line_end_at(bytes, feed))
}

fn first_line_end(bytes: &[u8]) -> Option<usize> {
    let feed = bytes.iter().position(|byte| *byte == b'\n')?;
    Some(line_end_at(bytes, feed))
}

fn line_end_at(bytes: &[u8], feed: usize) -> usize {
    let is_little_endian = feed.is_multiple_of(2) && bytes.get(feed + 1) == Some(&0);
    feed + if is_little_endian { 2 } else { 1 }
}

/// Detects what a large file is, given a sample of it. Reads all of it, unless the sample shows
/// that it is binary.
pub(super) fn scan_large_file(
    file: &Arc<FileHandle>,
    size: u64,
    sample: &[u8],
    budget: &WorkBudget,
) -> io::Result<ContentForm> {
    let form = detect_form(sample, SampleExtent::Head);
    if form == ContentForm::Blob {
        return Ok(form);
    }
    budget.require_unlimited()?;
    let coded = match form {
        ContentForm::Charset(charset) => Some(charset),
        ContentForm::Utf8 | ContentForm::Blob => None,
    };
    if let Some(charset) = coded {
        if file_decodes(file, size, charset, budget)? {
            return Ok(form);
        }
        // Escape sequences that are not Japanese may still be a log in colour.
        if charset != ISO_2022_JP {
            return Ok(ContentForm::Blob);
        }
    }
    let maybe = match check_utf8(file, size, budget)? {
        Utf8Check::Utf8 { escapes } if escapes && coded.is_none() => ISO_2022_JP,
        Utf8Check::Utf8 { .. } => return Ok(ContentForm::Utf8),
        Utf8Check::MaybeCharset(charset) => charset,
        Utf8Check::Blob => return Ok(ContentForm::Blob),
    };
    Ok(match file_decodes(file, size, maybe, budget)? {
        true => ContentForm::Charset(maybe),
        false if maybe == ISO_2022_JP => ContentForm::Utf8,
        false => ContentForm::Blob,
    })
}

enum Utf8Check {
    /// UTF-8, perhaps with the escape sequences of ISO-2022-JP.
    Utf8 {
        escapes: bool,
    },
    /// Not UTF-8, but perhaps in this charset.
    MaybeCharset(&'static Encoding),
    Blob,
}

/// Reads the whole file. The lines that are not ASCII tell the charset, wherever they are.
fn check_utf8(file: &Arc<FileHandle>, size: u64, budget: &WorkBudget) -> io::Result<Utf8Check> {
    let (mut chunk, mut telling) = (Vec::new(), Vec::new());
    let (mut at, mut escapes, mut is_valid) = (0, false, true);
    while at < size && (is_valid || telling.len() < CHARSET_SAMPLE_BYTES) {
        budget.check_cancelled()?;
        let carry = chunk.len();
        file.read_at(at, CHUNK.min(size - at), &mut chunk)?;
        let read = (chunk.len() - carry) as u64;
        at += read;
        let is_last = read == 0 || at >= size;
        let signs = ByteClasses::of(&chunk);
        if signs.has(ByteClasses::NUL) {
            return Ok(Utf8Check::Blob);
        }
        let whole = if is_last { chunk.len() } else { complete_utf8_len(&chunk) };
        is_valid &= is_utf8(&chunk[..whole], SampleExtent::Whole);
        if !is_valid {
            keep_telling_lines(&chunk, &mut telling);
            chunk.clear();
        }
        if read == 0 {
            break;
        }
        escapes |= signs.has(ByteClasses::ESCAPE) && has_iso_2022_jp_escapes(&chunk);
        chunk.drain(..whole.min(chunk.len()));
    }
    if is_valid {
        return Ok(Utf8Check::Utf8 { escapes });
    }
    let guess = guess_charset(&telling, SampleExtent::Head);
    Ok(guess.map_or(Utf8Check::Blob, Utf8Check::MaybeCharset))
}

/// Appends the whole lines of `chunk` that are not ASCII, or all of it if it has no line end.
fn keep_telling_lines(chunk: &[u8], telling: &mut Vec<u8>) {
    let (Some(first), Some(last)) = (first_line_end(chunk), last_line_end(chunk)) else {
        if telling.is_empty() {
            telling.extend_from_slice(chunk);
        }
        return;
    };
    let start = if telling.is_empty() { 0 } else { first };
    for line in chunk[start..last].split_inclusive(|byte| *byte == b'\n') {
        let room = CHARSET_SAMPLE_BYTES.saturating_sub(telling.len());
        if !line.is_ascii() && line.len() <= room {
            telling.extend_from_slice(line);
        }
    }
}

fn file_decodes(
    file: &Arc<FileHandle>,
    size: u64,
    charset: &'static Encoding,
    budget: &WorkBudget,
) -> io::Result<bool> {
    let mut decoding = DecodingReader::new(file, size, charset);
    while let Some(text) = decoding.next()? {
        budget.check_cancelled()?;
        if decoding.had_errors || !has_only_text_characters(&text) {
            return Ok(false);
        }
    }
    Ok(!decoding.had_errors)
}
