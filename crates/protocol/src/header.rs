//! HTTP headers that repeat parts of a message: names, encoding, and the check against the body.

use std::borrow::Cow;

use crate::inbound::call::{Method, NameHeaderRule};
use crate::inbound::refusal::Refusal;
use crate::inbound::request_meta::RequestMeta;
use crate::revision::Revision;

/// The protocol revision of a request.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The session that a request belongs to, through 2025-11-25.
pub const SESSION_ID: &str = "mcp-session-id";

/// The last SSE event that the client received, to resume a stream.
pub const LAST_EVENT_ID: &str = "last-event-id";
/// The method, from 2026-07-28 on.
pub const METHOD: &str = "mcp-method";
/// The name or URI in the parameters, from 2026-07-28 on.
pub const NAME: &str = "mcp-name";

/// The lifecycle of a request, judged by its `MCP-Protocol-Version` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEra {
    /// The header is absent.
    Unspecified,
    /// A revision with a handshake.
    Handshake(Revision),
    /// A stateless revision, or an unknown one.
    Stateless,
}

impl RequestEra {
    /// Reads the header.
    pub fn from_header(header: Option<&str>) -> Self {
        match header.map(|date| Revision::from_date(date.trim())) {
            None => Self::Unspecified,
            Some(Some(revision)) if revision.has_handshake() => Self::Handshake(revision),
            Some(_) => Self::Stateless,
        }
    }
}

/// True if a request is stateless (belongs to no handshake), judged by header, method, `_meta` and
/// session.
pub fn is_stateless(
    era: RequestEra,
    method: Option<Method>,
    names_revision: bool,
    has_session: bool,
) -> bool {
    names_revision
        || method != Some(Method::Initialize)
            && (era == RequestEra::Stateless
                || !has_session && method.is_some_and(Method::is_stateless_only))
}

/// Refuses a request whose header names another revision than its body.
pub fn check_revision(header: Option<&str>, body: &str) -> Result<(), Refusal> {
    match header.map(str::trim) {
        Some(date) if date == body => Ok(()),
        Some(_) => Err(Refusal::header_mismatch(
            "MCP-Protocol-Version does not match the version in _meta".to_owned(),
        )),
        None => Err(Refusal::header_mismatch("MCP-Protocol-Version is missing".to_owned())),
    }
}

/// Refuses a request whose header names another method than its body.
pub fn check_method(header: Option<&str>, body: &str) -> Result<(), Refusal> {
    match header.map(str::trim) {
        Some(method) if method == body => Ok(()),
        Some(_) => Err(Refusal::header_mismatch(
            "Mcp-Method does not match the method in the body".to_owned(),
        )),
        None => Err(Refusal::header_mismatch("Mcp-Method is missing".to_owned())),
    }
}

/// Refuses a request whose `Mcp-Name` header does not match its parameters.
pub fn check_name(
    header: Option<&str>,
    method: Option<Method>,
    meta: &RequestMeta<'_>,
) -> Result<(), Refusal> {
    let mirror = method.map_or(NameHeaderRule::Ignored, Method::name_header_rule);
    let named = match method.and_then(Method::component) {
        Some(_) => meta.name(),
        None if method.is_some_and(Method::is_task) => meta.task_id(),
        None => meta.uri(),
    };
    match (mirror, header) {
        (NameHeaderRule::Ignored, _) | (NameHeaderRule::Optional, None) => Ok(()),
        (NameHeaderRule::Required, None) => {
            Err(Refusal::header_mismatch("Mcp-Name is missing".to_owned()))
        }
        (_, Some(header)) => {
            let told = decode_value(header.trim()).ok_or_else(|| {
                Refusal::header_mismatch("Mcp-Name is not valid base64 of UTF-8 text".to_owned())
            })?;
            // The decoder refuses a body without a name, with a message of its own.
            let agrees = named.is_none_or(|name| name == told);
            let differs = "Mcp-Name does not match the name or URI in the params";
            agrees.then_some(()).ok_or_else(|| Refusal::header_mismatch(differs.to_owned()))
        }
    }
}

