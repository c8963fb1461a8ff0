//! Input requests from a server to its client: elicitation, sampling, roots.
//!
//! Through 2025-11-25 the server sends a request of its own and waits for the response. From
//! 2026-07-28 on it returns `input_required`, and the client repeats the request with the
//! responses. This file encodes, decodes and relays both forms.

use std::borrow::Cow;
use std::collections::BTreeMap;

use resource::{Error, Json, Result, UpstreamError};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::json::error_code::ErrorCode;
use crate::json::frame::RequestId;
use crate::json::outgoing::Outgoing;
use crate::json::raw_object::{
    JsonEdits, ObjectWriter, find_member, parse_members, parse_object, parse_string,
};
use crate::json::sanitize::sanitize_json;
use crate::outbound::components::one_line;
use crate::outbound::request::methods;
use crate::outbound::response::MalformedMessage;
use crate::outbound::task::TASKS_EXTENSION;

/// The capabilities of a client that declares none, as most do.
pub(crate) const NO_CAPABILITIES: &str = "{}";

/// Methods of input requests, each with the client capability that allows it.
const INPUT_KINDS: [(&str, &str); 3] = [
    (methods::ELICIT, "elicitation"),
    ("sampling/createMessage", "sampling"),
    (methods::LIST_ROOTS, "roots"),
];
/// Client extensions that work through the gateway, because it relays all that they need.
const RELAYED_EXTENSIONS: [&str; 1] = ["io.modelcontextprotocol/ui"];

const REQUEST_STATE: &str = "requestState";
const INPUT_RESPONSES: &str = "inputResponses";

/// One input request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRequest {
    /// The key of its response in `inputResponses`.
    pub key: String,
    /// The method.
    pub method: String,
    /// The parameters, an object.
    pub params: Json,
}

/// The content of an `input_required` result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRequired {
    /// The input requests. Empty if the server only wants the request to be repeated.
    pub requests: Vec<InputRequest>,
    /// `requestState`, as the server wrote it.
    pub state: Option<Json>,
}

/// The client's capabilities, reduced to those whose input requests the gateway can relay.
/// Tasks are among them if `relays_tasks`.
pub fn relayable_capabilities(
    capabilities: &RawValue,
    relays_tasks: bool,
) -> Result<String, MalformedMessage> {
    let mut out = ObjectWriter::new();
    for (name, raw) in parse_members(Some(capabilities), "capabilities")? {
        if name == "extensions" {
            let mut extensions = ObjectWriter::new();
            for (name, raw) in parse_members(Some(raw), "extensions")? {
                let is_task = relays_tasks && name == TASKS_EXTENSION;
                if is_task || RELAYED_EXTENSIONS.contains(&&*name) {
                    extensions.put_raw(&name, raw.get());
                }
            }
            out.put_raw(&name, &extensions.finish());
        } else if INPUT_KINDS.iter().any(|(_, kind)| *kind == name) {
            out.put_raw(&name, raw.get());
        }
    }
    Ok(out.finish())
}

/// All input capabilities, for a handshake that all callers of an upstream server share.
/// [`allows_input`] checks the actual caller when an input request arrives.
pub fn all_input_capabilities() -> Box<RawValue> {
    let kinds = json!({
        "elicitation": { "form": {}, "url": {} }, "sampling": { "context": {}, "tools": {} },
        "roots": {},
    });
    serde_json::value::to_raw_value(&kinds).expect("a JSON value is JSON")
}

/// The capabilities of a client that shows forms and opens URLs, and no more.
pub fn form_capabilities() -> Box<RawValue> {
    let kinds = json!({ "elicitation": { "form": {}, "url": {} } });
    serde_json::value::to_raw_value(&kinds).expect("a JSON value is JSON")
}

/// The result of `roots/list` without roots.
pub fn empty_roots() -> Box<RawValue> {
    serde_json::value::to_raw_value(&json!({ "roots": [] })).expect("a JSON value is JSON")
}

/// True if the client capabilities `can`, an object, allow any input request.
pub fn allows_any_input(can: &Json) -> bool {
    can.as_str() != NO_CAPABILITIES
        && INPUT_KINDS.iter().any(|(_, kind)| declared_capability(can, kind).is_some())
}

