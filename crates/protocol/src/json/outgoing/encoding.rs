//! Encoding of bodies as the inside of JSON strings: escaped text and base64, chunk by chunk.

use bytes::Bytes;

use super::escape::escape_long;

/// Bytes of a body to encode at a time. A multiple of 3, so base64 chunks join unpadded.
pub(super) const CHUNK_BYTES: usize = 96 * 1024;

/// The shortest text for which [`escape_long`] is faster than `json_escape_simd`.
const MIN_LONG_TEXT: usize = 512;

/// The length of the next text chunk. It ends between characters.
pub(super) fn text_chunk_len(bytes: &Bytes) -> usize {
    let mut end = bytes.len().min(CHUNK_BYTES);
    while end > 0 && bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    if end == 0 { bytes.len().min(CHUNK_BYTES) } else { end }
}

pub(super) fn blob_chunk_len(bytes: &Bytes) -> usize {
    bytes.len().min(CHUNK_BYTES)
}

/// An empty buffer: that of `last`, if the transport has dropped the chunk by now.
fn reuse_buffer(last: &mut Bytes) -> Vec<u8> {
    last.clear();
    Vec::from(std::mem::take(last))
}

pub(super) fn escape_chunk(chunk: &[u8], last: &mut Bytes) -> Bytes {
    let mut out = reuse_buffer(last);
    out.reserve(escape_capacity(chunk.len()));
    escape(chunk, &mut out);
    *last = Bytes::from(out);
    last.clone()
}

/// Appends `text` as the inside of a JSON string. Replaces invalid UTF-8.
pub(crate) fn escape(text: &[u8], into: &mut Vec<u8>) {
    match simdutf8::basic::from_utf8(text) {
        Ok(text) => escape_str(text, into),
        Err(_) => escape_str(&String::from_utf8_lossy(text), into),
    }
}

fn escape_str(text: &str, into: &mut Vec<u8>) {
    if text.len() >= MIN_LONG_TEXT {
        return escape_long(text, into);
    }
    // The opening quote takes the place of the last byte, so that nothing has to move.
    let before = into.pop();
    let start = into.len();
    json_escape_simd::escape_into(text, into);
    into.pop();
    match before {
        Some(byte) => into[start] = byte,
        None => drop(into.remove(start)),
    }
}

/// Buffer for `length` bytes of text, of which few need escaping.
pub(super) fn escape_capacity(length: usize) -> usize {
    // `json_escape_simd` reserves six times the length of a short text, and 35 bytes.
    length * 9 / 8 + 6 * MIN_LONG_TEXT.min(length) + 35
}

pub(super) fn encode_base64(bytes: &[u8], last: &mut Bytes) -> Bytes {
    let mut out = reuse_buffer(last);
    base64_simd::STANDARD.encode_append(bytes, &mut out);
    *last = Bytes::from(out);
    last.clone()
}

/// Encodes whole groups of 3 bytes and carries the rest over to the next chunk.
pub(super) fn base64_chunk(mut chunk: Bytes, carry: &mut Vec<u8>, last: &mut Bytes) -> Bytes {
    if carry.is_empty() {
        let rest = chunk.split_off(chunk.len() / 3 * 3);
        carry.extend_from_slice(&rest);
        return encode_base64(&chunk, last);
    }
    carry.extend_from_slice(&chunk);
    let rest = carry.split_off(carry.len() / 3 * 3);
    encode_base64(&std::mem::replace(carry, rest), last)
}
