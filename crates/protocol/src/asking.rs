//! What may a server ask of whoever asks it, and how does the question get there and back?
//!
//! Through 2025-11-25 a server sends a request of its own and waits; from 2026-07-28 on it answers
//! by the question and is asked again with what was answered.

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

/// What can be asked, and what a client that can be asked for it declares.
const KINDS: [(&str, &str); 3] = [
    ("elicitation/create", "elicitation"),
    ("sampling/createMessage", "sampling"),
    ("roots/list", "roots"),
];
/// Extensions that work through us, because all they need passes through.
const EXTENSIONS: [&str; 1] = ["io.modelcontextprotocol/ui"];

const STATE: &str = "requestState";
const RESPONSES: &str = "inputResponses";

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the answer is known by.
    pub key: String,
    /// The method.
    pub method: String,
    /// The parameters, an object.
    pub params: Json,
}

/// What a server answered by questions needs to be asked again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Questions {
    /// The questions; perhaps none, if it only wants to be asked again.
    pub each: Vec<Question>,
    /// What it wants to be reminded of, as it wrote it.
    pub state: Option<Json>,
}

/// The capabilities of a client as far as the questions that they allow can be passed on.
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

/// What a server that is told once for all callers is told: everything that one of them may be
/// asked. Whether this one can is known when the question comes.
pub fn everything() -> Box<RawValue> {
    let kinds = json!({
        "elicitation": { "form": {}, "url": {} }, "sampling": { "context": {}, "tools": {} },
        "roots": {},
    });
    serde_json::value::to_raw_value(&kinds).expect("a JSON value is JSON")
}

/// What a client without roots answers when it is asked for them.
pub fn no_roots() -> Box<RawValue> {
    serde_json::value::to_raw_value(&json!({ "roots": [] })).expect("a JSON value is JSON")
}

/// Whether `can`, an object, names anything that one may be asked for.
pub fn is_any(can: &Json) -> bool {
    KINDS.iter().any(|(_, kind)| ability(can, kind).is_some())
}

/// Whether somebody who says that it can do `can` may be asked this.
pub fn allows(can: &Json, method: &str, params: &Json) -> bool {
    let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == method) else { return false };
    let Some(ability) = ability(can, kind) else { return false };
    let has = |json: &str, name: &str| member(json, name).is_some();
    match *kind {
        // MCP 2025-11-25, elicitation: one that names no mode knows forms alone.
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
    let found = members(Some(whole), "an object").ok()?.into_iter().rfind(|(one, _)| one == name);
    found.map(|(_, raw)| raw)
}

/// Writes a request of ours.
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

/// Writes that nobody waits for the answer to a request of ours any more.
pub fn cancelled(id: &Id) -> Outgoing {
    let method = "notifications/cancelled";
    let params = json!({ "requestId": id });
    Outgoing::json(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// Writes what a server says while it works.
pub fn log(message: &Json) -> Outgoing {
    let mut out = Object::begin();
    out.text("jsonrpc", "2.0");
    out.text("method", "notifications/message");
    out.raw("params", &one_line(message.as_str()));
    Outgoing::ready(out.end())
}

/// What a client answered a request of ours with.
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
        let odd = Refused { code: -32603, message: "an error that is none".into(), data: None };
        let refused: Refused<'_> = serde_json::from_str(raw.get()).unwrap_or(odd);
        let data = refused.data.map(|raw| raw.get().into());
        Said { code: refused.code, message: refused.message.into_owned(), data }
    })
}

/// What a result asks, if it is a question.
pub fn questions(result: &Json) -> Option<Questions> {
    let text = result.as_str();
    let kind = member(text, "resultType").and_then(string)?;
    if kind != "input_required" {
        return None;
    }
    let asked = member(text, "inputRequests");
    let asked = members(asked, "questions").unwrap_or_default().into_iter();
    let each = asked.filter_map(|(key, raw)| {
        let method = member(raw.get(), "method").and_then(string)?.into_owned();
        let params = member(raw.get(), "params").map_or("{}", RawValue::get).into();
        Some(Question { key: key.into_owned(), method, params })
    });
    let state = member(text, STATE).map(|raw| raw.get().into());
    Some(Questions { each: each.collect(), state })
}

/// The parameters of a request that is made again with what was answered.
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
    RawValue::from_string(out.end()).map_err(|_| Malformed::new("params"))
}

/// What of the parameters answers a question that was asked before.
pub fn reply(params: &RawValue) -> Option<Json> {
    let mut out = Object::begin();
    for (name, raw) in members(Some(params), "params").ok()? {
        if name == STATE || name == RESPONSES {
            out.raw(&name, raw.get());
        }
    }
    (!out.is_empty()).then(|| out.end().into())
}

/// The same parameters, with what answers a question put in.
pub fn replying(params: &RawValue, reply: &Json) -> Result<Box<RawValue>, Malformed> {
    let mut out = Object::begin();
    members(Some(params), "params")?.iter().for_each(|(name, raw)| out.raw(name, raw.get()));
    let whole = serde_json::from_str(reply.as_str()).map_err(|_| Malformed::new("a reply"))?;
    members(Some(whole), "a reply")?.iter().for_each(|(name, raw)| out.raw(name, raw.get()));
    RawValue::from_string(out.end()).map_err(|_| Malformed::new("params"))
}

/// Closes what a server wants to be reminded of, so that only we can have written it.
pub fn closed(result: &Json, close: impl FnOnce(&str) -> String) -> Json {
    let edited = edit(result, |state| Ok(close(state)));
    edited.unwrap_or_else(|_| result.clone())
}

/// Undoes [`closed`] in the parameters that come back.
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
