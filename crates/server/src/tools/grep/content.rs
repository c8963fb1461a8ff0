//! Chunked reader for the text of one resource.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use memchr::memchr;
use resource::{
    Body, Content, Context, Error, ErrorKind, Part, Provider, Resource, Result, Source, Window,
};

/// Bytes per read.
const CHUNK: u64 = 1 << 20;
/// Larger resources are not searched.
const MOST: u64 = 16 << 20;

/// An open text with one chunk buffered.
pub(super) struct Opened {
    /// The resource whose text this is.
    pub(super) resource: Arc<Resource>,
    /// Length of the text in bytes.
    pub(super) total: u64,
    /// Index of the part (format) that holds the text.
    part: usize,
    /// The buffered chunk, and the offset behind it.
    chunk: Bytes,
    end: u64,
}

/// Opens `resource` if it is text and at most 16 MiB.
pub(super) async fn open(
    provider: &dyn Provider,
    ctx: &Context,
    resource: &Resource,
) -> Result<Opened> {
    let size = resource.size.unwrap_or(0);
    if size > MOST {
        return Err(Error::too_large(size, MOST));
    }
    let whole = Window::Whole { limit: CHUNK };
    let first = Window::Part { offset: 0, length: CHUNK, etag: None };
    let read = match provider.read(ctx, &resource.uri, &whole).await {
        Err(error) if error.kind == ErrorKind::TooLarge => {
            provider.read(ctx, &resource.uri, &first).await?
        }
        read => read?,
    };
    let mut opened = None;
    for (at, part) in parts(read.content)?.into_iter().enumerate() {
        if opened.is_none() && part.resource.uri == resource.uri {
            opened = taken(part).await?.map(|taken| Opened { part: at, ..taken });
        }
    }
    opened.filter(|opened| opened.total <= MOST).ok_or_else(no_text)
}

impl Opened {
    /// Takes the buffered chunk; `true` if it is the last one.
    pub(super) fn chunk(&mut self) -> (Bytes, bool) {
        (std::mem::take(&mut self.chunk), self.end >= self.total)
    }

    /// Reads the next chunk; fails if the etag changed.
    pub(super) async fn advance(&mut self, provider: &dyn Provider, ctx: &Context) -> Result<()> {
        let uri = &self.resource.uri;
        let etag = self.resource.etag.clone();
        let window = Window::Part { offset: self.end, length: CHUNK, etag };
        let read = provider.read(ctx, uri, &window).await?;
        let part = parts(read.content)?.into_iter().nth(self.part).ok_or_else(no_text)?;
        let next = taken(part).await?.filter(|next| next.end > self.end).ok_or_else(no_text)?;
        (self.chunk, self.end, self.total) = (next.chunk, next.end, next.total);
        Ok(())
    }
}

fn no_text() -> Error {
    Error::invalid("not a text resource")
}

fn parts(content: Content) -> Result<Vec<Part>> {
    match content {
        Content::Parts(parts) => Ok(parts),
        Content::Collection(_) | Content::Question(_) => Err(no_text()),
    }
}

/// Buffers the text of a part; `None` if it is binary or too large.
async fn taken(part: Part) -> Result<Option<Opened>> {
    let Body::Text(source) = part.body else { return Ok(None) };
    let chunk = match source {
        Source::Bytes(bytes) => bytes,
        Source::Stream(mut stream) => {
            let mut all = BytesMut::new();
            while let Some(piece) = stream.next().await {
                all.extend_from_slice(&piece?);
                if all.len() as u64 > MOST {
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
    Ok(Some(Opened { resource: part.resource, total, part: 0, chunk, end }))
}
