//! Masks the content of readings: whole texts in memory, large ones as streams.
//!
//! A text whose keys are read is masked as a whole, within a limit. Any other text is masked as
//! it streams. Its length is then known only after one pass, which is kept by version: a text
//! without a secret is read from the source by window, any other one is streamed up to it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use machinery::{Cache, CacheBounds, WorkPool};
use redaction::Syntax;
use resource::{
    Body, ByteSource, Content, Context, Error, ErrorKind, Part, Provider, ReadRequest, Reading,
    Resource, Result, SectionChoice, Uri, Window,
};
use tokio::time::Instant;

use super::text_stream::{
    ChunkStream, MaskedText, as_text, changed_while_read, collect, cut_stream, mask_bytes,
    masked_stream,
};
use super::{MountMasker, describe_masked};

/// The bytes of masked texts that are kept.
const MAX_KEPT_BYTES: usize = 16 << 20;
/// The number of texts whose masked length is kept.
const MAX_KEPT_LENGTHS: usize = 4096;
/// A larger text is masked on a thread of the pool, so that it delays no other request.
const MAX_INLINE_BYTES: usize = 32 << 10;
const WORK_TIME: Duration = Duration::from_secs(30);

/// Masks what is read from one source.
pub(super) struct ContentMasker {
    inner: Arc<dyn Provider>,
    masker: MountMasker,
    texts: Cache<TextVersion, MaskedText>,
    lengths: Cache<TextVersion, MaskedLength>,
    pool: Arc<WorkPool>,
}

/// Where a part comes from: its number among those of the wanted format, and the wanted sections.
type PartPlace = (usize, Option<SectionChoice>);

/// A version of a text, as one principal sees it: principal, URI, MIME type, part and etag.
type TextVersion = (Arc<str>, Uri, Option<String>, PartPlace, String);

/// How long a masked text is.
#[derive(Clone, Copy)]
struct MaskedLength {
    total: u64,
    /// Whether nothing in it was masked.
    is_clean: bool,
}

/// A part of a reading that is to be masked.
struct RawPart {
    resource: Arc<Resource>,
    body: ByteSource,
    syntax: Syntax,
    place: PartPlace,
}

impl ContentMasker {
    pub(super) fn new(inner: Arc<dyn Provider>, masker: MountMasker, pool: Arc<WorkPool>) -> Self {
        Self {
            inner,
            masker,
            texts: Cache::new(CacheBounds::weight(MAX_KEPT_BYTES)),
            lengths: Cache::new(CacheBounds::entries(MAX_KEPT_LENGTHS)),
            pool,
        }
    }

    /// Reads `uri`, whose text is masked.
    pub(super) async fn read(
        &self,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let mut reading = self.inner.read(ctx, uri, &whole(request)).await?;
        let mut request = Cow::Borrowed(request);
        if let (Content::Collection(resource), Window::Part { .. }) =
            (&reading.content, &request.window)
            && let Some(format) = resource.formats.first()
        {
            // A collection with bytes of its own, as an archive is: a window is one of them.
            request.to_mut().format = Some(format.mime.clone());
            reading = self.inner.read(ctx, uri, &whole(&request)).await?;
        }
        let request = &*request;
        let Content::Parts(parts) = &mut reading.content else { return Ok(reading) };
        let found = std::mem::take(parts);
        let first = request.part.unwrap_or(0);
        let is_window = matches!(request.window, Window::Part { .. });
        let count = if is_window { 1 } else { usize::MAX };
        let total_parts = reading.total_parts;
        let mut left = request.window.clone();
        for (at, part) in found.into_iter().take(count).enumerate() {
            let at = first + at;
            let part = self.mask_part(ctx, part, at, &request.with_window(left.clone())).await?;
            let part = match part.slice {
                Some(slice) => Part { slice: Some(slice.of_part(at, total_parts)), ..part },
                None => part,
            };
            if let (Window::Whole { limit }, Some(size)) = (&mut left, part.resource.size) {
                *limit = limit.saturating_sub(size);
            }
            parts.push(part);
        }
        Ok(reading)
    }

    /// The text of `uri` as the source has it and as it is given, with its syntax; `None` if it is
    /// no text, or is given as it is.
    pub(super) async fn both_texts(
        &self,
        ctx: &Context,
        uri: &Uri,
    ) -> Result<Option<(Bytes, Bytes, Syntax)>> {
        let request = ReadRequest::whole(u64::MAX);
        let reading = self.inner.read(ctx, uri, &request).await?;
        let Content::Parts(parts) = reading.content else { return Ok(None) };
        let Some(Part { resource, body: Body::Text(body), .. }) = parts.into_iter().next() else {
            return Ok(None);
        };
        let Some(syntax) = self.masker.syntax_of(&resource) else { return Ok(None) };
        let (text, _held) = collect(ctx, body, uri).await?;
        let raw = ByteSource::Bytes(text.clone());
        let masked =
            self.whole_text(ctx, RawPart { resource, body: raw, syntax, place: (0, None) }).await?;
        Ok(Some((text, masked.bytes, syntax)))
    }

