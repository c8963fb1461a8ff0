//! JSON Web Tokens, signed and encrypted.

use super::{Candidate, ShapeWindow, is_word_or_dash};

/// The base64 form of `{"`.
pub(super) const ANCHOR: &str = "eyJ";

/// Members that the header of a token has.
const MEMBERS: [&str; 4] = ["\"alg\"", "\"typ\"", "\"enc\"", "\"kid\""];

/// The token at the anchor.
pub(super) fn matching(window: &ShapeWindow<'_>) -> Option<Candidate> {
    if window.before().is_some_and(is_word_or_dash) {
        return None;
    }
    let header_end = window.run_end(window.at, is_word_or_dash);
    let payload = window.rest(header_end).strip_prefix('.')?;
    let payload_start = header_end + 1;
    let has_payload = payload.bytes().take_while(|byte| is_word_or_dash(*byte)).count() >= 4;
    if !has_payload || !is_header(&window.text[window.at..header_end]) {
        return None;
    }
    let end = window.run_end(payload_start, is_token_byte);
    let end = window.without_full_stop(window.at, end);
    Some(Candidate { range: window.at..end, kind: "jwt", tail: window.tail(end, is_token_byte) })
}

fn is_token_byte(byte: u8) -> bool {
    is_word_or_dash(byte) || byte == b'.'
}

/// Whether `encoded` is the header of a token.
fn is_header(encoded: &str) -> bool {
    let decoded = decode(encoded.as_bytes());
    let json = String::from_utf8_lossy(&decoded);
    MEMBERS.iter().any(|member| json.contains(member))
}

/// Decodes base64url; what is left over at the end does not matter.
fn decode(encoded: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' | b'+' => 62,
        _ => 63,
    };
    let mut decoded = Vec::with_capacity(encoded.len() * 3 / 4);
    for group in encoded.chunks(4) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 6 | u32::from(digit(*byte)));
        let bits = bits << (6 * (4 - group.len()));
        decoded.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    decoded
}
