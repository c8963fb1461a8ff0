//! Strings of JSON, JSON5 and HCL: where they end, and what they mean.

use std::borrow::Cow;

/// The end of the JSON string whose content begins at `start`, and whether it is closed.
pub(super) fn end_of_json(text: &str, start: usize, quote: u8) -> (usize, bool) {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return (at, false),
            byte if *byte == quote => return (at, true),
            _ => {}
        }
        at += 1;
    }
    (text.len(), false)
}

/// The end of the HCL string whose content begins at `start`, and whether it is closed. A template
/// in it may have strings of its own.
pub(super) fn end_of_hcl(text: &str, start: usize, quote: u8) -> (usize, bool) {
    let bytes = text.as_bytes();
    let (mut at, mut braces, mut is_inner) = (start, 0_usize, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return (at, false),
            b'$' | b'%' if !is_inner && bytes.get(at + 1) == Some(&b'{') => {
                braces += 1;
                at += 1;
            }
            b'{' if braces > 0 && !is_inner => braces += 1,
            b'}' if braces > 0 && !is_inner => braces -= 1,
            byte if *byte == quote && braces == 0 => return (at, true),
            byte if *byte == quote => is_inner = !is_inner,
            _ => {}
        }
        at += 1;
    }
    (text.len(), false)
}

/// What the content of a string means; borrowed if it has no escapes.
pub(super) fn decode(content: &str) -> Cow<'_, str> {
    if !content.contains('\\') {
        return Cow::Borrowed(content);
    }
    let (mut decoded, mut rest) = (String::with_capacity(content.len()), content);
    while let Some(at) = rest.find('\\') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escape) = rest.chars().next() else { break };
        rest = &rest[escape.len_utf8()..];
        let digits = match escape {
            'u' => 4,
            'U' => 8,
            'x' => 2,
            _ => 0,
        };
        if digits > 0 {
            rest = push_code(&mut decoded, rest, digits);
            continue;
        }
        match escape {
            'n' => decoded.push('\n'),
            'r' => decoded.push('\r'),
            't' => decoded.push('\t'),
            'b' => decoded.push('\u{8}'),
            'f' => decoded.push('\u{c}'),
            '0' => decoded.push('\0'),
            '\n' => {}
            other => decoded.push(other),
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// Adds the character whose code has `digits` digits at the start of `rest`; a pair of surrogates
/// is one character. Returns what follows.
fn push_code<'t>(decoded: &mut String, rest: &'t str, digits: usize) -> &'t str {
    let code = |text: &str| text.get(..digits).and_then(|code| u32::from_str_radix(code, 16).ok());
    let Some(first) = code(rest) else { return rest };
    let rest = &rest[digits..];
    let second = rest.strip_prefix("\\u").and_then(code);
    if let (0xD800..=0xDBFF, Some(second @ 0xDC00..=0xDFFF)) = (first, second) {
        let pair = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        decoded.extend(char::from_u32(pair));
        return &rest[2 + digits..];
    }
    decoded.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}
