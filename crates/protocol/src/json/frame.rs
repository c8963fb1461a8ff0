//! JSON-RPC envelope parser for messages of clients and of upstream servers.
//!
//! Strict with clients, which get a refusal; lenient with servers, which would not read one.
//! Parameters, results and errors borrow from the input bytes and are not parsed here.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::inbound::refusal::Refusal;
use crate::json::raw_object::{parse_object, parse_string};
use crate::outbound::response::MalformedMessage;

/// JSON text that is not parsed yet.
pub type RawJson = RawValue;

/// The content of one line or one HTTP body.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// One message.
    Single(Message<'a>),
    /// A batch. Each message in it may be malformed on its own.
    Batch(Vec<Result<Message<'a>, Refusal>>),
}

/// One JSON-RPC message.
#[derive(Debug)]
pub enum Message<'a> {
    /// A request: the sender expects a response.
    Request {
        /// The id that the response must carry.
        id: RequestId,
        /// The method, as the sender wrote it.
        method: Cow<'a, str>,
        /// The parameters, not parsed.
        params: Option<&'a RawValue>,
    },
    /// A notification: no response is expected.
    Notification {
        /// The method, as the sender wrote it.
        method: Cow<'a, str>,
        /// The parameters, not parsed.
        params: Option<&'a RawValue>,
    },
    /// A response to a request that we sent.
    Response {
        /// The id of that request, if the response has one.
        id: Option<RequestId>,
        /// The result, or the error.
        outcome: Result<&'a RawValue, &'a RawValue>,
    },
}

/// The id of a request: a string or an integer. Keeps the type and every digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// An integer of any size, as its decimal digits.
    Number(Box<str>),
    /// A string.
    Text(Box<str>),
}

impl RequestId {
    /// Parses an id. Returns `None` for anything but a string or an integer.
    pub fn parse(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if text.starts_with('"') {
            return serde_json::from_str(text).ok().map(Self::Text);
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        whole.then(|| Self::Number(text.into()))
    }

    /// Writes the id as JSON.
    pub fn write(&self, into: &mut Vec<u8>) {
        match self {
            Self::Number(digits) => into.extend_from_slice(digits.as_bytes()),
            Self::Text(text) => json_escape_simd::escape_into(text, into),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(text) | Self::Text(text) => f.write_str(text),
        }
    }
}

impl serde::Serialize for RequestId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(digits) => {
                let raw = RawValue::from_string(digits.to_string());
                raw.map_err(serde::ser::Error::custom)?.serialize(serializer)
            }
        }
    }
}

/// Limits on one message from a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLimits {
    /// Maximum nesting depth of objects and arrays.
    pub max_depth: usize,
    /// Maximum number of messages in one batch.
    pub max_batch: usize,
}

/// Maximum length of a request id, as JSON. The server keeps ids for as long as requests last.
const MAX_ID_BYTES: usize = 1024;

/// Parses one line or one HTTP body of a client.
pub fn parse(bytes: &[u8], bounds: FrameLimits) -> Result<Incoming<'_>, Refusal> {
    // Counting brackets is faster than tracking the nesting, and nearly always enough.
    let brackets = memchr::memchr2_iter(b'{', b'[', bytes).count();
    if brackets > bounds.max_depth && nesting_depth(bytes) > bounds.max_depth {
        let most = bounds.max_depth;
        return Err(Refusal::parse_error(format!("JSON is nested deeper than {most} levels")));
    }
    let text = simdutf8::basic::from_utf8(bytes)
        .map_err(|_| Refusal::parse_error("the message is not UTF-8".to_owned()))?;
    if !is_batch(text) {
        return parse_message(text).map(Incoming::Single);
    }
    let raw: Vec<&RawValue> = serde_json::from_str(text).map_err(|flaw| refuse_json(&flaw))?;
    match raw.len() {
        0 => Err(Refusal::invalid_request("the batch is empty")),
        many if many > bounds.max_batch => {
            let most = bounds.max_batch;
            Err(Refusal::invalid_request(&format!("the batch has more than {most} messages")))
        }
        _ => Ok(Incoming::Batch(raw.into_iter().map(|raw| parse_message(raw.get())).collect())),
    }
}

/// Parses one line, HTTP body or SSE event of an upstream server: a single message, or a batch.
/// Ignores `jsonrpc`, and takes an invalid id for a missing one.
pub fn parse_lenient(bytes: &[u8]) -> Result<Vec<Message<'_>>, MalformedMessage> {
    // The parser's error names a position and quotes at most the value that has a wrong type.
    let invalid =
        |flaw: serde_json::Error| MalformedMessage::new(&format!("not a JSON-RPC message: {flaw}"));
    let text = simdutf8::basic::from_utf8(bytes).map_err(|_| MalformedMessage::new("not UTF-8"))?;
    let message = |text| {
        let envelope: Envelope<'_> = parse_object(text).map_err(invalid)?;
        let id = envelope.id.and_then(RequestId::parse);
        let empty = |_| MalformedMessage::new("the message has no method, result or error");
        envelope.into_message(id).map_err(empty)
    };
    if !is_batch(text) {
        return Ok(vec![message(text)?]);
    }
    let raw: Vec<&RawValue> = serde_json::from_str(text).map_err(invalid)?;
    raw.into_iter().map(|raw| message(raw.get())).collect()
}

