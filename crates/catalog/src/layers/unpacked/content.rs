//! Content of members: whole in memory if they are small, unpacked as they are read otherwise.

use std::sync::Arc;

use archive::Member;
use bytes::Bytes;
use detection::mime;
use detection::text::{ContentForm, SampleExtent, detect_form};
use encoding_rs::Encoding;
use futures_util::stream;
use machinery::{Cache, CacheBounds};
use parking_lot::Mutex;
use resource::{
    Body, ByteSource, Content, Context, Error, Freshness, Part, ReadRequest, Reading, Resource,
    Result, Slice, Window,
};

use super::member_reader::{MemberReader, scan_form};
use super::open_archive::{ArchiveStore, ArchiveVersion, OpenArchive};

/// A member up to this size is unpacked into memory, and this much of a larger one at a time.
const MAX_IN_MEMORY: u64 = 4 << 20;
/// The bytes of members that are kept.
const MAX_KEPT_BYTES: usize = 32 << 20;
/// The number of large members whose form is kept.
const MAX_KEPT_FORMS: usize = 4096;
/// The number of readers that wait where a window ended, for the next one.
const MAX_PARKED: usize = 4;
/// How much of a window may lie outside of what is wanted: parts of the characters at its ends.
const CHARACTER_MARGIN: u64 = 8;

/// Reads members of archives.
pub(super) struct MemberContents {
    store: Arc<ArchiveStore>,
    small: Cache<ArchiveVersion, SmallContent>,
    large: Cache<ArchiveVersion, LargeForm>,
    parked: Cache<ArchiveVersion, Arc<Mutex<Option<ParkedReader>>>>,
}

/// A reader of a large member that has given all before a place.
struct ParkedReader {
    reader: MemberReader,
    /// The place of `rest` in what is given of the member.
    at: u64,
    rest: Bytes,
}

/// The content of a small member, as it is given.
#[derive(Clone)]
struct SmallContent {
    bytes: Bytes,
    form: ContentForm,
    mime: &'static str,
}

/// What a large member is, and how many bytes are given of it.
#[derive(Clone, Copy)]
pub(super) struct LargeForm {
    pub(super) form: ContentForm,
    pub(super) mime: &'static str,
    pub(super) total: u64,
}

impl MemberContents {
    pub(super) fn new(store: Arc<ArchiveStore>) -> Self {
        Self {
            store,
            small: Cache::new(CacheBounds::weight(MAX_KEPT_BYTES)),
            large: Cache::new(CacheBounds::entries(MAX_KEPT_FORMS)),
            parked: Cache::new(CacheBounds::entries(MAX_PARKED)),
        }
    }

    /// Reads `member`, which a listing describes as `resource`.
    pub(super) async fn read(
        &self,
        ctx: &Context,
        (archive, member): (&OpenArchive, &Member),
        resource: Arc<Resource>,
        request: &ReadRequest,
    ) -> Result<Reading> {
        request.window.check(resource.etag.as_deref(), 0)?;
        if let Some(barrier) = member.barrier {
            return Err(archive.failure.explain(barrier.error()));
        }
        let part = if member.size <= MAX_IN_MEMORY {
            let content = self.small_content(ctx, (archive, member)).await?;
            small_part(&content, resource, &request.window)?
        } else {
            self.large_part(ctx, (archive, member), resource, &request.window).await?
        };
        let mut parts = vec![part];
        let total_parts = request.select(&mut parts, |part| part.resource.mime.as_deref())?;
        let reading = Reading::new(Content::Parts(parts), Freshness::default());
        Ok(Reading { total_parts, ..reading })
    }

    async fn small_content(
        &self,
        ctx: &Context,
        (archive, member): (&OpenArchive, &Member),
    ) -> Result<SmallContent> {
        let version = member_version(archive, member);
        if let Some(known) = version.as_ref().and_then(|version| self.small.get(version)) {
            return Ok(known);
        }
        let stream = self.store.open_member(ctx, archive, member).await?;
        let raw = self.store.collect(ctx, archive, stream).await?;
        let name = member.name().to_owned();
        let work = move || {
            let form = detect_form(&raw, SampleExtent::Whole);
            let mime = mime_of(form, &name, &raw);
            let bytes = match form {
                ContentForm::Charset(charset) => {
                    Bytes::from(charset.decode_with_bom_removal(&raw).0.into_owned())
                }
                ContentForm::Utf8 | ContentForm::Blob => raw,
            };
            SmallContent { bytes, form, mime }
        };
        let content = self.store.run_briefly(ctx, work).await?;
        if let Some(version) = version {
            self.small.insert(version, content.clone(), content.bytes.len() + 256);
        }
        Ok(content)
    }

