//! Headers of mail: fields, encoded words, parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;

use encoding_rs::{Encoding, ISO_2022_JP};
use resource::one_line;

use super::transfer::{base64, push_escaped, utf7};
use crate::decode::decode;

/// The longest value of a field that is read; the rest is passed over.
const MAX_VALUE: usize = 64 << 10;

/// The most fields of a header.
const MAX_FIELDS: usize = 1_000;

/// The most parameters of a field, and the most pieces of one.
const MAX_PARAMETERS: usize = 100;

/// The header of a message or of a part.
#[derive(Debug, Default)]
pub(super) struct MailHeader<'a> {
    fields: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> MailHeader<'a> {
    /// Splits a message or part into its header and its body.
    pub(super) fn split(bytes: &'a [u8]) -> (Self, &'a [u8]) {
        let mut header = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (line, after) = field_line(rest);
            if line.trim_ascii().is_empty() {
                return (header, after);
            }
            let colon = line.iter().position(|byte| *byte == b':');
            let Some(colon) = colon.filter(|at| is_name(&line[..*at])) else {
                // A line that is no field: the body starts without an empty line, unless this is
                // the mark of a mailbox.
                if header.fields.is_empty() && line.starts_with(b"From ") {
                    rest = after;
                    continue;
                }
                return (header, rest);
            };
            if header.fields.len() < MAX_FIELDS {
                let value = &line[colon + 1..];
                header.fields.push((&line[..colon], &value[..value.len().min(MAX_VALUE)]));
            }
            rest = after;
        }
        (header, rest)
    }

    /// Whether there is any field.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    fn raw(&self, name: &str) -> Option<Cow<'a, str>> {
        let is_named =
            |field: &&(&[u8], &[u8])| field.0.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
        let value = self.fields.iter().find(is_named)?.1;
        Some(decode(value, None))
    }

    /// The value of a field, on one line, its encoded words decoded.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = decoded_words(&unfolded(&self.raw(name)?));
        Some(text.trim().to_owned())
    }

    /// The value of a field that has parameters.
    pub(super) fn value(&self, name: &str) -> MailValue {
        self.raw(name).map(|raw| MailValue::parse(&unfolded(&raw))).unwrap_or_default()
    }
}

/// The first field, with the lines that continue it, and the rest.
fn field_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut end = 0;
    loop {
        let line_end = bytes[end..].iter().position(|byte| *byte == b'\n');
        end = line_end.map_or(bytes.len(), |at| end + at + 1);
        let goes_on = matches!(bytes.get(end), Some(b' ' | b'\t'));
        let is_blank = bytes[..end].trim_ascii().is_empty();
        if !goes_on || is_blank {
            return bytes.split_at(end);
        }
    }
}

fn is_name(name: &[u8]) -> bool {
    let name = name.trim_ascii_end();
    !name.is_empty() && name.len() < 256 && name.iter().all(|byte| (33..127).contains(byte))
}

/// A value on one line, without control characters.
fn unfolded(value: &str) -> String {
    one_line(&value.replace(['\r', '\n'], "")).into_owned()
}

/// The value of a field and its parameters, as of `Content-Type`.
#[derive(Debug, Default)]
pub(super) struct MailValue {
    /// The value, in small letters.
    pub(super) value: String,
    parameters: BTreeMap<String, String>,
}

impl MailValue {
    fn parse(text: &str) -> Self {
        let mut pieces = split_parameters(text).into_iter();
        let value = pieces.next().unwrap_or_default().trim().to_ascii_lowercase();
        // Pieces of one parameter (RFC 2231): name, number, whether it is encoded, text.
        let mut plain = BTreeMap::new();
        let mut parts: BTreeMap<String, BTreeMap<u32, (bool, String)>> = BTreeMap::new();
        for piece in pieces.take(MAX_PARAMETERS) {
            let Some((name, value)) = piece.split_once('=') else { continue };
            let name = name.trim().to_ascii_lowercase();
            let value = unquoted(value.trim());
            match name.split_once('*') {
                None => {
                    plain.entry(name).or_insert(value);
                }
                Some((name, rest)) => {
                    let number = rest.trim_end_matches('*').parse().unwrap_or(0);
                    let is_encoded = rest.is_empty() || rest.ends_with('*');
                    let pieces = parts.entry(name.to_owned()).or_default();
                    pieces.entry(number).or_insert((is_encoded, value));
                }
            }
        }
        let plain = plain.into_iter().map(|(name, value)| (name, decoded_words(&value)));
        let mut parameters: BTreeMap<_, _> = plain.collect();
        parameters.extend(parts.into_iter().map(|(name, pieces)| (name, joined(pieces))));
        Self { value, parameters }
    }

