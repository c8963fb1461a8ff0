//! Chunked file reader: raw bytes, UTF-8, or text decoded from another charset.
//!
//! Memory use does not depend on the file's size.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use encoding_rs::{Decoder, Encoding, ISO_2022_JP, UTF_16BE, UTF_16LE};
use futures_util::stream;
use machinery::SharePermit;
use resource::{ByteSource, Error, Result};

use super::error::to_resource_error;
use super::platform::FileHandle;
use super::stamp::FileStamp;
use crate::permits::PrincipalPermits;
use detection::text::complete_utf8_len;

/// Bytes read per chunk. A multiple of three, so that each chunk is base64-encoded by itself.
pub(super) const CHUNK: u64 = 192 * 1024;

/// Bytes read per chunk of a file that is decoded; one byte can decode to three.
const ENCODED_CHUNK: u64 = 64 * 1024;

/// A byte range of a file, read chunk by chunk. The reader ends early if the file shrinks.
pub(super) enum FileChunks {
    /// Bytes as they are.
    Raw(RawReader),
    /// UTF-8 text. No chunk splits a character; bytes that are no longer UTF-8 become U+FFFD.
    Text(RawReader, Vec<u8>),
    /// Decoded text. The range counts decoded bytes.
    Decoded(Box<DecodingReader>, Range<u64>),
}

/// Reader of a byte range of a file.
pub(super) struct RawReader {
    file: Arc<FileHandle>,
    remaining: Range<u64>,
}

/// Reader that decodes a file to UTF-8.
pub(super) struct DecodingReader {
    raw: RawReader,
    charset: &'static Encoding,
    decoder: Decoder,
    /// Bytes behind the last line of a chunk, decoded with the next one.
    carry: Vec<u8>,
    /// False while ISO-2022-JP is, or may be, in another set of characters.
    is_in_ascii: bool,
    pub(super) decoded_bytes: u64,
    is_done: bool,
    /// True once the decoder has replaced a malformed sequence.
    pub(super) had_errors: bool,
    /// Where decoding can begin anew, if the last text ends with a line.
    pub(super) line_end: Option<DecodePoint>,
}

/// A place between two lines, in bytes of the file and of the decoded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DecodePoint {
    pub(super) raw: u64,
    pub(super) decoded: u64,
}

impl FileChunks {
    pub(super) fn raw(file: &Arc<FileHandle>, range: Range<u64>) -> Self {
        Self::Raw(RawReader { file: file.clone(), remaining: range })
    }

    pub(super) fn text(file: &Arc<FileHandle>, range: Range<u64>) -> Self {
        Self::Text(RawReader { file: file.clone(), remaining: range }, Vec::new())
    }

    pub(super) fn decoded(decoding: DecodingReader, range: Range<u64>) -> Self {
        Self::Decoded(Box::new(decoding), range)
    }