fn is_batch(text: &str) -> bool {
    text.trim_start().starts_with('[')
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// The message, or its id if it has no method, result or error.
    fn into_message(self, id: Option<RequestId>) -> Result<Message<'a>, Option<RequestId>> {
        let params = self.params;
        let outcome = self.error.map(Err).or(self.result.map(Ok));
        match (self.method, outcome, id) {
            (Some(method), _, Some(id)) => Ok(Message::Request { id, method, params }),
            (Some(method), _, None) => Ok(Message::Notification { method, params }),
            (None, Some(outcome), id) => Ok(Message::Response { id, outcome }),
            (None, None, id) => Err(id),
        }
    }
}

/// The id of a message whose envelope does not parse.
#[derive(Deserialize)]
struct IdOnlyEnvelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// Deserializes a member that is present, even if its value is `null`.
pub(crate) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn parse_message(text: &str) -> Result<Message<'_>, Refusal> {
    let mut envelope: Envelope<'_> = parse_object(text).map_err(|flaw| {
        // If the id can be parsed, the refusal carries it, so the client does not wait in vain.
        let envelope: Option<IdOnlyEnvelope<'_>> = parse_object(text).ok();
        refuse_json(&flaw).with_id(envelope.and_then(|told| parse_client_id(told.id?).ok()))
    })?;
    let id = envelope.id.map(parse_client_id).transpose()?;
    if envelope.jsonrpc.and_then(parse_string).as_deref() != Some("2.0") {
        let what = "jsonrpc must be \"2.0\"";
        return Err(Refusal::invalid_request(what).with_id(id));
    }
    if envelope.params.is_some_and(|raw| !raw.get().starts_with(['{', '['])) {
        let what = "params must be an object or an array";
        return Err(Refusal::invalid_request(what).with_id(id));
    }
    // MCP: a result is an object, so that null is none.
    envelope.result = envelope.result.filter(|raw| raw.get() != "null");
    let empty = |id| Refusal::invalid_request("method is missing").with_id(id);
    envelope.into_message(id).map_err(empty)
}

fn parse_client_id(raw: &RawValue) -> Result<RequestId, Refusal> {
    if raw.get().len() > MAX_ID_BYTES {
        let why = format!("id is longer than {MAX_ID_BYTES} bytes");
        return Err(Refusal::invalid_request(&why));
    }
    let why = "id must be a string or an integer";
    RequestId::parse(raw).ok_or_else(|| Refusal::invalid_request(why))
}

fn refuse_json(flaw: &serde_json::Error) -> Refusal {
    if flaw.is_data() {
        Refusal::invalid_request(&flaw.to_string())
    } else {
        Refusal::parse_error(format!("invalid JSON: {flaw}"))
    }
}

/// The nesting depth of objects and arrays. Brackets inside strings do not count.
fn nesting_depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for &byte in bytes {
        if quoted {
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::{FrameLimits, Incoming, Message, RequestId, nesting_depth, parse, parse_lenient};

    const BOUNDS: FrameLimits = FrameLimits { max_depth: 4, max_batch: 2 };

    fn code(text: &str) -> i64 {
        parse(text.as_bytes(), BOUNDS).unwrap_err().code()
    }

    #[test]
    fn an_id_keeps_its_type_and_its_digits() {
        for id in [r#""7""#, "7", "-1", "123456789012345678901234567890", r#""é\n""#] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
            let incoming = parse(text.as_bytes(), BOUNDS).unwrap();
            let Incoming::Single(Message::Request { id: read, .. }) = incoming else { panic!() };
            let mut written = Vec::new();
            read.write(&mut written);
            assert_eq!(written, id.as_bytes());
            assert_eq!(serde_json::to_string(&read).unwrap(), id);
        }
        let number = RequestId::Number("7".into());
        assert_ne!(number, RequestId::Text("7".into()));
    }

    #[test]
    fn what_is_not_a_message_is_refused_by_its_kind() {
        assert_eq!(code("{"), -32700);
        assert_eq!(code("nonsense"), -32700);
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1}"#), -32600);
        assert_eq!(code(r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#), -32600);
        assert_eq!(code(r#"{"id":1,"method":"x"}"#), -32600);
        for id in ["null", "1.5", "true", "{}", "1e3"] {
            assert_eq!(code(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#)), -32600);
        }
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#), -32600);
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":5}"#), -32600);
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":5}"#), -32600);
        assert_eq!(code("[]"), -32600);
    }

    #[test]
    fn an_array_is_no_message() {
        let array = r#"["2.0",1,"x",{},null,null]"#;
        let text = format!(r#"[{array},{{"jsonrpc":"2.0","id":1,"method":"x"}}]"#);
        let Ok(Incoming::Batch(messages)) = parse(text.as_bytes(), BOUNDS) else { panic!() };
        assert_eq!(messages[0].as_ref().unwrap_err().code(), -32600);
        assert!(messages[1].is_ok());
        assert!(parse_lenient(format!("[{array}]").as_bytes()).is_err());
    }

    #[test]
    fn nesting_is_taken_at_the_bound_and_refused_one_past_it() {
        let nested = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"jsonrpc":"2.0","method":"x","params":{open}{close}}}"#)
        };
        assert!(parse(nested(3).as_bytes(), BOUNDS).is_ok());
        assert_eq!(code(&nested(4)), -32700);
        assert_eq!(code(&nested(10_000)), -32700);
        assert_eq!(nesting_depth(br#"{"a":"[[[\"[["}"#), 1);
    }

    #[test]
    fn a_batch_is_taken_at_the_bound_and_refused_one_past_it() {
        let note = r#"{"jsonrpc":"2.0","method":"x"}"#;
        let incoming = parse(format!("[{note},{note}]").into_bytes().leak(), BOUNDS).unwrap();
        assert!(matches!(incoming, Incoming::Batch(messages) if messages.len() == 2));
        assert_eq!(code(&format!("[{note},{note},{note}]")), -32600);
    }
}
