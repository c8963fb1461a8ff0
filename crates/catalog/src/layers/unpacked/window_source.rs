//! Positioned reads of a resource: windows of the provider, for a parser on a blocking thread.

use std::io;
use std::sync::Arc;

use archive::{ArchiveError, PositionedRead};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use parking_lot::Mutex;
use resource::{
    Body, ByteSource, Content, Context, Error, ErrorKind, Provider, Result, Uri, Window,
};
use tokio::runtime::Handle;

/// The bytes of one version of a resource.
pub(super) struct WindowSource {
    pub(super) inner: Arc<dyn Provider>,
    pub(super) ctx: Context,
    pub(super) uri: Uri,
    pub(super) etag: Option<String>,
    pub(super) size: u64,
    pub(super) runtime: Handle,
    pub(super) failure: Arc<SourceFailure>,
}

/// The error of the provider behind a failed read, which decoders would wrap or lose.
#[derive(Default)]
pub(super) struct SourceFailure(Mutex<Option<Error>>);

impl SourceFailure {
    /// The error for the caller: that of the provider, if it failed.
    pub(super) fn explain(&self, error: ArchiveError) -> Error {
        if let Some(error) = self.0.lock().take() {
            return error;
        }
        let kind = match &error {
            ArchiveError::Damaged(_) | ArchiveError::Protected | ArchiveError::Unsupported(_) => {
                ErrorKind::Unsupported
            }
            ArchiveError::TooLarge(_) => ErrorKind::TooLarge,
            ArchiveError::Source(_) => ErrorKind::Unavailable,
        };
        Error::new(kind, error.to_string()).caused_by(error)
    }
}

impl PositionedRead for WindowSource {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, length: usize) -> io::Result<Bytes> {
        let length = usize::try_from(self.size.saturating_sub(offset))
            .map_or(length, |left| left.min(length));
        let read = self.runtime.block_on(self.read_all(offset, length));
        read.map_err(|error| {
            *self.failure.0.lock() = Some(error);
            io::Error::other("the source failed")
        })
    }
}

impl WindowSource {
    /// Reads windows until there are `length` bytes or no more.
    async fn read_all(&self, offset: u64, length: usize) -> Result<Bytes> {
        let mut all = BytesMut::new();
        while all.len() < length {
            let at = offset + all.len() as u64;
            let bytes = self.read_window(at, length - all.len()).await?;
            if bytes.len() == length {
                return Ok(bytes);
            }
            if bytes.is_empty() {
                break;
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all.freeze())
    }

    async fn read_window(&self, offset: u64, length: usize) -> Result<Bytes> {
        let window = Window::Part { offset, length: length as u64, etag: self.etag.clone() };
        let reading = self.inner.read(&self.ctx, &self.uri, &window.into()).await?;
        let Content::Parts(parts) = reading.content else { return Err(not_bytes(&self.uri)) };
        let part = parts.into_iter().next().ok_or_else(|| not_bytes(&self.uri))?;
        let is_there = part.slice.is_some_and(|slice| slice.offset == offset);
        let (Body::Blob(source) | Body::Text(source)) = part.body;
        if !is_there {
            return Err(not_bytes(&self.uri));
        }
        let mut chunks = match source {
            ByteSource::Bytes(bytes) => return Ok(bytes.slice(..bytes.len().min(length))),
            ByteSource::Stream(chunks) => chunks,
        };
        let mut all = BytesMut::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            all.extend_from_slice(&chunk[..chunk.len().min(length - all.len())]);
            if all.len() == length {
                break;
            }
        }
        Ok(all.freeze())
    }
}

fn not_bytes(uri: &Uri) -> Error {
    let message = "the source does not give this archive as bytes, so that it cannot be opened";
    Error::new(ErrorKind::Unsupported, message).about(uri)
}