    async fn large_part(
        &self,
        ctx: &Context,
        (archive, member): (&OpenArchive, &Member),
        resource: Arc<Resource>,
        window: &Window,
    ) -> Result<Part> {
        let version = member_version(archive, member);
        let known = version.as_ref().and_then(|version| self.large.get(version));
        let form = match known {
            Some(form) => form,
            None => {
                // A whole that is over its limit anyway is not worth the pass.
                window.check(resource.etag.as_deref(), member.size)?;
                let form = scan_form(&self.store, ctx, (archive, member)).await?;
                if let Some(version) = &version {
                    self.large.insert(version.clone(), form, 1);
                }
                form
            }
        };
        window.check(resource.etag.as_deref(), form.total)?;
        let resource = described(resource, form.form, form.mime);
        let is_text = form.form != ContentForm::Blob;
        let Window::Part { offset, length, .. } = window else {
            let reader = MemberReader::open(&self.store, ctx, (archive, member), form.form).await?;
            let chunks = stream::try_unfold(reader, |mut reader| async {
                Ok(reader.next_chunk().await?.map(|chunk| (chunk, reader)))
            });
            let body = Body::new(ByteSource::Stream(Box::pin(chunks)), is_text);
            return Ok(Part { resource, body, slice: None });
        };
        let length = (*length).min(MAX_IN_MEMORY);
        let parked = version.as_ref().and_then(|version| self.take_parked(version, *offset));
        let mut reader = match parked {
            Some(parked) => parked,
            None => {
                let raw = (archive, member);
                let reader = MemberReader::open(&self.store, ctx, raw, form.form).await?;
                ParkedReader { reader, at: 0, rest: Bytes::new() }
            }
        };
        let (bytes, slice) = read_slice(&mut reader, (*offset, length), form).await?;
        if let Some(version) = version {
            self.parked.insert(version, Arc::new(Mutex::new(Some(reader))), 1);
        }
        let body = Body::new(ByteSource::Bytes(bytes), is_text);
        Ok(Part { resource, body, slice: Some(slice) })
    }

    /// Takes a reader that waits at or before `offset`.
    fn take_parked(&self, version: &ArchiveVersion, offset: u64) -> Option<ParkedReader> {
        let parked = self.parked.get(version)?;
        self.parked.remove(version);
        parked.lock().take().filter(|parked| parked.at <= offset)
    }
}

fn member_version(archive: &OpenArchive, member: &Member) -> Option<ArchiveVersion> {
    archive.version.as_ref().map(|version| version.of_member(&member.path))
}

/// Cuts a window out of a large member as it is unpacked. The reader keeps the last chunk, in which
/// the next window begins.
async fn read_slice(
    reader: &mut ParkedReader,
    (offset, length): (u64, u64),
    form: LargeForm,
) -> Result<(Bytes, Slice)> {
    let start = offset.min(form.total);
    let end = start.saturating_add(length.max(1)).saturating_add(CHARACTER_MARGIN).min(form.total);
    let mut held = Vec::new();
    let (mut at, mut chunk) = (reader.at, reader.rest.clone());
    loop {
        let next = at + chunk.len() as u64;
        let (from, to) = (start.clamp(at, next) - at, end.clamp(at, next) - at);
        held.extend_from_slice(&chunk[from as usize..to as usize]);
        (reader.at, reader.rest) = (at, chunk);
        if next >= end {
            break;
        }
        let Some(more) = reader.reader.next_chunk().await? else { break };
        (at, chunk) = (next, more);
    }
    let byte = |at: u64| {
        let inside = at.checked_sub(start).and_then(|at| held.get(at as usize));
        Ok::<_, Error>(inside.copied())
    };
    let slice = Slice::aligned(form.total, (offset, length), form.form != ContentForm::Blob, byte)?;
    let bytes = Bytes::from(held);
    let from = (slice.offset - start) as usize;
    let cut = bytes.get(from..from + slice.length as usize).map(|cut| bytes.slice_ref(cut));
    let cut = cut.ok_or_else(|| Error::unavailable("the archive changed while it was read"))?;
    Ok((cut, slice))
}

fn small_part(content: &SmallContent, resource: Arc<Resource>, window: &Window) -> Result<Part> {
    window.check(resource.etag.as_deref(), content.bytes.len() as u64)?;
    let is_text = content.form != ContentForm::Blob;
    let (bytes, slice) = window.cut(&content.bytes, is_text);
    let resource = described(resource, content.form, content.mime);
    Ok(Part { resource, body: Body::new(ByteSource::Bytes(bytes), is_text), slice })
}

/// The MIME type by name and content.
pub(super) fn mime_of(form: ContentForm, name: &str, head: &[u8]) -> &'static str {
    let named = mime::by_name(name);
    match form {
        ContentForm::Blob => mime::for_blob(named, head),
        ContentForm::Utf8 | ContentForm::Charset(_) => mime::for_text(named, head),
    }
}

/// The description, with what the content tells.
fn described(mut resource: Arc<Resource>, form: ContentForm, mime: &str) -> Arc<Resource> {
    let charset = match form {
        ContentForm::Charset(charset) => Some(Encoding::name(charset)),
        ContentForm::Utf8 | ContentForm::Blob => None,
    };
    if resource.mime.as_deref() != Some(mime) || resource.charset != charset {
        let own = Arc::make_mut(&mut resource);
        (own.mime, own.charset) = (Some(mime.to_owned()), charset);
    }
    resource
}
