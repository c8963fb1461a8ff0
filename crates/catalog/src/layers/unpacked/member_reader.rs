//! Chunks of a large member: unpacked slice by slice, as UTF-8 if it is text.

use std::sync::Arc;

use archive::{Member, MemberStream};
use bytes::Bytes;
use detection::text::{
    ContentForm, SampleExtent, complete_utf8_len, detect_form, has_iso_2022_jp_escapes, is_utf8,
};
use encoding_rs::Decoder;
use resource::{Context, Error, Result};

use super::content::{LargeForm, mime_of};
use super::open_archive::{ArchiveStore, OpenArchive};

/// How many bytes a slice unpacks.
const CHUNK_BYTES: usize = 512 << 10;

/// A member as it is unpacked.
pub(super) struct MemberReader {
    store: Arc<ArchiveStore>,
    ctx: Context,
    archive: OpenArchive,
    /// `None` at the end.
    stream: Option<MemberStream>,
    form: ContentForm,
    decoder: Option<Decoder>,
    /// The start of a character whose end comes with the next chunk.
    carry: Vec<u8>,
}

impl MemberReader {
    pub(super) async fn open(
        store: &Arc<ArchiveStore>,
        ctx: &Context,
        (archive, member): (&OpenArchive, &Member),
        form: ContentForm,
    ) -> Result<Self> {
        let stream = Some(store.open_member(ctx, archive, member).await?);
        let decoder = match form {
            ContentForm::Charset(charset) => Some(charset.new_decoder_with_bom_removal()),
            ContentForm::Utf8 | ContentForm::Blob => None,
        };
        let (store, ctx, archive) = (Arc::clone(store), ctx.clone(), archive.clone());
        Ok(Self { store, ctx, archive, stream, form, decoder, carry: Vec::new() })
    }

    /// The next bytes, of a text whole characters; `None` at the end.
    pub(super) async fn next_chunk(&mut self) -> Result<Option<Bytes>> {
        while let Some(stream) = self.stream.take() {
            let held = std::mem::take(&mut self.carry);
            let work = (stream, held);
            let (stream, mut bytes, is_done) =
                self.store.advance(&self.ctx, &self.archive, work, CHUNK_BYTES).await?;
            self.stream = (!is_done).then_some(stream);
            if let Some(decoder) = &mut self.decoder {
                bytes = decode(decoder, &bytes, is_done);
            } else if self.form == ContentForm::Utf8 {
                self.carry = bytes.split_off(complete_utf8_len(&bytes));
                if !is_utf8(&bytes, SampleExtent::Whole) || is_done && !self.carry.is_empty() {
                    return Err(Error::unavailable("the archive changed while it was read"));
                }
            }
            if !bytes.is_empty() {
                return Ok(Some(bytes.into()));
            }
        }
        Ok(None)
    }
}

fn decode(decoder: &mut Decoder, bytes: &[u8], is_last: bool) -> Vec<u8> {
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(0));
    let _ = decoder.decode_to_string(bytes, &mut text, is_last);
    text.into_bytes()
}

/// Looks at all of a large member: whether it is text, in which charset, and how long it is.
pub(super) async fn scan_form(
    store: &Arc<ArchiveStore>,
    ctx: &Context,
    (archive, member): (&OpenArchive, &Member),
) -> Result<LargeForm> {
    let raw = (archive, member);
    let mut reader = MemberReader::open(store, ctx, raw, ContentForm::Blob).await?;
    let mut head = Vec::new();
    let (mut carry, mut is_text) = (Vec::new(), true);
    let mut total = 0;
    while let Some(chunk) = reader.next_chunk().await? {
        total += chunk.len() as u64;
        if head.is_empty() {
            head = chunk.to_vec();
        }
        if is_text {
            carry.extend_from_slice(&chunk);
            let whole = complete_utf8_len(&carry);
            let is_plain = !carry.contains(&0) && !has_iso_2022_jp_escapes(&carry);
            is_text = is_plain && is_utf8(&carry[..whole], SampleExtent::Whole);
            carry.drain(..whole);
        }
    }
    let detected = detect_form(&head, SampleExtent::Head);
    let form = match detected {
        ContentForm::Utf8 if is_text && carry.is_empty() => ContentForm::Utf8,
        ContentForm::Utf8 | ContentForm::Blob => ContentForm::Blob,
        charset @ ContentForm::Charset(_) => charset,
    };
    if let ContentForm::Charset(_) = form {
        total = 0;
        let mut reader = MemberReader::open(store, ctx, raw, form).await?;
        while let Some(chunk) = reader.next_chunk().await? {
            total += chunk.len() as u64;
        }
    }
    Ok(LargeForm { form, mime: mime_of(form, member.name(), &head), total })
}
