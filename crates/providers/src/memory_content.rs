//! Content in memory: its fingerprint, and the body for a window of it.

use bytes::Bytes;
use resource::{Body, ByteSource, Slice, Window};

/// The body for content in memory, or for the requested window of it.
pub(crate) fn body_from_bytes(
    bytes: &Bytes,
    is_text: bool,
    window: &Window,
) -> (Body, Option<Slice>) {
    let (bytes, slice) = window.cut(bytes, is_text);
    (Body::new(ByteSource::Bytes(bytes), is_text), slice)
}

/// The fingerprint of content in memory.
pub(crate) fn content_fingerprint(content: &[u8]) -> String {
    short_hex(&blake3::hash(content))
}

/// The first digits of a hash.
pub(crate) fn short_hex(hash: &blake3::Hash) -> String {
    hash.to_hex()[..16].to_owned()
}