/// True if the client capabilities `can` allow this input request.
pub fn allows_input(can: &Json, method: &str, params: &Json) -> bool {
    let Some((_, kind)) = INPUT_KINDS.iter().find(|(known, _)| *known == method) else {
        return false;
    };
    let Some(ability) = declared_capability(can, kind) else { return false };
    let has = |json: &str, name: &str| find_member(json, name).is_some();
    match *kind {
        // MCP 2025-11-25, elicitation: a client that declares no mode supports forms only.
        "elicitation" => {
            let mode = find_member(params.as_str(), "mode").and_then(parse_string);
            let mode = mode.as_deref().unwrap_or("form");
            has(ability, mode) || (mode == "form" && !has(ability, "url"))
        }
        "sampling" => !has(params.as_str(), "tools") || has(ability, "tools"),
        _ => true,
    }
}

fn declared_capability<'a>(can: &'a Json, kind: &str) -> Option<&'a str> {
    find_member(can.as_str(), kind).map(RawValue::get).filter(|raw| raw.starts_with('{'))
}

/// Encodes an input request to the client.
pub fn encode_input_request(id: &RequestId, method: &str, params: &Json) -> Outgoing {
    let mut out = ObjectWriter::new();
    out.put_string("jsonrpc", "2.0");
    let mut written = Vec::new();
    id.write(&mut written);
    out.put_raw("id", &String::from_utf8_lossy(&written));
    out.put_string("method", method);
    out.put_raw("params", &sanitize_json(params.as_str()));
    Outgoing::from_bytes(out.finish())
}

/// Encodes the notification that cancels an input request.
pub fn encode_input_cancelled(id: &RequestId) -> Outgoing {
    let method = "notifications/cancelled";
    let params = json!({ "requestId": id });
    Outgoing::from_json(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// Encodes a log message for the client.
pub fn encode_log_message(message: &Json) -> Outgoing {
    let mut out = ObjectWriter::new();
    out.put_string("jsonrpc", "2.0");
    out.put_string("method", "notifications/message");
    out.put_raw("params", &sanitize_json(message.as_str()));
    Outgoing::from_bytes(out.finish())
}

/// Decodes the client's response to an input request.
pub fn decode_input_response(outcome: Result<&RawValue, &RawValue>) -> Result<Json, UpstreamError> {
    #[derive(Deserialize)]
    struct RawClientError<'a> {
        code: i64,
        #[serde(borrow)]
        message: Cow<'a, str>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    outcome.map(|raw| raw.get().into()).map_err(|raw| {
        let odd = RawClientError {
            code: ErrorCode::INTERNAL_ERROR.0,
            message: "the client sent an invalid error object".into(),
            data: None,
        };
        let refused: RawClientError<'_> = parse_object(raw.get()).unwrap_or(odd);
        let data = refused.data.map(|raw| raw.get().into());
        UpstreamError { code: refused.code, message: refused.message.into_owned(), data }
    })
}

/// Decodes an `input_required` result; `None` for any other result. Skips malformed requests.
pub fn decode_input_required(result: &Json) -> Option<InputRequired> {
    let text = result.as_str();
    let kind = find_member(text, "resultType").and_then(parse_string)?;
    if kind != "input_required" {
        return None;
    }
    let asked = find_member(text, "inputRequests");
    let asked = parse_members(asked, "inputRequests").unwrap_or_default().into_iter();
    let each = asked.filter_map(|(key, raw)| {
        let method = find_member(raw.get(), "method").and_then(parse_string)?.into_owned();
        let params = find_member(raw.get(), "params").map_or("{}", RawValue::get).into();
        Some(InputRequest { key: key.into_owned(), method, params })
    });
    let state = find_member(text, REQUEST_STATE).map(|raw| raw.get().into());
    Some(InputRequired { requests: each.collect(), state })
}

