//! Input requests from a server to its client: elicitation, sampling, roots.
//!
//! Through 2025-11-25 the server sends a request of its own and waits for the response. From
//! 2026-07-28 on it returns `input_required`, and the client repeats the request with the
//! responses. This file encodes, decodes and relays both forms.

use std::borrow::Cow;

use resource::{Error, Json, Result, Said};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::answer::Malformed;
use crate::frame::Id;
use crate::member::{Edits, Object, members, string};
use crate::outgoing::Outgoing;
use crate::relay::one_line;

/// Methods of input requests, each with the client capability that allows it.
const KINDS: [(&str, &str); 3] = [
    ("elicitation/create", "elicitation"),
    ("sampling/createMessage", "sampling"),
    ("roots/list", "roots"),
];
/// Client extensions that work through the gateway, because it relays all that they need.
const EXTENSIONS: [&str; 1] = ["io.modelcontextprotocol/ui"];

const STATE: &str = "requestState";
const RESPONSES: &str = "inputResponses";

/// One input request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The key of its response in `inputResponses`.
    pub key: String,
    /// The method.
    pub method: String,
    /// The parameters, an object.
    pub params: Json,
}

/// The content of an `input_required` result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Questions {
    /// The input requests. Empty if the server only wants the request to be repeated.
    pub each: Vec<Question>,
    /// `requestState`, as the server wrote it.
    pub state: Option<Json>,
}

/// The client's capabilities, reduced to those whose input requests the gateway can relay.
pub fn narrowed(capabilities: &RawValue) -> Result<String, Malformed> {
    let mut out = Object::begin();
    for (name, raw) in members(Some(capabilities), "capabilities")? {
        if name == "extensions" {
            let mut extensions = Object::begin();
            for (name, raw) in members(Some(raw), "extensions")? {
                if EXTENSIONS.contains(&&*name) {
                    extensions.raw(&name, raw.get());
                }
            }
            out.raw(&name, &extensions.end());
        } else if KINDS.iter().any(|(_, kind)| *kind == name) {
            out.raw(&name, raw.get());
        }
    }
    Ok(out.end())
}

/// All input capabilities, for a handshake that all callers of an upstream server share.
/// [`allows`] checks the actual caller when an input request arrives.
pub fn everything() -> Box<RawValue> {
    let kinds = json!({
        "elicitation": { "form": {}, "url": {} }, "sampling": { "context": {}, "tools": {} },
        "roots": {},
    });
    serde_json::value::to_raw_value(&kinds).expect("a JSON value is JSON")
}

/// The result of `roots/list` without roots.
pub fn no_roots() -> Box<RawValue> {
    serde_json::value::to_raw_value(&json!({ "roots": [] })).expect("a JSON value is JSON")
}

/// True if the client capabilities `can`, an object, allow any input request.
pub fn is_any(can: &Json) -> bool {
    KINDS.iter().any(|(_, kind)| ability(can, kind).is_some())
}

/// True if the client capabilities `can` allow this input request.
pub fn allows(can: &Json, method: &str, params: &Json) -> bool {
    let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == method) else { return false };
    let Some(ability) = ability(can, kind) else { return false };
    let has = |json: &str, name: &str| member(json, name).is_some();
    match *kind {
        // MCP 2025-11-25, elicitation: a client that declares no mode supports forms only.
        "elicitation" => {
            let mode = member(params.as_str(), "mode").and_then(string);
            let mode = mode.as_deref().unwrap_or("form");
            has(ability, mode) || (mode == "form" && !has(ability, "url"))
        }
        "sampling" => !has(params.as_str(), "tools") || has(ability, "tools"),
        _ => true,
    }
}

fn ability<'a>(can: &'a Json, kind: &str) -> Option<&'a str> {
    member(can.as_str(), kind).map(RawValue::get).filter(|raw| raw.starts_with('{'))
}

fn member<'a>(json: &'a str, name: &str) -> Option<&'a RawValue> {
    let whole: &RawValue = serde_json::from_str(json).ok()?;
    let found = members(Some(whole), "value").ok()?.into_iter().rfind(|(one, _)| one == name);
    found.map(|(_, raw)| raw)
}

/// Encodes an input request to the client.
pub fn request(id: &Id, method: &str, params: &Json) -> Outgoing {
    let mut out = Object::begin();
    out.text("jsonrpc", "2.0");
    let mut written = Vec::new();
    id.write(&mut written);
    out.raw("id", &String::from_utf8_lossy(&written));
    out.text("method", method);
    out.raw("params", &one_line(params.as_str()));
    Outgoing::ready(out.end())
}

