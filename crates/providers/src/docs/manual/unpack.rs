//! The start of manual pages: decompressed within a bound, in their charset.

use std::io::Read as _;

use detection::text::{SampleExtent, guess_charset};
use flate2::bufread::MultiGzDecoder;

/// How much of a page the first bytes of its file give.
const MAX_START_BYTES: u64 = 32 << 10;

/// The first two bytes of a compressed file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether the bytes are those of a compressed file.
pub(in crate::docs) fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(&GZIP_MAGIC)
}

/// The start of the text of a manual page, from the first bytes of its file.
pub(in crate::docs) fn unpack_start(bytes: &[u8]) -> String {
    if !is_compressed(bytes) {
        return decode_text(bytes);
    }
    let mut text = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(MAX_START_BYTES);
    let mut chunk = [0; 4096];
    // The data is cut off, so the last read fails.
    while let Ok(count @ 1..) = decoder.read(&mut chunk) {
        text.extend_from_slice(&chunk[..count]);
    }
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(text.len(), |end| end + 1);
    decode_text(&text[..end])
}

/// The text of bytes that are UTF-8 or in the charset that they look like.
fn decode_text(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let charset = guess_charset(bytes, SampleExtent::Head);
    match charset {
        Some(charset) => charset.decode(bytes).0.into_owned(),
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}
