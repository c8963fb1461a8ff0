//! Window reader: reads ranges of any length from a provider, pinned to one version.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use resource::{
    Body, ByteSource, Content, Context, Error, ErrorKind, Freshness, Provider, ReadRequest,
    Resource, Result, SectionChoice, Slice, Uri, Window, tokens,
};

use super::{FormatWindow, MAX_WINDOW_BYTES, cut};

/// Bytes to read beyond a window, to see what follows its end.
pub(super) const LOOKAHEAD_BYTES: u64 = 8;

/// Bytes per read where the needed length is unknown.
pub(super) const FIRST_READ_BYTES: u64 = 64 << 10;

/// Reads one version of one resource.
pub(super) struct WindowReader<'a> {
    provider: &'a dyn Provider,
    pub(super) ctx: &'a Context,
    pub(super) uri: &'a Uri,
    /// The version: the requested one, or the one of the first read.
    pub(super) pinned_etag: Option<String>,
    /// The one format to read; `None` for all.
    pub(super) format: Option<String>,
    /// The pages, sheets or slides that are the whole.
    pub(super) section: Option<SectionChoice>,
    /// Number of parts of that format, after a read.
    pub(super) parts: usize,
    pub(super) freshness: Freshness,
}

/// Bytes of one part, as the provider returned them.
pub(super) struct PartBytes {
    pub(super) resource: Arc<Resource>,
    pub(super) is_text: bool,
    pub(super) bytes: Bytes,
    pub(super) offset: u64,
    pub(super) total: u64,
    /// Whether the part continues as another kind (text, then blob), or not at all.
    pub(super) kind_changes: bool,
}

impl<'a> WindowReader<'a> {
    pub(super) fn new(provider: &'a dyn Provider, ctx: &'a Context, uri: &'a Uri) -> Self {
        let freshness = Freshness::default();
        let (pinned_etag, format, section) = (None, None, None);
        Self { provider, ctx, uri, pinned_etag, format, section, parts: 0, freshness }
    }

    /// At most `length` bytes of a part.
    pub(super) async fn read_bytes(
        &mut self,
        part: usize,
        offset: u64,
        length: u64,
    ) -> Result<FormatWindow> {
        let length = length.min(MAX_WINDOW_BYTES);
        let mut held = self.read_once(part, offset, length + LOOKAHEAD_BYTES).await?;
        self.extend_to(&mut held, part, length + LOOKAHEAD_BYTES).await?;
        let end =
            if held.is_text { cut::end(held.text()?, length as usize) } else { length as usize };
        Ok(held.window_up_to(end))
    }

    /// At most `most` tokens of a part; `None` if it is not text.
    pub(super) async fn read_tokens(
        &mut self,
        part: usize,
        offset: u64,
        most: u64,
    ) -> Result<Option<FormatWindow>> {
        // A little more than enough for most texts.
        let mut wanted = most.saturating_mul(5).clamp(1 << 10, FIRST_READ_BYTES);
        let Some(mut held) = self.read_text(part, offset, wanted).await? else { return Ok(None) };
        loop {
            self.extend_to(&mut held, part, wanted).await?;
            let text = held.text()?;
            let fits = tokens::prefix_len(text, most).min(MAX_WINDOW_BYTES as usize);
            if fits < text.len() || held.is_complete(wanted) {
                let end = cut::end(text, fits);
                return Ok(Some(held.window_up_to(end)));
            }
            wanted = (wanted * 2).min(MAX_WINDOW_BYTES + LOOKAHEAD_BYTES);
        }
    }

    /// At most `wanted` bytes of text; `None` if the part is not text at `offset`.
    pub(super) async fn read_text(
        &mut self,
        part: usize,
        offset: u64,
        wanted: u64,
    ) -> Result<Option<PartBytes>> {
        let held = self.read_once(part, offset, wanted).await?;
        if held.is_text {
            return Ok(Some(held));
        }
        // Bytes farther on may make it a blob: search for the longest text before them.
        let mut longest = self.read_once(part, offset, 1).await?;
        let (mut text, mut none) = (1, wanted);
        while longest.is_text && none - text > 1 {
            let middle = text.midpoint(none);
            let held = self.read_once(part, offset, middle).await?;
            if held.is_text {
                (longest, text) = (held, middle);
            } else {
                none = middle;
            }
        }
        Ok(longest.is_text.then_some(longest))
    }