/// Parameters for repeating a request with these input responses and `requestState`.
pub fn retry_params(
    params: &RawValue,
    answers: &[(String, Json)],
    state: Option<&Json>,
) -> Result<Box<RawValue>, MalformedMessage> {
    let mut out = ObjectWriter::new();
    let first = parse_members(Some(params), "params")?.into_iter();
    first.filter(|(name, _)| name != REQUEST_STATE && name != INPUT_RESPONSES).for_each(
        |(name, raw)| {
            out.put_raw(&name, raw.get());
        },
    );
    let mut responses = ObjectWriter::new();
    answers.iter().for_each(|(key, answer)| responses.put_raw(key, &one_line(answer.as_str())));
    out.put_raw(INPUT_RESPONSES, &responses.finish());
    if let Some(state) = state {
        out.put_raw(REQUEST_STATE, state.as_str());
    }
    RawValue::from_string(out.finish()).map_err(|_| MalformedMessage::new("invalid params"))
}

/// Extracts `requestState` and `inputResponses` from the parameters, as one object.
pub fn extract_input_response(params: &RawValue) -> Option<Json> {
    let mut out = ObjectWriter::new();
    for (name, raw) in parse_members(Some(params), "params").ok()? {
        if name == REQUEST_STATE || name == INPUT_RESPONSES {
            out.put_raw(&name, raw.get());
        }
    }
    (!out.is_empty()).then(|| out.finish().into())
}

/// Adds the members that [`extract_input_response`] extracted to the parameters.
pub fn with_input_response(
    params: &RawValue,
    reply: &Json,
) -> Result<Box<RawValue>, MalformedMessage> {
    let mut out = ObjectWriter::new();
    parse_members(Some(params), "params")?
        .iter()
        .for_each(|(name, raw)| out.put_raw(name, raw.get()));
    let whole = serde_json::from_str(reply.as_str())
        .map_err(|_| MalformedMessage::new("invalid input response"))?;
    parse_members(Some(whole), "input response")?
        .iter()
        .for_each(|(name, raw)| out.put_raw(name, raw.get()));
    RawValue::from_string(out.finish()).map_err(|_| MalformedMessage::new("invalid params"))
}

/// The `arguments` of a call's parameters as canonical JSON, whatever the order of its members and
/// its white space; empty without arguments.
pub fn canonical_arguments(params: &Json) -> String {
    let Some(raw) = find_member(params.as_str(), "arguments") else { return String::new() };
    let sorted = serde_json::from_str::<BTreeMap<String, Value>>(raw.get());
    let sorted = sorted.and_then(|members| serde_json::to_string(&members));
    sorted.unwrap_or_else(|_| raw.get().to_owned())
}

/// Replaces `requestState` in a result by its sealed form, so that a client can neither read nor
/// forge it. A result without a string there stays as it is.
pub fn seal_request_state(
    result: &Json,
    close: impl FnOnce(&str) -> Result<Vec<u8>>,
) -> Result<Json> {
    match find_member(result.as_str(), REQUEST_STATE).and_then(parse_string) {
        Some(_) => map_request_state(result, |state| {
            Ok(base64_simd::URL_SAFE_NO_PAD.encode_to_string(close(state)?))
        }),
        None => Ok(result.clone()),
    }
}

/// Undoes [`seal_request_state`] in the parameters of the repeated request.
pub fn open_request_state(
    params: &Json,
    open: impl FnOnce(Vec<u8>) -> Result<String>,
) -> Result<Json> {
    map_request_state(params, |text| {
        let sealed = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text.as_bytes());
        open(sealed.map_err(|_| Error::invalid("requestState does not belong to this request"))?)
    })
}

fn map_request_state(json: &Json, form: impl FnOnce(&str) -> Result<String>) -> Result<Json> {
    let text = json.as_str();
    let Some(raw) = find_member(text, REQUEST_STATE) else { return Ok(json.clone()) };
    let state = parse_string(raw).ok_or_else(|| Error::invalid("requestState: not a string"))?;
    let mut edits = JsonEdits::new(text);
    edits.replace(raw.get(), json_escape_simd::escape(&form(&state)?));
    Ok(edits.apply().map_or_else(|| json.clone(), Json::from))
}

#[cfg(test)]
mod tests;