    /// A parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }
}

/// The value of a field and its parameters, split at semicolons outside of quotes and comments.
fn split_parameters(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut is_quoted = false;
    let mut is_escaped = false;
    for letter in text.chars() {
        if letter == ';' && !is_quoted {
            pieces.push(String::new());
            continue;
        }
        if letter == '"' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = letter == '\\' && !is_escaped;
        if let Some(piece) = pieces.last_mut() {
            piece.push(letter);
        }
    }
    pieces
}

fn unquoted(value: &str) -> String {
    let Some(inside) = value.strip_prefix('"') else { return value.to_owned() };
    let inside = inside.strip_suffix('"').unwrap_or(inside);
    let mut text = String::with_capacity(inside.len());
    let mut letters = inside.chars().peekable();
    while let Some(letter) = letters.next() {
        // Windows names its folders with this letter, so it escapes only what must be escaped.
        if letter == '\\' && matches!(letters.peek(), Some('"' | '\\')) {
            text.extend(letters.next());
        } else {
            text.push(letter);
        }
    }
    text
}

/// The pieces of a parameter, in the charset that the first one names.
fn joined(pieces: BTreeMap<u32, (bool, String)>) -> String {
    let mut charset = None;
    let mut bytes = Vec::new();
    for (at, (is_encoded, text)) in pieces.into_values().enumerate() {
        let mut text = text.as_str();
        if at == 0
            && is_encoded
            && let [label, _, rest] = text.splitn(3, '\'').collect::<Vec<_>>()[..]
        {
            charset = Some(label.to_owned());
            text = rest;
        }
        if is_encoded {
            push_escaped(&mut bytes, text.as_bytes(), b'%');
        } else {
            bytes.extend_from_slice(text.as_bytes());
        }
    }
    charset_text(&bytes, charset.as_deref())
}

/// A text with its encoded words decoded (RFC 2047). Words that follow each other are one text.
pub(super) fn decoded_words(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    // The charset and bytes of the words that are not yet decoded.
    let mut run: Option<(String, Vec<u8>)> = None;
    // Nothing after the last end of a word can be one.
    let (text, tail) = text.split_at(text.rfind("?=").map_or(0, |at| at + 2));
    let mut rest = text;
    while let Some(at) = rest.find("=?") {
        let (before, from) = rest.split_at(at);
        let Some((charset, bytes, after)) = encoded_word(from) else {
            flush(&mut result, &mut run);
            result.push_str(before);
            result.push_str("=?");
            rest = &from[2..];
            continue;
        };
        if !before.trim().is_empty() || run.is_none() {
            flush(&mut result, &mut run);
            result.push_str(before);
        }
        match &mut run {
            Some((label, joined)) if label.eq_ignore_ascii_case(charset) => joined.extend(bytes),
            _ => {
                flush(&mut result, &mut run);
                run = Some((charset.to_owned(), bytes));
            }
        }
        rest = after;
    }
    flush(&mut result, &mut run);
    result.push_str(rest);
    result.push_str(tail);
    result
}

fn flush(result: &mut String, run: &mut Option<(String, Vec<u8>)>) {
    if let Some((charset, bytes)) = run.take() {
        // Without detection, which takes long for many short words.
        let known = web_label(&charset).and_then(|label| Encoding::for_label(label.as_bytes()));
        let text = match known {
            Some(encoding) if encoding != ISO_2022_JP => {
                encoding.decode_without_bom_handling(&bytes).0.into_owned()
            }
            _ => charset_text(&bytes, Some(&charset)),
        };
        result.push_str(&one_line(&text));
    }
}

/// The encoded word at the beginning of `text`: charset, bytes, and the rest.
fn encoded_word(text: &str) -> Option<(&str, Vec<u8>, &str)> {
    let (charset, rest) = text.strip_prefix("=?")?.split_once('?')?;
    let (encoding, rest) = rest.split_once('?')?;
    // Before the search for the end, which may be far.
    if !matches!(encoding, "B" | "b" | "Q" | "q") {
        return None;
    }
    let (content, after) = rest.split_once("?=")?;
    // A language may follow the charset.
    let charset = charset.split('*').next().unwrap_or(charset);
    let is_label = charset.len() < 64 && charset.bytes().all(|byte| byte.is_ascii_graphic());
    let bytes = match encoding {
        "B" | "b" => base64(content.as_bytes()),
        _ => {
            let mut bytes = Vec::with_capacity(content.len());
            push_escaped(&mut bytes, content.replace('_', " ").as_bytes(), b'=');
            bytes
        }
    };
    is_label.then_some((charset, bytes, after))
}