    /// Masks the members that the reading of `collection` holds. One that cannot be masked is left
    /// out, as if it did not fit. What is at `collection` itself is given as it is.
    pub(super) async fn mask_members_of(
        &self,
        ctx: &Context,
        collection: &Uri,
        parts: &mut Vec<Part>,
    ) {
        if parts.iter().all(|part| part.resource.uri == *collection) {
            return;
        }
        for part in std::mem::take(parts) {
            let whole = ReadRequest::whole(u64::MAX);
            parts.extend(self.mask_part(ctx, part, 0, &whole).await.ok());
        }
    }

    /// Masks one whole part, and cuts the window out of it.
    async fn mask_part(
        &self,
        ctx: &Context,
        part: Part,
        at: usize,
        request: &ReadRequest,
    ) -> Result<Part> {
        let Part { resource, body, slice } = part;
        let Some(syntax) = self.masker.syntax_of(&resource) else {
            return Ok(Part { resource, body, slice });
        };
        match body {
            Body::Blob(_) if self.masker.is_sensitive(&resource, syntax) => {
                Err(unmaskable(&resource.uri))
            }
            Body::Blob(source) => self.blob_part(ctx, (resource, source), at, request).await,
            Body::Text(body) => {
                let place = (at, request.section.clone());
                self.text_part(ctx, RawPart { resource, body, syntax, place }, request).await
            }
        }
    }

    /// A blob holds no text that could be masked: it is given as it is.
    async fn blob_part(
        &self,
        ctx: &Context,
        (resource, source): (Arc<Resource>, ByteSource),
        at: usize,
        request: &ReadRequest,
    ) -> Result<Part> {
        let shown = self.shown(&resource, resource.size);
        let total = match &source {
            ByteSource::Bytes(bytes) => Some(bytes.len() as u64),
            ByteSource::Stream(_) => resource.size,
        };
        request.window.check(shown.etag.as_deref(), total.unwrap_or(0))?;
        if let ByteSource::Bytes(bytes) = &source {
            let (bytes, slice) = request.window.cut(bytes, false);
            return Ok(Part { resource: shown, body: Body::Blob(ByteSource::Bytes(bytes)), slice });
        }
        let Part { body, slice, .. } = self.read_again(ctx, &resource, at, request).await?;
        Ok(Part { resource: shown, body, slice })
    }

    async fn text_part(&self, ctx: &Context, raw: RawPart, request: &ReadRequest) -> Result<Part> {
        match (raw.body, raw.syntax.has_keys()) {
            (ByteSource::Stream(body), false) => {
                self.streamed_part(ctx, (raw.resource, body), &raw.place, request).await
            }
            (body, _) => {
                let raw = RawPart { body, ..raw };
                let resource = Arc::clone(&raw.resource);
                let is_window = matches!(request.window, Window::Part { .. });
                let MaskedText { bytes: masked, is_clean } = self.whole_text(ctx, raw).await?;
                let mut shown = self.shown(&resource, Some(masked.len() as u64));
                Arc::make_mut(&mut shown).is_masked = !is_clean;
                if shown.etag.is_none() && is_window {
                    Arc::make_mut(&mut shown).etag = Some(self.masker.0.etag(&masked));
                }
                request.window.check(shown.etag.as_deref(), masked.len() as u64)?;
                let (bytes, slice) = request.window.cut(&masked, true);
                Ok(Part { resource: shown, body: Body::Text(ByteSource::Bytes(bytes)), slice })
            }
        }
    }

    /// The whole masked text of a part, from memory if its version is known.
    async fn whole_text(&self, ctx: &Context, raw: RawPart) -> Result<MaskedText> {
        let version = text_version(ctx, &raw.resource, &raw.place);
        if let Some(masked) = version.as_ref().and_then(|version| self.texts.get(version)) {
            return Ok(masked);
        }
        let (text, _held) = collect(ctx, raw.body, &raw.resource.uri).await?;
        // The masked text is about as long.
        let _masked = ctx.hold_memory(text.len())?;
        let masked = if text.len() <= MAX_INLINE_BYTES {
            mask_bytes(self.masker.0.redactor(), &text, raw.syntax)?
        } else {
            let (redactor, syntax) = (Arc::clone(self.masker.0.redactor()), raw.syntax);
            let deadline = Instant::now() + WORK_TIME;
            let work = move |_: &_| mask_bytes(&redactor, &text, syntax);
            let done = self.pool.run(ctx.principal().key(), deadline, work).await;
            done.map_err(|_| Error::unavailable("too many texts are being masked; try again"))??
        };
        if let Some(version) = version {
            let weight = masked.bytes.len();
            self.texts.insert(version, masked.clone(), weight);
        }
        Ok(masked)
    }