/// Encodes a header value: as it is where a header can carry it, else as `=?base64?…?=`.
pub fn encode_value(name: &str) -> Cow<'_, str> {
    let is_plain = name.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && name.trim_ascii() == name
        && !(name.starts_with("=?base64?") && name.ends_with("?="));
    if is_plain {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("=?base64?{}?=", base64_simd::STANDARD.encode_to_string(name)))
}

/// Decodes a header value: undoes [`encoded`]. `None` if the base64 or its UTF-8 is invalid.
pub(crate) fn decode_value(value: &str) -> Option<Cow<'_, str>> {
    let inside = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let Some(inside) = inside else { return Some(Cow::Borrowed(value)) };
    let bytes = base64_simd::STANDARD.decode_to_vec(inside.as_bytes()).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::proptest;

    use super::{Method, check_name, decode_value, encode_value};
    use crate::inbound::request_meta::RequestMeta;
    use crate::json::frame::RawJson;

    fn code(header: Option<&str>, params: &str) -> Option<i64> {
        checked("resources/read", header, params)
    }

    fn checked(method: &str, header: Option<&str>, params: &str) -> Option<i64> {
        let params: &RawJson = serde_json::from_str(params).unwrap();
        let meta = RequestMeta::decode(Some(params)).unwrap();
        check_name(header, Method::from_name(method), &meta).err().map(|refusal| refusal.code())
    }

    /// H-07, H-08.
    #[test]
    fn a_name_is_compared_as_decoded_and_byte_for_byte() {
        let params = r#"{"uri":"mem://café"}"#;
        assert_eq!(code(Some("=?base64?bWVtOi8vY2Fmw6k=?="), params), None);
        assert_eq!(code(Some(" mem://a "), r#"{"uri":"mem://a"}"#), None);
        for header in [None, Some("mem://cafe"), Some("=?base64?!!?="), Some("=?base64?bWVt?=")] {
            assert_eq!(code(header, params), Some(-32020), "{header:?}");
        }
        assert_eq!(code(Some("MEM://a"), r#"{"uri":"mem://a"}"#), Some(-32020));
    }

    /// H-07 for tools and prompts.
    #[test]
    fn the_name_of_a_tool_or_a_prompt_must_be_repeated() {
        for method in ["tools/call", "prompts/get"] {
            let params = r#"{"name":"a_b","uri":"x:y"}"#;
            assert_eq!(checked(method, Some("a_b"), params), None);
            for header in [None, Some("a_c"), Some("x:y")] {
                assert_eq!(checked(method, header, params), Some(-32020), "{header:?}");
            }
        }
        assert_eq!(checked("tools/list", None, "{}"), None);
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(name in ".*") {
            let header = encode_value(&name);
            assert!(header.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
            assert_eq!(decode_value(header.trim()).as_deref(), Some(&*name));
        }
    }

    /// 2.3.
    #[test]
    fn a_name_is_encoded_only_where_a_header_cannot_carry_it() {
        assert_eq!(encode_value("file:///a b"), "file:///a b");
        assert_eq!(encode_value("mem://café"), "=?base64?bWVtOi8vY2Fmw6k=?=");
        for name in [" a", "a ", "a\tb", "a\nb", "=?base64?YQ==?="] {
            assert!(encode_value(name).starts_with("=?base64?"), "{name:?}");
            assert_eq!(decode_value(&encode_value(name)).as_deref(), Some(name));
        }
    }

    #[test]
    fn only_the_exact_marker_is_undone() {
        assert_eq!(decode_value("=?BASE64?YQ==?=").as_deref(), Some("=?BASE64?YQ==?="));
        assert_eq!(decode_value("=?base64?YQ==?=").as_deref(), Some("a"));
        assert_eq!(decode_value("=?base64?/w==?="), None);
    }
}
