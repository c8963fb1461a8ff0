//! Decoding of content: the elements of a read.
//!
//! Most content is one long text. It is decoded where it stands, and the rest is parsed without it.

use bytes::Bytes;
use resource::{Freshness, Json, Resource, Slice, UnknownMembers, Uri};

use super::description::{DescriptionDraft, Kind};
use super::{DecodedResult, window};
use crate::json::raw_object::RawObject;
use crate::json::unescape::unescape_leading;
use crate::outbound::response::MalformedMessage;
use crate::outbound::result_text::{ResultText, leading_value};

/// The result of a read.
#[derive(Debug, Clone)]
pub enum ReadResult {
    /// The content, and what the server sent along with it.
    Contents(Vec<ContentElement>, Freshness, UnknownMembers),
    /// No content yet: the server asks for input first, with this result.
    InputRequired(Json),
}

/// One element of `contents`.
#[derive(Debug, Clone)]
pub struct ContentElement {
    /// The resource, as the element describes it.
    pub resource: Resource,
    /// Whether the content is text.
    pub is_text: bool,
    /// The content: UTF-8 text, or the decoded bytes of a blob.
    pub bytes: Bytes,
    /// The byte range of the whole, if the server cut the window that it was asked for.
    pub slice: Option<Slice>,
}

/// Texts of at least this size, in bytes of JSON, are decoded before the rest is parsed.
const MIN_LONG_TEXT: usize = 64 << 10;

/// How far into the result such a text may start.
const MAX_TEXT_START: usize = 4 << 10;

/// What stands in the place of a long text while the rest is parsed, as JSON.
const PLACEHOLDER: &str = "\"\\u0000\\u0001 the long text\"";

/// Decodes the content of `asked`. Elements without a URI get that one.
pub fn read_result(result: &ResultText, asked: &Uri) -> Result<ReadResult, MalformedMessage> {
    let text = result.leading_text()?;
    if let Some((rest, mut long)) = take_long_text(text) {
        let decoded = decode_contents(&rest, asked, &mut long);
        // If it was no content, the placeholder still stands for it.
        if long.is_none() {
            return decoded;
        }
    }
    decode_contents(text, asked, &mut None)
}

/// Decodes the result that `text` starts with. The element with the placeholder takes `long`.
fn decode_contents(
    text: &str,
    asked: &Uri,
    long: &mut Option<Bytes>,
) -> Result<ReadResult, MalformedMessage> {
    let told = DecodedResult::parse_leading(text)?;
    // Of the methods here, only a read may ask for input (MCP 2026-07-28, multi round-trip
    // requests).
    if told.result_type.as_deref() == Some("input_required") {
        return Ok(ReadResult::InputRequired(leading_value(text)?.get().into()));
    }
    let mut told = told.require_complete()?;
    let contents =
        told.contents.take().ok_or_else(|| MalformedMessage::new("the result has no contents"))?;
    let mut element = |fields: RawObject<'_>| {
        let draft = DescriptionDraft::from_members(fields.0, Kind::Element);
        let is_long = draft.text.is_some_and(|raw| raw.get() == PLACEHOLDER);
        let (is_text, bytes) = match long.take_if(|_| is_long) {
            Some(bytes) => (true, bytes),
            None => draft.decode_body()?,
        };
        let resource = draft.into_resource(Some(asked));
        let mut resource =
            resource.ok_or_else(|| MalformedMessage::new("contents: invalid URI"))?;
        let slice = window::decode_slice(&mut resource, bytes.len() as u64)?;
        Ok(ContentElement { resource, is_text, bytes, slice })
    };
    let elements =
        contents.into_iter().map(&mut element).collect::<Result<_, MalformedMessage>>()?;
    Ok(ReadResult::Contents(elements, told.freshness(), told.extra()))
}

/// The first `text` of a result, decoded, and the result without it, if the text is long.
fn take_long_text(result: &str) -> Option<(String, Option<Bytes>)> {
    if result.len() < MIN_LONG_TEXT {
        return None;
    }
    let start = find_text(&result.as_bytes()[..MAX_TEXT_START])?;
    let (text, length) = unescape_leading(&result[start..])?;
    if length < MIN_LONG_TEXT {
        return None;
    }
    let (before, after) = (&result[..start], &result[start + length..]);
    Some(([before, PLACEHOLDER, after].concat(), Some(text.into())))
}

/// Where the value of the first member `text` starts, if it is a string. Inside of a JSON string, its
/// name could not stand between quotes without backslashes.
fn find_text(json: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\"text\"";
    let at = json.windows(NAME.len()).position(|part| part == NAME)?;
    let rest = json[at + NAME.len()..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let is_name = at > 0 && json[at - 1] != b'\\' && rest.starts_with(b"\"");
    is_name.then(|| json.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use resource::Uri;
    use serde_json::{Value, json};

    use super::{MIN_LONG_TEXT, ReadResult, ResultText, read_result, take_long_text};

    fn read(result: &Value) -> Vec<(String, Vec<u8>)> {
        let text = ResultText::Unparsed(result.to_string().into());
        let ReadResult::Contents(elements, ..) =
            read_result(&text, &Uri::parse("x:asked").unwrap()).unwrap()
        else {
            panic!("no contents")
        };
        let element =
            |one: super::ContentElement| (one.resource.uri.to_string(), one.bytes.to_vec());
        elements.into_iter().map(element).collect()
    }

    fn long() -> String {
        "a \"line\" with é, 日本 and \\ \u{1}\n".repeat(MIN_LONG_TEXT / 20)
    }

    #[test]
    fn a_long_text_is_decoded_beside_others() {
        let (text, uri) = (long(), "x:1");
        let contents = json!([{ "uri": uri, "text": text, "mimeType": "text/plain" },
            { "uri": "x:2", "text": "short" }, { "uri": "x:3", "text": text }]);
        let result = json!({ "contents": contents });
        assert!(take_long_text(&result.to_string()).is_some());
        let [one, other, third] =
            [text.as_str(), "short", &text].map(|text| text.as_bytes().to_vec());
        let wanted = [("x:1", one), ("x:2", other), ("x:3", third)];
        assert_eq!(read(&result), wanted.map(|(uri, text)| (uri.to_owned(), text)));
    }

    #[test]
    fn a_long_text_that_is_no_content_changes_nothing() {
        let contents = json!([{ "uri": "x:1", "blob": "AAEC" }]);
        let result = json!({ "_meta": { "text": long() }, "contents": contents });
        assert!(take_long_text(&result.to_string()).is_some());
        assert_eq!(read(&result), [("x:1".to_owned(), vec![0, 1, 2])]);
    }

    #[test]
    fn what_only_looks_like_a_text_is_left_to_the_parser() {
        let long = long();
        for result in [
            json!({ "contents": [{ "a\"text": long.clone(), "uri": "x:1", "text": "b" }] }),
            json!({ "contents": [{ "\"text": long, "uri": "x:1", "text": "b" }] }),
        ] {
            assert_eq!(read(&result), [("x:1".to_owned(), b"b".to_vec())]);
        }
    }
}
