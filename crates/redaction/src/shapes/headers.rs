//! Values of `Authorization:` headers, in any text that quotes one.

use super::{ByteClass, Candidate, ShapeWindow};
use crate::mask::mask_length;
use crate::values::is_harmless;

pub(super) const ANCHOR: &str = "(?i-u:authorization)";

/// Schemes with one credential behind them.
const SCHEMES: &[&str] = &[
    "basic",
    "bearer",
    "token",
    "apikey",
    "api-key",
    "negotiate",
    "ntlm",
    "key",
    "bot",
    "splunk",
    "geniekey",
    "sharedkey",
    "ssws",
    "jwt",
];
/// Schemes with many parameters, one of them a signature.
const SIGNED_SCHEMES: &[&str] =
    &["digest", "aws4-hmac-sha256", "hawk", "oauth", "signature", "sharedaccesssignature"];

/// The credential of the header at the anchor.
pub(super) fn matching(window: &ShapeWindow<'_>) -> Option<Candidate> {
    let mut at = skip(window, window.anchor_end, |byte| b"\"'\\ \t".contains(&byte));
    if !window.rest(at).starts_with([':', '=', ',']) {
        return None;
    }
    at = skip(window, at + 1, |byte| byte == b' ' || byte == b'\t');
    let quote_at = at;
    at = skip(window, at, |byte| b"\"'\\`".contains(&byte));
    let is_quoted = at > quote_at;
    let scheme_end = window.run_end(at, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let scheme = &window.text[at..scheme_end];
    let is_in = |list: &[&str]| list.iter().any(|name| name.eq_ignore_ascii_case(scheme));
    let value_at = skip(window, scheme_end, |byte| byte == b' ');
    if is_in(SIGNED_SCHEMES) && value_at > scheme_end {
        let class: ByteClass = if is_quoted { is_in_quotes } else { is_on_line };
        return credential(window, value_at, class, |_| true);
    }
    if is_in(SCHEMES) && value_at > scheme_end {
        return credential(window, value_at, is_credential, |value| {
            value.len() >= 8 || value.bytes().any(|byte| byte.is_ascii_digit() || byte == b'=')
        });
    }
    credential(window, at, is_credential, |value| {
        value.len() >= 8 && value.bytes().any(|byte| byte.is_ascii_digit())
    })
}

fn credential(
    window: &ShapeWindow<'_>,
    start: usize,
    class: ByteClass,
    is_value: fn(&str) -> bool,
) -> Option<Candidate> {
    let end = window.run_end(start, class);
    let value = &window.text[start..end];
    let is_masked = mask_length(window.rest(start)).is_some();
    if is_masked || is_harmless(value) || !is_value(value) {
        return None;
    }
    Some(Candidate { range: start..end, kind: "authorization", tail: window.tail(end, class) })
}

fn skip(window: &ShapeWindow<'_>, at: usize, class: ByteClass) -> usize {
    let limit = window.limit.min(at + 16);
    let bytes = &window.text.as_bytes()[at..limit.max(at)];
    at + bytes.iter().take_while(|byte| class(**byte)).count()
}

fn is_credential(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=%${}".contains(&byte)
}

fn is_on_line(byte: u8) -> bool {
    byte != b'\n' && byte != b'\r'
}

fn is_in_quotes(byte: u8) -> bool {
    is_on_line(byte) && !b"\"'`\\".contains(&byte)
}
