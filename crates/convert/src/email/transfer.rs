//! Transfer encodings of mail: base64 and quoted-printable; and text that flows.

use std::borrow::Cow;

/// The content of a part without its transfer encoding.
pub(super) fn decoded<'a>(body: &'a [u8], encoding: &str) -> Cow<'a, [u8]> {
    match encoding.trim().to_ascii_lowercase().as_str() {
        "base64" => Cow::Owned(base64(body)),
        "quoted-printable" => Cow::Owned(quoted_printable(body)),
        _ => Cow::Borrowed(body),
    }
}

/// Base64; whatever is no digit of it is passed over, as mail demands. Some mailers join several
/// texts, and some lists append a line in clear: that ends it.
pub(super) fn base64(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0u32, 0);
    let mut has_ended = false;
    for piece in text.split_inclusive(|byte| matches!(byte, b'=' | b'\n')) {
        let content = piece.trim_ascii().strip_suffix(b"=").unwrap_or(piece.trim_ascii());
        if has_ended && content.iter().any(|letter| base64_digit(*letter).is_none()) {
            break;
        }
        for digit in content.iter().filter_map(|letter| base64_digit(*letter)) {
            bits = bits << 6 | u32::from(digit);
            count += 1;
            match count {
                2 => bytes.push((bits >> 4) as u8),
                3 => bytes.push((bits >> 2) as u8),
                4 => {
                    bytes.push(bits as u8);
                    count = 0;
                }
                _ => {}
            }
        }
        if piece.ends_with(b"=") {
            has_ended = true;
            count = 0;
        }
    }
    bytes
}

fn base64_digit(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// Text in UTF-7: UTF-16 in base64 between a plus and a minus sign.
pub(super) fn utf7(text: &[u8]) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        if *byte != b'+' {
            decoded.push(char::from(*byte));
            rest = after;
            continue;
        }
        let is_digit =
            |letter: &u8| letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'/');
        let digits = after.iter().take_while(|letter| is_digit(letter)).count();
        let pairs = base64(&after[..digits]);
        let units = pairs.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        if digits == 0 {
            decoded.push('+');
        }
        decoded.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or('\u{FFFD}')));
        rest = &after[digits..];
        rest = rest.strip_prefix(b"-").unwrap_or(rest);
    }
    decoded
}

/// Quoted-printable.
fn quoted_printable(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let content = line.trim_ascii_end();
        let is_soft = content.last() == Some(&b'=');
        let content = if is_soft { &content[..content.len() - 1] } else { content };
        push_escaped(&mut bytes, content, b'=');
        if !is_soft && line.ends_with(b"\n") {
            bytes.push(b'\n');
        }
    }
    bytes
}

/// Appends text in which `mark` and two hexadecimal digits stand for a byte.
pub(super) fn push_escaped(bytes: &mut Vec<u8>, text: &[u8], mark: u8) {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let escaped = (*byte == mark).then(|| hex(text.get(at + 1..at + 3)?)).flatten();
        bytes.push(escaped.unwrap_or(*byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
}

fn hex(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Text whose lines were broken for the journey, joined again (RFC 3676).
pub(super) fn unflowed(text: &str, has_extra_space: bool) -> String {
    let mut joined = String::with_capacity(text.len());
    // The depth of quotes of the line that goes on.
    let mut flows = None;
    for line in text.lines() {
        let depth = line.bytes().take_while(|byte| *byte == b'>').count();
        let content = &line[depth..];
        let content = content.strip_prefix(' ').unwrap_or(content);
        let is_signature = content == "-- ";
        if flows != Some(depth) || is_signature {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.extend(std::iter::repeat_n('>', depth));
            if depth > 0 {
                joined.push(' ');
            }
        }
        let goes_on = content.ends_with(' ') && !is_signature;
        let kept = if goes_on && has_extra_space { &content[..content.len() - 1] } else { content };
        joined.push_str(kept);
        flows = goes_on.then_some(depth);
    }
    joined.push('\n');
    joined
}

#[cfg(test)]
mod tests {
    use super::{decoded, unflowed, utf7};

    #[test]
    fn transfer_encodings_are_decoded() {
        assert_eq!(&*decoded(b"aGVs\r\nbG8=\r\n", "Base64"), b"hello");
        assert_eq!(&*decoded(b"aA==aA==", "base64"), b"hh");
        assert_eq!(&*decoded(b"aA==\r\naA==\r\n-- \r\nA footer\r\n", "base64"), b"hh");
        assert_eq!(
            &*decoded(b"a=3Db=\r\nc =\r\n=E6=97=A5\r\n=zz=", "quoted-printable"),
            "a=bc 日\n=zz".as_bytes()
        );
        assert_eq!(&*decoded(b"as is", "8bit"), b"as is");
    }

    #[test]
    fn utf7_is_decoded() {
        assert_eq!(utf7(b"Fr+APY-sche 1 +- 1 +ZeVnLA +AN8-"), "Frösche 1 + 1 日本 ß");
        assert_eq!(utf7(b"+2Ds-+"), "\u{FFFD}+");
    }

    #[test]
    fn flowed_lines_are_joined() {
        let text = "one \ntwo\n> quoted \n> more\n  stuffed\n-- \nname\n";
        assert_eq!(unflowed(text, false), "one two\n> quoted more\n stuffed\n-- \nname\n");
        assert_eq!(unflowed("日本 \n語\n", true), "日本語\n");
    }
}
