//! Reader of large contents: decodes and masks a stream, and holds one window of it.

use std::io::{self, Read as _, Seek as _, SeekFrom};

use bytes::Bytes;
use encoding_rs::Decoder;
use futures_util::stream;
use parking_lot::Mutex;
use redaction::TextMasker;
use resource::{ByteSource, Error, Result};

use super::blob::ContentKey;
use super::content::GitContentStream;
use super::error::unreadable;
use detection::text::complete_utf8_len;

/// Bytes read at a time. A multiple of three, so that each chunk is base64-encoded by itself.
const CHUNK: usize = 192 * 1024;

/// How many readers wait for the next window.
const MAX_IDLE: usize = 4;

/// Reads a large content from its start on.
pub(super) struct LargeReader {
    stream: GitContentStream,
    /// Stored bytes that are still to come.
    left: u64,
    text: Option<TextTransform>,
    /// What was read and not dropped yet, and where it begins.
    held: Vec<u8>,
    start: u64,
}

/// Makes a text of stored bytes: UTF-8, masked.
pub(super) struct TextTransform {
    decoder: Decoder,
    masker: Option<TextMasker>,
    pub(super) had_errors: bool,
}

/// Readers that stand where their last window ends, so that the next one costs no more than itself.
#[derive(Default)]
pub(super) struct IdleReaders(Mutex<Vec<(ContentKey, LargeReader)>>);

impl IdleReaders {
    /// Takes a reader that has not passed `offset` yet.
    pub(super) fn take(&self, key: ContentKey, offset: u64) -> Option<LargeReader> {
        let mut idle = self.0.lock();
        let fits =
            |(own, reader): &(ContentKey, LargeReader)| *own == key && reader.start <= offset;
        let nearest = idle.iter().enumerate().filter(|(_, one)| fits(one));
        let (at, _) = nearest.max_by_key(|(_, (_, reader))| reader.start)?;
        Some(idle.remove(at).1)
    }

    pub(super) fn put(&self, key: ContentKey, reader: LargeReader) {
        let mut idle = self.0.lock();
        if idle.len() == MAX_IDLE {
            idle.remove(0);
        }
        idle.push((key, reader));
    }
}

impl LargeReader {
    /// Reads `size` bytes of `stream`, as text if `text` says how.
    pub(super) fn new(stream: GitContentStream, size: u64, text: Option<TextTransform>) -> Self {
        Self { stream, left: size, text, held: Vec::new(), start: 0 }
    }

    /// The `length` bytes at `offset`, or as many as there are. Asks `check` now and then whether
    /// to go on. A later call may not ask for what is before `offset`.
    pub(super) fn read_at(
        &mut self,
        offset: u64,
        length: usize,
        check: impl Fn() -> Result<()>,
    ) -> Result<&[u8]> {
        while self.end() <= offset && self.left > 0 {
            check()?;
            self.drop_held(self.held.len());
            if !self.seek_to(offset)? {
                self.fill()?;
            }
        }
        let before = offset.saturating_sub(self.start).min(self.held.len() as u64);
        self.drop_held(before as usize);
        while self.held.len() < length && self.left > 0 {
            check()?;
            self.fill()?;
        }
        Ok(&self.held[..self.held.len().min(length)])
    }

    /// Reads to the end; returns how many bytes there are.
    pub(super) fn count(&mut self, check: impl Fn() -> Result<()>) -> Result<u64> {
        self.read_at(u64::MAX, 0, check)?;
        Ok(self.end())
    }

    /// How the text was made, if it is one.
    pub(super) fn text(&self) -> Option<&TextTransform> {
        self.text.as_ref()
    }

    /// Streams everything, each chunk read on a blocking thread when the consumer asks for it.
    pub(super) fn into_stream(self, is_text: bool) -> ByteSource {
        ByteSource::Stream(Box::pin(stream::unfold(Some(self), move |reader| async move {
            let mut reader = reader?;
            let work = tokio::task::spawn_blocking(move || {
                let chunk = reader.next_chunk(is_text);
                (chunk, reader)
            });
            match work.await {
                Ok((Ok(Some(chunk)), reader)) => Some((Ok(chunk), Some(reader))),
                Ok((Ok(None), _)) => None,
                Ok((Err(error), _)) => Some((Err(error), None)),
                Err(error) => {
                    let error = Error::internal("reading of an object failed").caused_by(error);
                    Some((Err(error), None))
                }
            }
        })))
    }

    /// The next chunk, of whole characters if it is a text; `None` at the end.
    fn next_chunk(&mut self, is_text: bool) -> Result<Option<Bytes>> {
        loop {
            let whole = match is_text && self.left > 0 {
                true => complete_utf8_len(&self.held),
                false => self.held.len(),
            };
            if whole > 0 {
                let rest = self.held.split_off(whole);
                let chunk = std::mem::replace(&mut self.held, rest);
                self.start += chunk.len() as u64;
                return Ok(Some(Bytes::from(chunk)));
            }
            if self.left == 0 {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    fn end(&self) -> u64 {
        self.start + self.held.len() as u64
    }

    fn drop_held(&mut self, length: usize) {
        self.held.drain(..length);
        self.start += length as u64;
    }

    /// Goes to `offset` at once, if the content is a plain file that is given as it is.
    fn seek_to(&mut self, offset: u64) -> Result<bool> {
        let (GitContentStream::Plain(file), None) = (&mut self.stream, &self.text) else {
            return Ok(false);
        };
        let distance = offset.saturating_sub(self.start).min(self.left);
        self.start += distance;
        self.left -= distance;
        file.seek(SeekFrom::Start(self.start)).map_err(unreadable)?;
        Ok(distance > 0)
    }

    /// Reads a chunk behind what is held.
    fn fill(&mut self) -> Result<()> {
        let want = self.left.min(CHUNK as u64);
        let mut raw = Vec::new();
        let mut limited = (&mut self.stream).take(want);
        let read = limited.read_to_end(&mut raw).map_err(unreadable)?;
        if (read as u64) < want {
            return Err(unreadable(io::Error::from(io::ErrorKind::UnexpectedEof)));
        }
        self.left -= want;
        match &mut self.text {
            Some(text) => self.held.extend_from_slice(text.push(&raw, self.left == 0).as_bytes()),
            None if self.held.is_empty() => self.held = raw,
            None => self.held.extend_from_slice(&raw),
        }
        Ok(())
    }
}

impl TextTransform {
    pub(super) fn new(decoder: Decoder, masker: Option<TextMasker>) -> Self {
        Self { decoder, masker, had_errors: false }
    }

    fn push(&mut self, raw: &[u8], is_last: bool) -> String {
        let room = self.decoder.max_utf8_buffer_length(raw.len()).unwrap_or(raw.len());
        let mut text = String::with_capacity(room);
        let (_, _, had_errors) = self.decoder.decode_to_string(raw, &mut text, is_last);
        self.had_errors |= had_errors;
        let Some(masker) = &mut self.masker else { return text };
        let mut masked = masker.push(&text);
        if is_last {
            masked.push_str(&masker.finish());
        }
        masked
    }
}
