//! Chunked file reader: raw bytes, UTF-8, or text decoded from another charset.
//!
//! Memory use does not depend on the file's size.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use encoding_rs::{Decoder, Encoding};
use futures_util::stream;
use resource::{Error, Result, Source};
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, pread};

use super::fault::translate;
use super::text::whole_characters;

/// Bytes read per chunk. A multiple of three, so that each chunk is base64-encoded by itself.
pub(super) const CHUNK: u64 = 192 * 1024;

/// Bytes read per chunk of a file that is decoded; one byte can decode to three.
const CODED_CHUNK: u64 = 64 * 1024;

/// A byte range of a file, read chunk by chunk. The reader ignores bytes that are appended after it
/// starts, and ends early if the file shrinks.
pub(super) enum Chunks {
    /// Bytes as they are.
    Raw(Raw),
    /// UTF-8 text. No chunk splits a character; bytes that are no longer UTF-8 become U+FFFD.
    Text(Raw, Vec<u8>),
    /// Decoded text. The range counts decoded bytes.
    Coded(Box<Decoding>, Range<u64>),
}

/// Reader of a byte range of a file.
pub(super) struct Raw {
    file: Arc<File>,
    left: Range<u64>,
}

/// Reader that decodes a file to UTF-8.
pub(super) struct Decoding {
    raw: Raw,
    decoder: Decoder,
    given: u64,
    over: bool,
    /// True once the decoder has replaced a malformed sequence.
    pub(super) flawed: bool,
}

impl Chunks {
    pub(super) fn raw(file: &Arc<File>, range: Range<u64>) -> Self {
        Self::Raw(Raw { file: file.clone(), left: range })
    }

    pub(super) fn text(file: &Arc<File>, range: Range<u64>) -> Self {
        Self::Text(Raw { file: file.clone(), left: range }, Vec::new())
    }

    pub(super) fn coded(decoding: Decoding, range: Range<u64>) -> Self {
        Self::Coded(Box::new(decoding), range)
    }

