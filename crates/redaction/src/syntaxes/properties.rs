//! Java properties: `key=value`, `key: value`, `key value`, with lines that a backslash continues.

use std::borrow::Cow;

use super::lines;
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// Reports the keys and values of `text`.
pub(super) fn scan<'t>(text: &'t str, walk: &mut Walk<'t, '_>) -> Fit {
    let mut at = 0;
    while at < text.len() {
        let start = at;
        at = next_line(text, at);
        let is_comment = text[start..at].trim_start().starts_with(['#', '!']);
        // A comment is not continued.
        while !is_comment && at < text.len() && is_continued(&text[start..at]) {
            at = next_line(text, at);
        }
        let line = text[start..at].trim_end_matches(['\n', '\r']);
        let body = line.trim_start();
        let from = start + line.len() - body.len();
        if is_comment {
            lines::scan_comment(text, from..from + body.len(), walk);
            continue;
        }
        let key_length = key_length(body);
        let key = decode(&body[..key_length]);
        let rest = body[key_length..].trim_start();
        let value = rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start();
        let from = from + body.len() - value.len();
        let range = from..from + value.len();
        walk.key(key);
        walk.scalar(ScalarToken { range, value: decode(value), quoting: Quoting::Verbatim });
    }
    Fit::Whole
}

fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// Whether a line ends with a backslash that is not escaped itself.
fn is_continued(line: &str) -> bool {
    let line = line.trim_end_matches(['\n', '\r']);
    (line.len() - line.trim_end_matches('\\').len()) % 2 == 1
}

fn key_length(body: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in body.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '=' | ':' | ' ' | '\t' => return at,
            _ => {}
        }
    }
    body.len()
}

/// A key or value without escapes and continued lines.
fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escape) = rest.chars().next() else { break };
        rest = &rest[escape.len_utf8()..];
        match escape {
            '\n' => rest = rest.trim_start_matches([' ', '\t']),
            '\r' => rest = rest.trim_start_matches(['\n', ' ', '\t']),
            'n' => decoded.push('\n'),
            't' => decoded.push('\t'),
            'r' => decoded.push('\r'),
            'u' => {
                let code = rest.get(..4).and_then(|code| u32::from_str_radix(code, 16).ok());
                if let Some(code) = code {
                    decoded.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    rest = &rest[4..];
                }
            }
            other => decoded.push(other),
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}