    /// A window of a text that is masked as it streams.
    async fn streamed_part(
        &self,
        ctx: &Context,
        (resource, body): (Arc<Resource>, ChunkStream),
        place: &PartPlace,
        request: &ReadRequest,
    ) -> Result<Part> {
        let at = place.0;
        let length = self.masked_length(ctx, &resource, place, body).await?;
        let mut shown = self.shown(&resource, Some(length.total));
        Arc::make_mut(&mut shown).is_masked = !length.is_clean;
        request.window.check(shown.etag.as_deref(), length.total)?;
        if length.is_clean {
            let Part { body, slice, .. } = self.read_again(ctx, &resource, at, request).await?;
            return Ok(Part { resource: shown, body, slice });
        }
        let again = self.read_again(ctx, &resource, at, &whole(request)).await?;
        let Body::Text(text) = again.body else { return Err(changed_while_read()) };
        let masked = masked_stream(self.masker.0.redactor().text_masker(), text);
        let Window::Part { offset, length: wanted, .. } = request.window else {
            let body = Body::Text(ByteSource::Stream(masked));
            return Ok(Part { resource: shown, body, slice: None });
        };
        let (bytes, slice) = cut_stream(masked, (offset, wanted), length.total).await?;
        Ok(Part { resource: shown, body: Body::Text(ByteSource::Bytes(bytes)), slice: Some(slice) })
    }

    /// How long the masked text is: one pass over it, unless its version is known.
    async fn masked_length(
        &self,
        ctx: &Context,
        resource: &Arc<Resource>,
        place: &PartPlace,
        mut body: ChunkStream,
    ) -> Result<MaskedLength> {
        let version = text_version(ctx, resource, place);
        if let Some(known) = version.as_ref().and_then(|version| self.lengths.get(version)) {
            return Ok(known);
        }
        let mut masker = self.masker.0.redactor().text_masker();
        let mut total = 0;
        while let Some(chunk) = body.next().await {
            total += masker.push(as_text(&chunk?)?).len() as u64;
            // A long text must not keep the thread from other requests.
            tokio::task::consume_budget().await;
        }
        let total = total + masker.finish().len() as u64;
        let length = MaskedLength { total, is_clean: !masker.has_masked() };
        if let Some(version) = version {
            self.lengths.insert(version, length, 1);
        }
        Ok(length)
    }

    /// Reads the same version of a part again, as the source has it.
    async fn read_again(
        &self,
        ctx: &Context,
        resource: &Arc<Resource>,
        at: usize,
        request: &ReadRequest,
    ) -> Result<Part> {
        let window = match &request.window {
            Window::Part { offset, length, .. } => {
                let (offset, length, etag) = (*offset, *length, resource.etag.clone());
                Window::Part { offset, length, etag }
            }
            whole @ Window::Whole { .. } => whole.clone(),
        };
        let request = ReadRequest { window, part: Some(at), ..request.clone() };
        let reading = self.inner.read(ctx, &resource.uri, &request).await?;
        let Content::Parts(mut parts) = reading.content else { return Err(changed_while_read()) };
        let part = parts.drain(..).next().ok_or_else(changed_while_read)?;
        if part.resource.etag == resource.etag { Ok(part) } else { Err(changed_while_read()) }
    }

    /// The description of a part, with the size of what is given.
    fn shown(&self, resource: &Arc<Resource>, size: Option<u64>) -> Arc<Resource> {
        let mut shown = Resource::clone(resource);
        describe_masked(&self.masker, &mut shown);
        shown.size = size;
        let is_primary = shown.formats.first().map(|format| &format.mime) == shown.mime.as_ref();
        for format in &mut shown.formats {
            format.size = None;
        }
        if let (true, Some(primary)) = (is_primary, shown.formats.first_mut()) {
            primary.size = size;
        }
        Arc::new(shown)
    }
}

/// The request for everything, of which the window is cut after masking. A source streams what is
/// large, so that the limit is the layer's.
fn whole(request: &ReadRequest) -> ReadRequest {
    request.with_window(Window::Whole { limit: u64::MAX })
}

fn text_version(ctx: &Context, resource: &Resource, place: &PartPlace) -> Option<TextVersion> {
    let etag = resource.etag.clone()?;
    let key = Arc::clone(ctx.principal().key());
    Some((key, resource.uri.clone(), resource.mime.clone(), place.clone(), etag))
}

fn unmaskable(uri: &Uri) -> Error {
    let message = "this file is named like one that holds secrets and is no text, so that they \
                   cannot be masked; set `redact = false` for the mount to give it as it is";
    Error::new(ErrorKind::Unsupported, message).about(uri)
}
