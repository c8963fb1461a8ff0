//! Chunked reader for the text of one resource.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use memchr::memchr;
use resource::{
    Body, ByteSource, Content, Context, Error, ErrorKind, Part, Provider, ReadRequest, Resource,
    Result, Window,
};

/// Bytes per read.
const CHUNK_BYTES: u64 = 1 << 20;
/// Larger resources are not searched.
const MAX_BYTES: u64 = 16 << 20;

/// An open text with one chunk buffered.
pub(super) struct TextReader {
    /// The resource whose text this is.
    pub(super) resource: Arc<Resource>,
    /// Length of the text in bytes.
    pub(super) total: u64,
    /// Index of the part (format) that holds the text.
    part: usize,
    /// The format that it is read in; `None` for the primary one.
    format: Option<String>,
    /// The buffered chunk, and the offset behind it.
    chunk: Bytes,
    end: u64,
}

/// The bytes that a reader of `resource` may buffer: one chunk at a time.
pub(super) fn buffered_bytes(resource: &Resource) -> u64 {
    resource.size.filter(|_| resource.text_form().is_none()).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES)
}

/// Opens `resource` if it is text and at most 16 MiB.
pub(super) async fn open_text(
    provider: &dyn Provider,
    ctx: &Context,
    resource: &Resource,
) -> Result<TextReader> {
    let format = resource.text_form().map(str::to_owned);
    let size = resource.size.unwrap_or(0);
    if size > MAX_BYTES && format.is_none() {
        return Err(Error::too_large(size, MAX_BYTES));
    }
    let whole = ReadRequest { format: format.clone(), ..ReadRequest::whole(CHUNK_BYTES) };
    let first = Window::Part { offset: 0, length: CHUNK_BYTES, etag: None };
    let first = whole.with_window(first);
    let read = match provider.read(ctx, &resource.uri, &whole).await {
        Err(error) if error.kind == ErrorKind::TooLarge => {
            provider.read(ctx, &resource.uri, &first).await?
        }
        read => read?,
    };
    let mut opened = None;
    for (at, part) in content_parts(read.content)?.into_iter().enumerate() {
        if opened.is_none() && part.resource.uri == resource.uri {
            opened = read_text_part(part).await?.map(|taken| TextReader {
                part: at,
                format: format.clone(),
                ..taken
            });
        }
    }
    opened.filter(|opened| opened.total <= MAX_BYTES).ok_or_else(not_text)
}

impl TextReader {
    /// Takes the buffered chunk; `true` if it is the last one.
    pub(super) fn take_chunk(&mut self) -> (Bytes, bool) {
        (std::mem::take(&mut self.chunk), self.end >= self.total)
    }

    /// Reads the next chunk; fails if the etag changed.
    pub(super) async fn read_next_chunk(
        &mut self,
        provider: &dyn Provider,
        ctx: &Context,
    ) -> Result<()> {
        let uri = &self.resource.uri;
        let etag = self.resource.etag.clone();
        let window = Window::Part { offset: self.end, length: CHUNK_BYTES, etag };
        let format = self.format.clone();
        let request = ReadRequest { part: Some(self.part), format, ..window.into() };
        let read = provider.read(ctx, uri, &request).await?;
        let part = content_parts(read.content)?.into_iter().next().ok_or_else(not_text)?;
        let next =
            read_text_part(part).await?.filter(|next| next.end > self.end).ok_or_else(not_text)?;
        (self.chunk, self.end, self.total) = (next.chunk, next.end, next.total);
        Ok(())
    }
}

fn not_text() -> Error {
    Error::invalid("not a text resource")
}

fn content_parts(content: Content) -> Result<Vec<Part>> {
    match content {
        Content::Parts(parts) => Ok(parts),
        Content::Collection(_) | Content::InputRequired(_) => Err(not_text()),
    }
}

/// Buffers the text of a part; `None` if it is binary or too large.
async fn read_text_part(part: Part) -> Result<Option<TextReader>> {
    let Body::Text(source) = part.body else { return Ok(None) };
    let chunk = match source {
        ByteSource::Bytes(bytes) => bytes,
        ByteSource::Stream(mut stream) => {
            let mut all = BytesMut::new();
            while let Some(piece) = stream.next().await {
                all.extend_from_slice(&piece?);
                if all.len() as u64 > MAX_BYTES {
                    return Ok(None);
                }
            }
            all.freeze()
        }
    };
    if memchr(0, &chunk).is_some() {
        return Ok(None);
    }
    let length = chunk.len() as u64;
    let (end, total) = part.slice.map_or((length, length), |s| (s.offset + length, s.total));
    Ok(Some(TextReader { resource: part.resource, total, part: 0, format: None, chunk, end }))
}
