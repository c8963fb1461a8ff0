//! Texts as they stream by: collected within the limit, masked chunk by chunk, cut to a window.

use std::borrow::Cow;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use redaction::{Redactor, Syntax, TextMasker};
use resource::{ByteSource, Context, Error, ErrorKind, HeldMemory, Result, Slice, Uri};

/// The chunks of a text; each holds whole characters.
pub(super) type ChunkStream = Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>;

/// How many bytes of a text that streams by are counted as memory at a time.
const COUNTED_BYTES: usize = 256 << 10;

/// The source had another version when it was read again.
pub(super) fn changed_while_read() -> Error {
    Error::unavailable("the resource changed while it was read; read it again")
}

/// Collects a text that is masked as a whole. Its bytes count as memory of the request while the
/// second value lives.
pub(super) async fn collect(
    ctx: &Context,
    body: ByteSource,
    uri: &Uri,
) -> Result<(Bytes, Vec<HeldMemory>)> {
    let too_large = || {
        let limit = Redactor::MAX_PARSED_BYTES;
        let message = format!(
            "this file may hold secrets and is over {limit} bytes, the limit up to which they are \
             masked; split it, or set `redact = false` for the mount"
        );
        Error::new(ErrorKind::TooLarge, message).about(uri)
    };
    let is_within = |length: usize| length as u64 <= Redactor::MAX_PARSED_BYTES;
    match body {
        ByteSource::Bytes(bytes) if is_within(bytes.len()) => {
            let held = ctx.hold_memory(bytes.len())?;
            Ok((bytes, held.into_iter().collect()))
        }
        ByteSource::Bytes(_) => Err(too_large()),
        ByteSource::Stream(mut chunks) => {
            let (mut all, mut held, mut counted) = (BytesMut::new(), Vec::new(), 0);
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk?;
                if !is_within(all.len() + chunk.len()) {
                    return Err(too_large());
                }
                // Counted before they are there, and not for each of many short chunks.
                if counted < all.len() + chunk.len() {
                    let more = chunk.len().max(COUNTED_BYTES);
                    held.extend(ctx.hold_memory(more)?);
                    counted += more;
                }
                all.extend_from_slice(&chunk);
            }
            Ok((all.freeze(), held))
        }
    }
}

pub(super) fn as_text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Error::internal("a text is not UTF-8"))
}

/// A text as it is given.
#[derive(Clone)]
pub(super) struct MaskedText {
    pub(super) bytes: Bytes,
    /// Whether nothing in it was masked.
    pub(super) is_clean: bool,
}

pub(super) fn mask_bytes(redactor: &Redactor, bytes: &Bytes, syntax: Syntax) -> Result<MaskedText> {
    Ok(match redactor.mask(as_text(bytes)?, syntax) {
        Cow::Borrowed(_) => MaskedText { bytes: bytes.clone(), is_clean: true },
        Cow::Owned(masked) => MaskedText { bytes: Bytes::from(masked), is_clean: false },
    })
}

/// `text` masked, chunk by chunk.
pub(super) fn masked_stream(masker: TextMasker, text: ByteSource) -> ChunkStream {
    let chunks: ChunkStream = match text {
        ByteSource::Stream(chunks) => chunks,
        ByteSource::Bytes(bytes) => Box::pin(stream::once(std::future::ready(Ok(bytes)))),
    };
    Box::pin(stream::unfold(Some((masker, chunks)), |state| async {
        let (mut masker, mut chunks) = state?;
        loop {
            let masked = match chunks.next().await {
                None => return Some((Ok(Bytes::from(masker.finish())), None)),
                Some(Err(error)) => return Some((Err(error), None)),
                Some(Ok(chunk)) => as_text(&chunk).map(|text| masker.push(text)),
            };
            match masked {
                Ok(masked) if masked.is_empty() => {}
                Ok(masked) => return Some((Ok(Bytes::from(masked)), Some((masker, chunks)))),
                Err(error) => return Some((Err(error), None)),
            }
        }
    }))
}

/// Cuts a window out of a text of `total` bytes that streams by.
pub(super) async fn cut_stream(
    mut chunks: ChunkStream,
    (offset, length): (u64, u64),
    total: u64,
) -> Result<(Bytes, Slice)> {
    // The range ends between characters, at most three bytes before or behind the wanted ends.
    let start = offset.min(total);
    let end = start.saturating_add(length.max(4)).saturating_add(4).min(total);
    let mut held = BytesMut::new();
    let mut at = 0_u64;
    while at < end {
        let Some(chunk) = chunks.next().await else { break };
        let chunk = chunk?;
        let next = at + chunk.len() as u64;
        let from = start.clamp(at, next) - at;
        let to = end.clamp(at, next) - at;
        held.extend_from_slice(&chunk[from as usize..to as usize]);
        at = next;
        tokio::task::consume_budget().await;
    }
    let byte = |at: u64| {
        let inside = at.checked_sub(start).and_then(|at| held.get(at as usize));
        Ok::<_, Error>(inside.copied())
    };
    let slice = Slice::aligned(total, (offset, length), true, byte)?;
    let from = (slice.offset - start) as usize;
    let bytes = held.freeze();
    let bytes = bytes.get(from..from + slice.length as usize).map(|cut| bytes.slice_ref(cut));
    Ok((bytes.ok_or_else(changed_while_read)?, slice))
}