    /// Returns the next chunk, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let room = self.alloc_buffer();
            match self.read_once(room)? {
                Some(piece) if piece.is_empty() => {}
                piece => return Ok(piece),
            }
        }
    }

    /// Allocates the buffer for the next chunk.
    fn alloc_buffer(&self) -> Vec<u8> {
        match self {
            Self::Raw(raw) => Vec::with_capacity(raw.next_len()),
            Self::Text(raw, carry) => Vec::with_capacity(carry.len() + raw.next_len()),
            Self::Decoded(..) => Vec::new(),
        }
    }

    /// Reads once. Returns an empty chunk if the read completed no character or skipped all it
    /// read.
    fn read_once(&mut self, room: Vec<u8>) -> io::Result<Option<Bytes>> {
        match self {
            Self::Raw(raw) => Ok(raw.next(CHUNK, room)?.map(Bytes::from)),
            Self::Text(raw, carry) => next_text(raw, carry, room),
            Self::Decoded(decoding, wanted) => next_decoded(decoding, wanted),
        }
    }

    /// Reads all chunks into one.
    pub(super) fn collect(mut self) -> io::Result<Bytes> {
        if let Self::Raw(raw) = &mut self {
            let most = raw.remaining.end.saturating_sub(raw.remaining.start);
            return Ok(raw.next(most, Vec::new())?.map(Bytes::from).unwrap_or_default());
        }
        let first = self.next()?.unwrap_or_default();
        let Some(second) = self.next()? else { return Ok(first) };
        let mut all = Vec::from(first);
        all.extend_from_slice(&second);
        while let Some(chunk) = self.next()? {
            all.extend_from_slice(&chunk);
        }
        Ok(Bytes::from(all))
    }

    /// Streams the chunks, each read when the consumer asks for it: on its own thread if the kernel has
    /// the chunk in memory, else on a blocking one. The stream ends with an error unless the file
    /// still has the content of `stamp` after the last chunk.
    ///
    /// `permits` bound how many are read on blocking threads at a time.
    pub(super) fn into_stream(
        self,
        stamp: FileStamp,
        permits: Option<PrincipalPermits>,
    ) -> ByteSource {
        let start = Some((self, permits));
        ByteSource::Stream(Box::pin(stream::unfold(start, move |state| async move {
            let (mut chunks, permits) = state?;
            loop {
                if chunks.is_next_cached() {
                    let room = chunks.alloc_buffer();
                    match chunks.read_checked(room, &stamp) {
                        Ok(Some(piece)) if piece.is_empty() => continue,
                        Ok(piece) => return Some((Ok(piece?), Some((chunks, permits)))),
                        Err(error) => return Some((Err(error), None)),
                    }
                }
                let permit = match &permits {
                    Some(permits) => match permits.acquire().await {
                        Ok(permit) => Some(permit),
                        Err(error) => return Some((Err(error), None)),
                    },
                    None => None,
                };
                let (piece, rest) = chunks.read_once_blocking(stamp, permit).await;
                match piece {
                    Ok(Some(piece)) if piece.is_empty() => chunks = rest?,
                    Ok(piece) => return Some((Ok(piece?), rest.map(|rest| (rest, permits)))),
                    Err(error) => return Some((Err(error), None)),
                }
            }
        })))
    }

    /// Reads once. After the last chunk, an error unless the file still has the content of `stamp`.
    fn read_checked(&mut self, room: Vec<u8>, stamp: &FileStamp) -> Result<Option<Bytes>> {
        match self.read_once(room).map_err(to_resource_error)? {
            None => check_unchanged(self.file(), stamp).map(|()| None),
            piece => Ok(piece),
        }
    }

    /// Whether the next read waits for no disk. Decoding takes long enough for another thread.
    fn is_next_cached(&self) -> bool {
        match self {
            Self::Raw(raw) | Self::Text(raw, _) => raw.is_next_cached(),
            Self::Decoded(..) => false,
        }
    }

    /// Reads once on a blocking thread; returns the chunk and the reader.
    async fn read_once_blocking(
        mut self,
        stamp: FileStamp,
        permit: Option<SharePermit>,
    ) -> (Result<Option<Bytes>>, Option<Self>) {
        // Allocated here, not on the blocking thread: allocators keep a cache for each thread.
        let room = self.alloc_buffer();
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            (self.read_checked(room, &stamp), self)
        });
        match work.await {
            Ok((piece, rest)) => (piece, Some(rest)),
            Err(error) => (Err(Error::internal("file read task failed").caused_by(error)), None),
        }
    }

    fn file(&self) -> &FileHandle {
        match self {
            Self::Raw(raw) | Self::Text(raw, _) => &raw.file,
            Self::Decoded(decoding, _) => &decoding.raw.file,
        }
    }
}

/// An error with the current etag unless `file` still has the content of `stamp`.
pub(super) fn check_unchanged(file: &FileHandle, stamp: &FileStamp) -> Result<()> {
    let now = file.stat().map_err(to_resource_error)?;
    if stamp.has_content_of(&now) {
        return Ok(());
    }
    Err(Error::changed(now.stamp.etag()))
}

impl RawReader {
    /// Appends up to `most` bytes to `into`; returns `None` at the end.
    fn next(&mut self, most: u64, mut into: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        let want = most.min(self.remaining.end.saturating_sub(self.remaining.start));
        let had = into.len();
        self.file.read_at(self.remaining.start, want, &mut into)?;
        let read = (into.len() - had) as u64;
        self.remaining.start += read;
        if read < want {
            self.remaining.end = self.remaining.start;
        }
        Ok((read > 0).then_some(into))
    }

    /// Whether the next chunk is in memory. At the end, the byte before it tells whether the file
    /// system answers at once.
    fn is_next_cached(&self) -> bool {
        let last = (self.remaining.start + self.next_len() as u64).checked_sub(1);
        last.is_some_and(|last| self.file.is_cached(last))
    }

    fn next_len(&self) -> usize {
        CHUNK.min(self.remaining.end.saturating_sub(self.remaining.start)) as usize
    }

    fn is_over(&self) -> bool {
        self.remaining.is_empty()
    }
}

impl DecodingReader {
    pub(super) fn new(file: &Arc<FileHandle>, size: u64, charset: &'static Encoding) -> Self {
        let decoder = charset.new_decoder_with_bom_removal();
        Self::begin(file, size, (charset, decoder), DecodePoint { raw: 0, decoded: 0 })
    }

