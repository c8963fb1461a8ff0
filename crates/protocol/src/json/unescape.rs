//! JSON string unescaping, fast for large strings.
//!
//! The content of a resource is one string, often of a megabyte, so runs without escapes are copied
//! whole.

/// How many bytes one step checks. Small, because escapes often come close together.
const CHUNK: usize = 16;

/// Unescapes a JSON string to UTF-8; `None` if `json` is no string.
///
/// An unpaired surrogate becomes U+FFFD: half an emoji, as JavaScript's `slice` leaves it, must not
/// cost the rest of the text.
pub(crate) fn unescape_string(json: &str) -> Option<Vec<u8>> {
    unescape_leading(json).filter(|(_, length)| *length == json.len()).map(|(text, _)| text)
}

/// Unescapes the JSON string that `json` starts with, and returns the length of its JSON too; `None`
/// if it starts with no valid string.
pub(crate) fn unescape_leading(json: &str) -> Option<(Vec<u8>, usize)> {
    let mut rest = json.strip_prefix('"')?.as_bytes();
    let mut text = Vec::with_capacity(rest.len());
    loop {
        let end = copy_unescaped(rest, &mut text);
        let (_, special) = rest.split_at(end);
        let (letter, after) = match special {
            [b'"', after @ ..] => return Some((text, json.len() - after.len())),
            [b'\\', letter, after @ ..] => (letter, after),
            // A control character, or the end.
            _ => return None,
        };
        rest = after;
        text.push(match letter {
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (letter, after) = decode_unicode_escape(rest)?;
                text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                rest = after;
                continue;
            }
            b'"' | b'\\' | b'/' => *letter,
            _ => return None,
        });
    }
}

/// Copies the bytes before the first one that is special in a string, and returns how many they are.
fn copy_unescaped(bytes: &[u8], into: &mut Vec<u8>) -> usize {
    let is_special = |byte: u8| (byte == b'\\') | (byte == b'"') | (byte < 0x20);
    let mut at = 0;
    while let Some(step) = bytes[at..].first_chunk::<CHUNK>() {
        // Checks all bytes without an early exit, so that it compiles to SIMD comparisons.
        if step.iter().fold(false, |found, byte| found | is_special(*byte)) {
            break;
        }
        into.extend_from_slice(step);
        at += CHUNK;
    }
    let rest = &bytes[at..];
    let left = rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len());
    into.extend_from_slice(&rest[..left]);
    at + left
}

/// Decodes a `\u` escape, or a surrogate pair of two, and returns the bytes after it.
fn decode_unicode_escape(digits: &[u8]) -> Option<(char, &[u8])> {
    let (first, rest) = parse_hex_unit(digits)?;
    let letter = |units: [u16; 2]| char::decode_utf16(units).next()?.ok();
    if let Some(letter) = char::from_u32(first.into()) {
        return Some((letter, rest));
    }
    let second = rest.strip_prefix(b"\\u").and_then(parse_hex_unit);
    let pair = second.and_then(|(second, after)| Some((letter([first, second])?, after)));
    Some(pair.unwrap_or((char::REPLACEMENT_CHARACTER, rest)))
}

fn parse_hex_unit(digits: &[u8]) -> Option<(u16, &[u8])> {
    let (four, rest) = digits.split_first_chunk::<4>()?;
    // The parser of numbers takes a sign too.
    let four = std::str::from_utf8(four).ok().filter(|_| four.iter().all(u8::is_ascii_hexdigit))?;
    Some((u16::from_str_radix(four, 16).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::{unescape_leading, unescape_string};
    use proptest::prelude::{Strategy, prop, prop_oneof, proptest};

    fn held(json: &str) -> Option<String> {
        serde_json::from_str::<serde::de::IgnoredAny>(json).unwrap();
        unescape_string(json).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn every_escape_is_read() {
        let json = r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u65E5\ud83c\udf8c\u0000""#;
        assert_eq!(held(json).unwrap(), "\"\\/\u{8}\u{c}\n\r\tAé日🎌\0");
        assert_eq!(held(r#""""#).unwrap(), "");
        assert_eq!(held(r#""\\""#).unwrap(), "\\");
    }

    #[test]
    fn half_a_pair_becomes_the_replacement_character() {
        for (half, text) in [
            (r"\ud83c", "\u{fffd}"),
            (r"\udf8c", "\u{fffd}"),
            (r"\ud83c\n", "\u{fffd}\n"),
            (r"\ud83c\u0041", "\u{fffd}A"),
            (r"\ud83cu", "\u{fffd}u"),
            (r"\udf8c\ud83c", "\u{fffd}\u{fffd}"),
            (r"\ud83c\ud83c\udf8c", "\u{fffd}🎌"),
        ] {
            assert_eq!(held(&format!(r#""a{half}""#)).unwrap(), format!("a{text}"), "{half}");
        }
    }

    #[test]
    fn what_is_no_string_is_no_text() {
        for json in ["null", "7", "true", "[\"a\"]", "{\"a\":\"b\"}"] {
            assert_eq!(held(json), None, "{json}");
        }
    }

    #[test]
    fn what_is_not_valid_json_is_no_text() {
        for json in [
            "",
            "\"",
            "\"a",
            r#""\x""#,
            r#""\u00""#,
            r#""\u+041""#,
            "\"a\nb\"",
            r#""a"b"#,
            r#""a\"#,
        ] {
            assert_eq!(unescape_string(json), None, "{json}");
        }
    }

    #[test]
    fn the_leading_string_ends_at_its_quote() {
        assert_eq!(unescape_leading(r#""a\"b","c":1}"#), Some((b"a\"b".to_vec(), 6)));
    }

    /// Random JSON strings, some of which serde_json refuses.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            3 => "[^\"\\\\\u{0}-\u{1f}]{0,40}",
            3 => r#"\\["\\/bfnrt]"#,
            1 => r"\\u[0-9a-fA-F]{4}",
            1 => r"\\u[dD][89abAB][0-9a-f]{2}",
            1 => r"\\u[dD][c-fC-F][0-9a-f]{2}",
            1 => r"\\ud83c\\udf8c",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
    }

    proptest! {
        #[test]
        fn text_is_what_serde_json_reads(json in pieces()) {
            let read = serde_json::from_str::<String>(&json);
            let mended = held(&json).unwrap();
            assert!(read.map_or(mended.contains('\u{fffd}'), |read| read == mended), "{json}");
        }

        #[test]
        fn text_comes_back_from_what_was_written(text in "\\PC*|(?s).*") {
            assert_eq!(held(&serde_json::to_string(&text).unwrap()).unwrap(), text);
        }
    }
}
