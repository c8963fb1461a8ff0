//! The result of a response, as JSON: parsed at once or, where it is long, only when it is decoded.

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::json::frame::{RawJson, RequestId};
use crate::outbound::response::MalformedMessage;

/// Messages of at least this size are not parsed before their result is decoded: finding the end of
/// a megabyte of text takes as long as decoding it.
const MIN_UNPARSED: usize = 16 << 10;

/// The most bytes before the result of a response that is not parsed.
const MAX_ENVELOPE: usize = 256;

/// The result of a request.
#[derive(Debug, Clone)]
pub enum ResultText {
    /// Valid JSON.
    Parsed(Box<RawValue>),
    /// Starts like an object. If the message had members after its result, they follow it.
    Unparsed(Bytes),
}

impl ResultText {
    /// Splits the id and the result off a long response, if its result seems to come last.
    pub fn split(message: &Bytes) -> Option<(RequestId, Self)> {
        if message.len() < MIN_UNPARSED {
            return None;
        }
        let (id, start) = split_envelope(message)?;
        let result = message[start..].trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
        let is_object = result.starts_with(b"{") && result.ends_with(b"}");
        is_object.then(|| (id, Self::Unparsed(message.slice_ref(result))))
    }

    /// How many bytes it holds.
    pub fn held_bytes(&self) -> usize {
        match self {
            Self::Parsed(json) => json.get().len(),
            Self::Unparsed(bytes) => bytes.len(),
        }
    }

    /// The text, which starts with the result.
    pub(crate) fn leading_text(&self) -> Result<&str, MalformedMessage> {
        match self {
            Self::Parsed(json) => Ok(json.get()),
            Self::Unparsed(bytes) => simdutf8::basic::from_utf8(bytes)
                .map_err(|_| MalformedMessage::new("the result is not UTF-8")),
        }
    }

    /// The result alone, as valid JSON.
    pub fn parse(self) -> Result<Box<RawValue>, MalformedMessage> {
        if let Self::Parsed(json) = self {
            return Ok(json);
        }
        leading_value(self.leading_text()?).map(ToOwned::to_owned)
    }
}

impl From<&RawJson> for ResultText {
    fn from(json: &RawJson) -> Self {
        Self::Parsed(json.to_owned())
    }
}

/// The value that `text` starts with.
pub(crate) fn leading_value(text: &str) -> Result<&RawValue, MalformedMessage> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let invalid = |flaw: &dyn std::fmt::Display| {
        MalformedMessage::new(&format!("the result cannot be parsed: {flaw}"))
    };
    match values.next() {
        Some(value) => value.map_err(|flaw| invalid(&flaw)),
        None => Err(invalid(&"it is empty")),
    }
}

/// The id of a response, and where the value of its `result` starts. `None` if other members than
/// `jsonrpc` and `id` come before it, or one that needs a parser.
fn split_envelope(message: &[u8]) -> Option<(RequestId, usize)> {
    let head = &message[..message.len().min(MAX_ENVELOPE)];
    let mut rest = head.trim_ascii_start().strip_prefix(b"{")?;
    let mut id = None;
    loop {
        let (name, after) = split_plain_string(rest.trim_ascii_start())?;
        rest = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        if name == b"\"result\"" {
            return Some((id?, head.len() - rest.len()));
        }
        let (value, after) = match rest.first()? {
            b'"' => split_plain_string(rest)?,
            _ => rest.split_at(rest.iter().position(|byte| !byte.is_ascii_digit())?),
        };
        match name {
            b"\"id\"" => id = Some(RequestId::parse(serde_json::from_slice(value).ok()?)?),
            b"\"jsonrpc\"" => {}
            _ => return None,
        }
        rest = after.trim_ascii_start().strip_prefix(b",")?;
    }
}

/// Splits off a JSON string without escapes, with its quotes.
fn split_plain_string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inside = text.strip_prefix(b"\"")?;
    let end = inside.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    (inside[end] == b'"').then(|| text.split_at(end + 2))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{MIN_UNPARSED, ResultText};

    fn split(before: &str, after: &str) -> Option<(String, String)> {
        let text = "x".repeat(MIN_UNPARSED);
        let message = format!("{before}{{\"contents\":[{{\"text\":\"{text}\"}}]}}{after}");
        let (id, result) = ResultText::split(&Bytes::from(message))?;
        let result = result.parse().unwrap().get().replace(&text, "…");
        Some((id.to_string(), result))
    }

    #[test]
    fn the_result_of_a_long_response_is_split_off() {
        let result = "{\"contents\":[{\"text\":\"…\"}]}".to_owned();
        for (id, before, after) in [
            ("7", r#"{"jsonrpc":"2.0","id":7,"result":"#, "}"),
            ("7", " {\"id\" : 7 , \"jsonrpc\" : \"2.0\",\n \"result\" : ", " }\n"),
            ("a", r#"{"id":"a","result":"#, "}"),
            ("7", r#"{"id":7,"result":"#, r#","_meta":{"a":{}}}"#),
        ] {
            assert_eq!(split(before, after), Some((id.to_owned(), result.clone())), "{before}");
        }
    }

    #[test]
    fn any_other_message_is_left_to_the_parser() {
        for (before, after) in [
            (r#"{"jsonrpc":"2.0","result":"#, r#","id":7}"#),
            (r#"{"result":"#, "}"),
            (r#"{"id":null,"result":"#, "}"),
            (r#"{"id":1.5,"result":"#, "}"),
            (r#"{"id":"\u0061","result":"#, "}"),
            (r#"{"id":7,"error":"#, "}"),
            (r#"{"id":7,"x":{},"result":"#, "}"),
            (r#"[{"id":7,"result":"#, "}]"),
            (r#"{"id":7,"result":["#, "]}"),
            (r#"{"id":7,"result":"#, ""),
        ] {
            assert_eq!(split(before, after), None, "{before}");
        }
        let short = Bytes::from_static(br#"{"id":7,"result":{}}"#);
        assert!(ResultText::split(&short).is_none());
    }

    #[test]
    fn a_broken_result_is_an_error_once_it_is_parsed() {
        let message = format!("{{\"id\":7,\"result\":{{\"a\":\"{}}}}}", "x".repeat(MIN_UNPARSED));
        let (_, result) = ResultText::split(&Bytes::from(message)).unwrap();
        assert!(result.parse().is_err());
    }
}