    /// Reads until `held` has `wanted` bytes, or all there are.
    pub(super) async fn extend_to(
        &mut self,
        held: &mut PartBytes,
        part: usize,
        wanted: u64,
    ) -> Result<()> {
        let mut more = BytesMut::new();
        while !held.kind_changes && held.end() + (more.len() as u64) < held.total {
            let length = held.bytes.len() as u64 + more.len() as u64;
            if length >= wanted {
                break;
            }
            let next = self.read_once(part, held.offset + length, wanted - length).await?;
            held.kind_changes = next.is_text != held.is_text || next.bytes.is_empty();
            if !held.kind_changes {
                if more.is_empty() {
                    more.reserve((wanted - held.bytes.len() as u64) as usize);
                }
                more.extend_from_slice(&next.bytes);
            }
        }
        if !more.is_empty() {
            let mut all = BytesMut::with_capacity(held.bytes.len() + more.len());
            all.extend_from_slice(&held.bytes);
            all.extend_from_slice(&more);
            held.bytes = all.freeze();
        }
        Ok(())
    }

    /// Reads one window of a part once. The provider may return less than `length`.
    pub(super) async fn read_once(
        &mut self,
        part: usize,
        offset: u64,
        length: u64,
    ) -> Result<PartBytes> {
        let window = Window::Part { offset, length, etag: self.pinned_etag.clone() };
        let request = ReadRequest {
            window,
            format: self.format.clone(),
            part: Some(part),
            section: self.section.clone(),
        };
        let reading = self.provider.read(self.ctx, self.uri, &request).await?;
        let parts = match reading.content {
            Content::Parts(parts) => parts,
            Content::Collection(_) => {
                let words = "this collection has no content to read in windows; list it";
                return Err(Error::invalid(words).about(self.uri));
            }
            Content::InputRequired(_) => {
                let words = "this resource needs input first; read it without a window";
                return Err(Error::new(ErrorKind::NeedsInput, words).about(self.uri));
            }
        };
        self.freshness = reading.freshness;
        self.parts = reading.total_parts;
        let Some(part) = parts.into_iter().next() else {
            return Err(Error::internal("a provider returned no part").about(self.uri));
        };
        if self.pinned_etag.is_none() {
            self.pinned_etag.clone_from(&part.resource.etag);
        }
        let (is_text, source) = match part.body {
            Body::Text(source) => (true, source),
            Body::Blob(source) => (false, source),
        };
        let bytes = collect_source(source, length).await.map_err(|error| error.about(self.uri))?;
        let slice =
            part.slice.unwrap_or_else(|| Slice::new(0, bytes.len() as u64, bytes.len() as u64));
        let (offset, total, resource) = (slice.offset, slice.total, part.resource);
        Ok(PartBytes { resource, is_text, bytes, offset, total, kind_changes: false })
    }
}

impl PartBytes {
    /// The offset of its end.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// Whether reading on can give no more than the `wanted` bytes.
    pub(super) fn is_complete(&self, wanted: u64) -> bool {
        self.kind_changes
            || self.end() >= self.total
            || wanted >= MAX_WINDOW_BYTES + LOOKAHEAD_BYTES
    }

    pub(super) fn text(&self) -> Result<&str> {
        let broken = |flaw| Error::internal("text from a provider is not UTF-8").caused_by(flaw);
        std::str::from_utf8(&self.bytes).map_err(broken)
    }

    /// The bytes up to `end`.
    pub(super) fn window_up_to(&self, end: usize) -> FormatWindow {
        let bytes = self.bytes.slice(..end.min(self.bytes.len()));
        let slice = Slice::new(self.offset, bytes.len() as u64, self.total);
        let resource = Arc::clone(&self.resource);
        FormatWindow { resource, is_text: self.is_text, bytes, slice }
    }
}

/// Collects a source; fails if it gives much more than `length`.
async fn collect_source(source: ByteSource, length: u64) -> Result<Bytes> {
    let mut stream = match source {
        ByteSource::Bytes(bytes) => return Ok(bytes),
        ByteSource::Stream(stream) => stream,
    };
    let mut all = BytesMut::new();
    while let Some(chunk) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
        all.extend_from_slice(&chunk?);
        if all.len() as u64 > length.saturating_add(LOOKAHEAD_BYTES) {
            return Err(Error::new(ErrorKind::Internal, "the window is larger than requested"));
        }
    }
    Ok(all.freeze())
}