/// Encodes the notification that cancels an input request.
pub fn cancelled(id: &Id) -> Outgoing {
    let method = "notifications/cancelled";
    let params = json!({ "requestId": id });
    Outgoing::json(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// Encodes a log message for the client.
pub fn log(message: &Json) -> Outgoing {
    let mut out = Object::begin();
    out.text("jsonrpc", "2.0");
    out.text("method", "notifications/message");
    out.raw("params", &one_line(message.as_str()));
    Outgoing::ready(out.end())
}

/// Decodes the client's response to an input request.
pub fn answer(outcome: Result<&RawValue, &RawValue>) -> Result<Json, Said> {
    #[derive(Deserialize)]
    struct Refused<'a> {
        code: i64,
        #[serde(borrow)]
        message: Cow<'a, str>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    outcome.map(|raw| raw.get().into()).map_err(|raw| {
        let odd = Refused {
            code: -32603,
            message: "the client sent an invalid error object".into(),
            data: None,
        };
        let refused: Refused<'_> = serde_json::from_str(raw.get()).unwrap_or(odd);
        let data = refused.data.map(|raw| raw.get().into());
        Said { code: refused.code, message: refused.message.into_owned(), data }
    })
}

/// Decodes an `input_required` result; `None` for any other result. Skips malformed requests.
pub fn questions(result: &Json) -> Option<Questions> {
    let text = result.as_str();
    let kind = member(text, "resultType").and_then(string)?;
    if kind != "input_required" {
        return None;
    }
    let asked = member(text, "inputRequests");
    let asked = members(asked, "inputRequests").unwrap_or_default().into_iter();
    let each = asked.filter_map(|(key, raw)| {
        let method = member(raw.get(), "method").and_then(string)?.into_owned();
        let params = member(raw.get(), "params").map_or("{}", RawValue::get).into();
        Some(Question { key: key.into_owned(), method, params })
    });
    let state = member(text, STATE).map(|raw| raw.get().into());
    Some(Questions { each: each.collect(), state })
}

/// Parameters for repeating a request with these input responses and `requestState`.
pub fn again(
    params: &RawValue,
    answers: &[(String, Json)],
    state: Option<&Json>,
) -> Result<Box<RawValue>, Malformed> {
    let mut out = Object::begin();
    let first = members(Some(params), "params")?.into_iter();
    first.filter(|(name, _)| name != STATE && name != RESPONSES).for_each(|(name, raw)| {
        out.raw(&name, raw.get());
    });
    let mut responses = Object::begin();
    answers.iter().for_each(|(key, answer)| responses.raw(key, &one_line(answer.as_str())));
    out.raw(RESPONSES, &responses.end());
    if let Some(state) = state {
        out.raw(STATE, state.as_str());
    }
    RawValue::from_string(out.end()).map_err(|_| Malformed::new("invalid params"))
}

/// Extracts `requestState` and `inputResponses` from the parameters, as one object.
pub fn reply(params: &RawValue) -> Option<Json> {
    let mut out = Object::begin();
    for (name, raw) in members(Some(params), "params").ok()? {
        if name == STATE || name == RESPONSES {
            out.raw(&name, raw.get());
        }
    }
    (!out.is_empty()).then(|| out.end().into())
}

/// Adds the members that [`reply`] extracted to the parameters.
pub fn replying(params: &RawValue, reply: &Json) -> Result<Box<RawValue>, Malformed> {
    let mut out = Object::begin();
    members(Some(params), "params")?.iter().for_each(|(name, raw)| out.raw(name, raw.get()));
    let whole = serde_json::from_str(reply.as_str())
        .map_err(|_| Malformed::new("invalid input response"))?;
    members(Some(whole), "input response")?.iter().for_each(|(name, raw)| out.raw(name, raw.get()));
    RawValue::from_string(out.end()).map_err(|_| Malformed::new("invalid params"))
}

/// Replaces `requestState` in a result by its sealed form, so that a client cannot forge it. A
/// result without a string there stays as it is.
pub fn closed(result: &Json, close: impl FnOnce(&str) -> String) -> Json {
    let edited = edit(result, |state| Ok(close(state)));
    edited.unwrap_or_else(|_| result.clone())
}

/// Undoes [`closed`] in the parameters of the repeated request.
pub fn opened(params: &Json, open: impl FnOnce(&str) -> Result<String>) -> Result<Json> {
    edit(params, open)
}

fn edit(json: &Json, form: impl FnOnce(&str) -> Result<String>) -> Result<Json> {
    let text = json.as_str();
    let Some(raw) = member(text, STATE) else { return Ok(json.clone()) };
    let state = string(raw).ok_or_else(|| Error::invalid("requestState: not a string"))?;
    let mut edits = Edits::of(text);
    edits.replace(raw, json_escape_simd::escape(&form(&state)?));
    Ok(edits.done().map_or_else(|| json.clone(), Json::from))
}

#[cfg(test)]
mod tests;