    /// Decodes from `point` on, which an earlier reader of the same version found.
    pub(super) fn resume(
        file: &Arc<FileHandle>,
        size: u64,
        charset: &'static Encoding,
        point: DecodePoint,
    ) -> Self {
        if point.raw == 0 {
            return Self::new(file, size, charset);
        }
        Self::begin(file, size, (charset, charset.new_decoder_without_bom_handling()), point)
    }

    fn begin(
        file: &Arc<FileHandle>,
        size: u64,
        (charset, decoder): (&'static Encoding, Decoder),
        point: DecodePoint,
    ) -> Self {
        let raw = RawReader { file: file.clone(), remaining: point.raw..size };
        Self {
            raw,
            charset,
            decoder,
            carry: Vec::new(),
            is_in_ascii: true,
            decoded_bytes: point.decoded,
            is_done: false,
            had_errors: false,
            line_end: None,
        }
    }

    /// Returns the next decoded text, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
        while !self.is_done {
            let mut raw = std::mem::take(&mut self.carry);
            let most = ENCODED_CHUNK - raw.len() as u64;
            raw.append(&mut self.raw.next(most, Vec::new())?.unwrap_or_default());
            self.is_done = self.raw.is_over();
            let end = if self.is_done { None } else { self.find_line_end(&raw) };
            if let Some(end) = end {
                self.carry = raw.split_off(end);
            }
            if let Some(escape) = find_escape(&raw) {
                self.is_in_ascii = raw[escape + 1..].starts_with(ASCII_ESCAPE);
            }
            let room = self.decoder.max_utf8_buffer_length(raw.len()).unwrap_or(raw.len());
            let mut text = String::with_capacity(room);
            let (_, _, flawed) = self.decoder.decode_to_string(&raw, &mut text, self.is_done);
            self.had_errors |= flawed;
            self.decoded_bytes += text.len() as u64;
            let at = self.raw.remaining.start - self.carry.len() as u64;
            self.line_end = end.map(|_| DecodePoint { raw: at, decoded: self.decoded_bytes });
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Where the last line in `bytes` ends, if a decoder can begin there.
    fn find_line_end(&self, bytes: &[u8]) -> Option<usize> {
        if [UTF_16LE, UTF_16BE].contains(&self.charset) {
            let feed = if self.charset == UTF_16LE { [b'\n', 0] } else { [0, b'\n'] };
            let units = bytes.as_chunks::<2>().0;
            return units.iter().rposition(|unit| *unit == feed).map(|at| 2 * at + 2);
        }
        // In all the others, a line feed is no part of a longer character.
        let end = bytes.iter().rposition(|byte| *byte == b'\n')? + 1;
        let is_in_ascii = match find_escape(&bytes[..end]) {
            Some(escape) => bytes[escape + 1..].starts_with(ASCII_ESCAPE),
            None => self.is_in_ascii,
        };
        (is_in_ascii || self.charset != ISO_2022_JP).then_some(end)
    }
}

/// What comes behind ESC where ISO-2022-JP switches to ASCII, in which a decoder begins.
const ASCII_ESCAPE: &[u8] = b"(B";

fn find_escape(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == 0x1b)
}

fn next_text(
    raw: &mut RawReader,
    carry: &mut Vec<u8>,
    mut room: Vec<u8>,
) -> io::Result<Option<Bytes>> {
    let had = !carry.is_empty();
    room.append(carry);
    let mut chunk = match raw.next(CHUNK, room)? {
        Some(chunk) => chunk,
        None if had => return Ok(Some(Bytes::from_static("\u{fffd}".as_bytes()))),
        None => return Ok(None),
    };
    if !raw.is_over() {
        *carry = chunk.split_off(complete_utf8_len(&chunk));
    }
    let text = match simdutf8::basic::from_utf8(&chunk) {
        Ok(_) => chunk,
        Err(_) => String::from_utf8_lossy(&chunk).into_owned().into_bytes(),
    };
    Ok(Some(Bytes::from(text)))
}

fn next_decoded(decoding: &mut DecodingReader, wanted: &Range<u64>) -> io::Result<Option<Bytes>> {
    let start = decoding.decoded_bytes;
    if start >= wanted.end {
        return Ok(None);
    }
    let Some(text) = decoding.next()? else { return Ok(None) };
    let inside = |at: u64| text.floor_char_boundary((at - start) as usize);
    let from = inside(wanted.start.clamp(start, decoding.decoded_bytes));
    let to = inside(wanted.end.clamp(start, decoding.decoded_bytes));
    // Text before the range yields an empty chunk, so a dropped stream stops after one read.
    Ok(Some(Bytes::from(text).slice(from..to)))
}