/// Bytes in a charset of mail, which has more names than those of the web.
pub(super) fn charset_text(bytes: &[u8], label: Option<&str>) -> String {
    let label = label.and_then(web_label);
    let is_jis = label.as_deref() == Some("iso-2022-jp")
        || (label.is_none() && bytes.windows(2).any(|pair| pair == b"\x1b$"));
    if is_jis {
        let kept = without_idle_shifts(bytes);
        return ISO_2022_JP.decode_without_bom_handling(&kept).0.into_owned();
    }
    if matches!(label.as_deref(), Some("utf-7" | "unicode-1-1-utf-7")) {
        return utf7(bytes);
    }
    decode(bytes, label.as_deref()).into_owned()
}

/// The name of a charset that the web has for it; `None` if it tells nothing about the bytes.
fn web_label(label: &str) -> Option<String> {
    let label = label.trim().trim_matches('"').to_ascii_lowercase();
    match label.as_str() {
        // It often names bytes that are none of it.
        "us-ascii" | "ascii" | "unknown-8bit" | "x-unknown" | "default" => None,
        "cp932" | "ms_kanji" | "windows-932" => Some("shift_jis".to_owned()),
        "cp51932" | "eucjp" | "eucjp-ms" | "ujis" => Some("euc-jp".to_owned()),
        "cp50220" | "cp50221" | "cp50222" => Some("iso-2022-jp".to_owned()),
        jis if jis.starts_with("iso-2022-jp") => Some("iso-2022-jp".to_owned()),
        _ => Some(label),
    }
}

/// Text in ISO-2022-JP without shifts that another shift follows at once: the decoder of the web
/// takes them as an attack, but mail that is joined of pieces has them.
fn without_idle_shifts(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(byte) = rest.first() {
        if matches!(rest, [0x1B, b'(' | b'$', _, 0x1B, ..]) {
            rest = &rest[3..];
            continue;
        }
        kept.push(*byte);
        rest = &rest[1..];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{MailHeader, decoded_words};

    fn header(text: &str) -> MailHeader<'_> {
        MailHeader::split(text.as_bytes()).0
    }

    #[test]
    fn encoded_words_are_decoded_and_joined() {
        assert_eq!(decoded_words("=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?= x"), "日本 x");
        let twice = "=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=\r\n =?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=";
        assert_eq!(decoded_words(twice), "日本日本");
        assert_eq!(decoded_words("a =?utf-8?Q?=E6=97=A5_b?= =?utf-8?q?c?="), "a 日 bc");
        // A character cut between two words.
        assert_eq!(decoded_words("=?utf-8?B?5pc=?=\t=?UTF-8?B?pQ==?="), "日");
        assert_eq!(decoded_words("=?bad =?x?y?z?= =?"), "=?bad =?x?y?z?= =?");
        assert_eq!(decoded_words("=?utf-8?q?a=0D=0AB:_c?="), "a  B: c");
    }

    #[test]
    fn fields_continue_on_the_next_line() {
        let header = header("Subject: one\r\n two\r\nX: y\r\n\r\nbody");
        assert_eq!(header.text("subject").as_deref(), Some("one two"));
        assert_eq!(header.text("none"), None);
    }

    #[test]
    fn parameters_in_pieces_and_charsets_are_joined() {
        let header = header(
            "A: attachment; filename*0*=utf-8''%E6%97%A5; filename*1*=%E6%9C%AC; filename*2=\".pdf\"\n\
             B: x/Y; name=\"=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=.txt\"; c=\"a;\\\"b\"\n\
             C: attachment; filename*=Shift_JIS'ja'%93%FA%96%7B.txt",
        );
        assert_eq!(header.value("a").parameter("filename"), Some("日本.pdf"));
        assert_eq!(header.value("b").value, "x/y");
        assert_eq!(header.value("b").parameter("name"), Some("日本.txt"));
        assert_eq!(header.value("b").parameter("c"), Some("a;\"b"));
        assert_eq!(header.value("c").parameter("filename"), Some("日本.txt"));
    }

    #[test]
    fn a_body_may_start_without_an_empty_line() {
        let (header, body) = MailHeader::split(b"From ann\nA: b\nno field\n");
        assert_eq!(header.text("a").as_deref(), Some("b"));
        assert_eq!(body, b"no field\n");
    }
}