    /// Returns the next chunk, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let room = self.room();
            match self.next_in(room)? {
                Some(piece) if piece.is_empty() => {}
                piece => return Ok(piece),
            }
        }
    }

    /// Allocates the buffer for the next chunk.
    fn room(&self) -> Vec<u8> {
        match self {
            Self::Raw(raw) => Vec::with_capacity(raw.room()),
            Self::Text(raw, carry) => Vec::with_capacity(carry.len() + raw.room()),
            Self::Coded(..) => Vec::new(),
        }
    }

    /// Reads once. Returns an empty chunk if the read completed no character or skipped all it
    /// read.
    fn next_in(&mut self, room: Vec<u8>) -> io::Result<Option<Bytes>> {
        match self {
            Self::Raw(raw) => Ok(raw.next(CHUNK, room)?.map(Bytes::from)),
            Self::Text(raw, carry) => next_text(raw, carry, room),
            Self::Coded(decoding, wanted) => next_coded(decoding, wanted),
        }
    }

    /// Reads all chunks into one.
    pub(super) fn collect(mut self) -> io::Result<Bytes> {
        if let Self::Raw(raw) = &mut self {
            let most = raw.left.end.saturating_sub(raw.left.start);
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

    /// Streams the chunks, each read on a blocking thread when the consumer asks for it.
    pub(super) fn stream(self) -> Source {
        Source::Stream(Box::pin(stream::unfold(Some(self), |chunks| async {
            let mut chunks = chunks?;
            loop {
                let (piece, rest) = chunks.step().await;
                match piece {
                    Ok(Some(piece)) if piece.is_empty() => chunks = rest?,
                    Ok(piece) => return Some((Ok(piece?), rest)),
                    Err(error) => return Some((Err(error), None)),
                }
            }
        })))
    }

    /// Reads once on a blocking thread; returns the chunk and the reader.
    async fn step(mut self) -> (Result<Option<Bytes>>, Option<Self>) {
        // Allocated here, not on the blocking thread: allocators keep a cache for each thread.
        let room = self.room();
        let work = tokio::task::spawn_blocking(move || (self.next_in(room), self));
        match work.await {
            Ok((piece, rest)) => (piece.map_err(translate), Some(rest)),
            Err(error) => (Err(Error::internal("file read task failed").caused_by(error)), None),
        }
    }
}

impl Raw {
    /// Appends up to `most` bytes to `into`; returns `None` at the end.
    fn next(&mut self, most: u64, mut into: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        let want = most.min(self.left.end.saturating_sub(self.left.start));
        let had = into.len();
        read_at(&self.file, self.left.start, want, &mut into)?;
        let read = (into.len() - had) as u64;
        self.left.start += read;
        if read < want {
            self.left.end = self.left.start;
        }
        Ok((read > 0).then_some(into))
    }

    fn room(&self) -> usize {
        CHUNK.min(self.left.end.saturating_sub(self.left.start)) as usize
    }

    fn is_over(&self) -> bool {
        self.left.is_empty()
    }
}

impl Decoding {
    pub(super) fn new(file: &Arc<File>, size: u64, charset: &'static Encoding) -> Self {
        let raw = Raw { file: file.clone(), left: 0..size };
        let decoder = charset.new_decoder_with_bom_removal();
        Self { raw, decoder, given: 0, over: false, flawed: false }
    }

    /// Returns the next decoded text, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
        while !self.over {
            let raw = self.raw.next(CODED_CHUNK, Vec::new())?.unwrap_or_default();
            self.over = self.raw.is_over();
            let room = self.decoder.max_utf8_buffer_length(raw.len()).unwrap_or(raw.len());
            let mut text = String::with_capacity(room);
            let (_, _, flawed) = self.decoder.decode_to_string(&raw, &mut text, self.over);
            self.flawed |= flawed;
            self.given += text.len() as u64;
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }
}

/// Appends up to `most` bytes of `file` at `offset` to `into`; fewer only at the end of the file.
///
/// Allocates once and does not zero the buffer first.
pub(super) fn read_at(file: &File, offset: u64, most: u64, into: &mut Vec<u8>) -> io::Result<()> {
    let start = into.len();
    let end = start + usize::try_from(most).map_err(io::Error::other)?;
    into.reserve_exact(end - start);
    while into.len() < end {
        let at = offset + (into.len() - start) as u64;
        match pread(file, spare_capacity(into), at) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    into.truncate(end);
    Ok(())
}

fn next_text(raw: &mut Raw, carry: &mut Vec<u8>, mut room: Vec<u8>) -> io::Result<Option<Bytes>> {
    let had = !carry.is_empty();
    room.append(carry);
    let mut chunk = match raw.next(CHUNK, room)? {
        Some(chunk) => chunk,
        None if had => return Ok(Some(Bytes::from_static("\u{fffd}".as_bytes()))),
        None => return Ok(None),
    };
    if !raw.is_over() {
        *carry = chunk.split_off(whole_characters(&chunk));
    }
    let text = match simdutf8::basic::from_utf8(&chunk) {
        Ok(_) => chunk,
        Err(_) => String::from_utf8_lossy(&chunk).into_owned().into_bytes(),
    };
    Ok(Some(Bytes::from(text)))
}

fn next_coded(decoding: &mut Decoding, wanted: &Range<u64>) -> io::Result<Option<Bytes>> {
    let start = decoding.given;
    if start >= wanted.end {
        return Ok(None);
    }
    let Some(text) = decoding.next()? else { return Ok(None) };
    let inside = |at: u64| text.floor_char_boundary((at - start) as usize);
    let from = inside(wanted.start.clamp(start, decoding.given));
    let to = inside(wanted.end.clamp(start, decoding.given));
    // Text before the range yields an empty chunk, so a dropped stream stops after one read.
    Ok(Some(Bytes::from(text).slice(from..to)))
}
