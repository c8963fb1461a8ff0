//! Sanitizer for JSON of upstream servers that refdesk passes on without parsing it.
//!
//! JSON that a peer wrote may be valid and still fail in a strict parser, or break the framing of
//! a pipe. One such value must not spoil the message that it becomes a part of, which also holds
//! the values of other servers.

use std::borrow::Cow;
use std::ops::Range;

use crate::json::raw_object::JsonEdits;

/// How deep objects and arrays of one value may be nested. It equals the default limit for
/// messages of clients, and leaves room for the message around the value: common parsers stop
/// at 128.
const MAX_DEPTH: usize = 64;

/// Integers of fewer characters are in the range of a double.
const MAX_PLAIN_DIGITS: usize = 300;

/// Valid JSON on one line, which every common parser accepts: unpaired surrogates become U+FFFD;
/// numbers beyond the range of a double, and values that are nested too deep, become `null`.
pub(crate) fn sanitize_json(json: &str) -> Cow<'_, str> {
    Scan::new(json).finish().0
}

/// Like [`sanitize_json`], but `None` if a value would become `null`.
pub(crate) fn mend_json(json: &str) -> Option<Cow<'_, str>> {
    let (text, lost) = Scan::new(json).finish();
    (lost == 0).then_some(text)
}

/// One pass over a valid JSON text.
struct Scan<'a> {
    text: &'a str,
    edits: JsonEdits<'a>,
    depth: usize,
    /// Where the outermost value that is nested too deep begins.
    too_deep_from: Option<usize>,
    /// How many values become `null`.
    lost: usize,
    has_line_break: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        let edits = JsonEdits::new(text);
        Self { text, edits, depth: 0, too_deep_from: None, lost: 0, has_line_break: false }
    }

    fn finish(mut self) -> (Cow<'a, str>, usize) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at = match byte {
                b'"' => self.scan_string(at),
                b'-' | b'0'..=b'9' => self.scan_number(at),
                b'{' | b'[' => {
                    self.depth += 1;
                    if self.depth == MAX_DEPTH + 1 {
                        self.too_deep_from = Some(at);
                    }
                    at + 1
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == MAX_DEPTH
                        && let Some(start) = self.too_deep_from.take()
                    {
                        self.lose(start..at + 1);
                    }
                    at + 1
                }
                b'\n' | b'\r' => {
                    self.has_line_break = true;
                    at + 1
                }
                _ => at + 1,
            };
        }
        let text = self.edits.apply().map_or(Cow::Borrowed(self.text), Cow::Owned);
        // In JSON, line breaks occur only between values, so that no value changes.
        let text = if self.has_line_break { text.replace(['\n', '\r'], " ").into() } else { text };
        (text, self.lost)
    }

    fn lose(&mut self, place: Range<usize>) {
        self.lost += 1;
        self.edits.replace(&self.text[place], "null".to_owned());
    }

    /// Scans the number that begins at `start`, and returns its end.
    fn scan_number(&mut self, start: usize) -> usize {
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let bytes = &self.text.as_bytes()[start..];
        let length = bytes.iter().position(|byte| !is_part(byte)).unwrap_or(bytes.len());
        let number = &self.text[start..start + length];
        let may_be_large = length > MAX_PLAIN_DIGITS || number.contains(['e', 'E']);
        if may_be_large && self.too_deep_from.is_none() && !number.parse().is_ok_and(f64::is_finite)
        {
            self.lose(start..start + length);
        }
        start + length
    }

    /// Scans the string that begins at `start`, and returns its end.
    fn scan_string(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(step) = memchr::memchr2(b'"', b'\\', rest) else {
                return bytes.len();
            };
            at += step;
            if bytes[at] == b'"' {
                return at + 1;
            }
            at = match utf16_unit(bytes, at) {
                None => at + 2,
                Some(0xD800..=0xDBFF)
                    if matches!(utf16_unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) =>
                {
                    at + 12
                }
                Some(0xD800..=0xDFFF) => {
                    if self.too_deep_from.is_none() {
                        self.edits.replace(&self.text[at..at + 6], "\\ufffd".to_owned());
                    }
                    at + 6
                }
                Some(_) => at + 6,
            };
        }
    }
}

/// The UTF-16 unit of the escape `\uXXXX` at `at`; `None` if another escape, or none, is there.
fn utf16_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop, prop_oneof, proptest};
    use serde_json::Value;

    use super::{MAX_DEPTH, mend_json, sanitize_json};

    fn nested(levels: usize) -> String {
        format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn half_an_emoji_becomes_the_replacement_character() {
        for (broken, mended) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#"{"\udE00b":"\ud83d\n"}"#, r#"{"\ufffdb":"\ufffd\n"}"#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
        ] {
            assert_eq!(sanitize_json(broken), mended);
            assert_eq!(mend_json(broken).unwrap(), mended);
        }
    }

    #[test]
    fn what_no_parser_can_hold_becomes_null() {
        let digits = "9".repeat(5_000);
        let (deep, deepest) = (nested(MAX_DEPTH), nested(MAX_DEPTH + 1));
        for (broken, mended) in [
            (r#"{"a":1e999,"b":-1E400}"#.to_owned(), r#"{"a":null,"b":null}"#.to_owned()),
            (format!("[{digits},1]"), "[null,1]".to_owned()),
            (deepest.clone(), deepest.replace("[1]", "null")),
            (format!("{}1e999{}", "[".repeat(200), "]".repeat(200)), deep.replace('1', "null")),
        ] {
            assert_eq!(sanitize_json(&broken), mended);
            assert_eq!(mend_json(&broken), None);
        }
        for fine in [deep.as_str(), "1e308", "-0.5e-400", r#""1e999""#, &"9".repeat(308)] {
            assert_eq!(mend_json(fine).unwrap(), fine);
        }
    }

    proptest! {
        #[test]
        fn the_result_is_one_line_that_any_parser_accepts(
            json in prop::collection::vec(prop_oneof![
                r#""(\\u[dD][89a-f][0-9a-f]{2}|\\n|\\\\|[a-z]){0,6}""#,
                "-?[1-9][0-9]{0,3}([.][0-9]{1,3})?([eE][+-]?[0-9]{1,4})?",
                (0..200_usize).prop_map(nested),
            ], 0..5).prop_map(|values| format!("[{}]", values.join(",\n"))),
        ) {
            let clean = sanitize_json(&json);
            assert!(!clean.contains('\n'));
            serde_json::from_str::<Value>(&clean).unwrap();
        }
    }
}
