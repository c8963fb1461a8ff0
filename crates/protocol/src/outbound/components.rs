//! Parameters and results of an upstream server's tools and prompts, with URIs rewritten.
//!
//! JSON passes through as it was written, except URIs: answers get the mount's public URIs,
//! requests get the server's own URIs back.

use std::borrow::Cow;

use resource::{Caller, ComponentKind, Json, UpstreamError, Uri, UriRewrite};
use serde_json::json;
use serde_json::value::RawValue;

use crate::json::raw_object::{ObjectWriter, RawObject, parse_members};
use crate::log_level::LogLevel;
use crate::outbound::input_request::{relayable_capabilities, with_input_response};
use crate::outbound::request::{LEVEL, META_CLIENT_CAPABILITIES, methods};
use crate::outbound::response::{MalformedMessage, RpcError};
use crate::outbound::uri_rewrite::{UriLocation, publish_uris, rewrite_uris};

/// The method that lists tools or prompts.
pub fn list_method(kind: ComponentKind) -> &'static str {
    match kind {
        ComponentKind::Tool => methods::LIST_TOOLS,
        ComponentKind::Prompt => methods::LIST_PROMPTS,
    }
}

/// The method that calls a tool or gets a prompt.
pub fn call_method(kind: ComponentKind) -> &'static str {
    match kind {
        ComponentKind::Tool => methods::CALL_TOOL,
        ComponentKind::Prompt => methods::GET_PROMPT,
    }
}

/// Rewrites a client's call parameters for the upstream server: its own `name` for the tool or
/// prompt, its own URIs in the arguments, and `_meta` narrowed to what refdesk can relay.
pub fn call_params(
    params: &Json,
    name: &str,
    rewrite: &dyn UriRewrite,
    caller: Option<&dyn Caller>,
) -> Result<Box<RawValue>, MalformedMessage> {
    // A message on a pipe may not contain line breaks; in JSON they only occur between values.
    let params = one_line(params.as_str());
    let RawObject(members) = serde_json::from_str(&params)
        .map_err(|_| MalformedMessage::new("params: not an object"))?;
    let mut out = ObjectWriter::new();
    out.put_string("name", name);
    let mut told = None;
    for (member, raw) in members {
        match &*member {
            "name" => {}
            "arguments" => {
                let local = |uri: &str| rewrite.to_local(uri);
                let arguments = rewrite_uris(raw.get(), UriLocation::CallArguments, &local);
                out.put_raw("arguments", arguments.as_str());
            }
            "_meta" => told = Some(raw),
            _ => out.put_raw(&member, raw.get()),
        }
    }
    let meta = call_meta(told, caller)?;
    if told.is_some() || meta != "{}" {
        out.put_raw("_meta", &meta);
    }
    RawValue::from_string(out.finish()).map_err(|_| MalformedMessage::new("params are not JSON"))
}

/// MCP 2026-07-28, capabilities: a server may send requests for every capability that `_meta`
/// declares, so `_meta` declares only those that refdesk relays. For a caller that declared its
/// capabilities and log level in a handshake, each request repeats them here.
pub(crate) fn call_meta(
    raw: Option<&RawValue>,
    caller: Option<&dyn Caller>,
) -> Result<String, MalformedMessage> {
    let mut out = ObjectWriter::new();
    let mut can = caller.map(|caller| caller.capabilities().as_str());
    let mut level = caller.and_then(Caller::log_level);
    for (member, raw) in parse_members(raw, "_meta")? {
        match &*member {
            META_CLIENT_CAPABILITIES => can = Some(raw.get()),
            LEVEL => {
                level = None;
                out.put_raw(LEVEL, raw.get());
            }
            _ => out.put_raw(&member, raw.get()),
        }
    }
    if let Some(can) = can {
        let can = serde_json::from_str(can)
            .map_err(|_| MalformedMessage::new("capabilities: not JSON"))?;
        // A task outlives its request, and a client with a session cannot ask for its state.
        let relays_tasks = !caller.is_some_and(Caller::accepts_requests);
        out.put_raw(META_CLIENT_CAPABILITIES, &relayable_capabilities(can, relays_tasks)?);
    }
    if let Some(level) = level {
        out.put_string(LEVEL, level);
    }
    Ok(out.finish())
}

/// Parameters of a `resources/read` on behalf of `caller`, with its answer to the server's input
/// request if it has one.
pub fn read_params(uri: &Uri, caller: &dyn Caller) -> Result<Box<RawValue>, MalformedMessage> {
    let mut out = ObjectWriter::new();
    out.put_string("uri", uri.as_str());
    out.put_raw("_meta", &call_meta(None, Some(caller))?);
    let params = RawValue::from_string(out.finish())
        .map_err(|_| MalformedMessage::new("params are not JSON"))?;
    caller.input_response().map_or(Ok(params.clone()), |reply| with_input_response(&params, reply))
}

/// The result of a call, with public URIs.
pub fn public_result(result: &RawValue, rewrite: &dyn UriRewrite) -> Json {
    publish_uris(result.get(), UriLocation::CallResult, rewrite)
}

/// Parameters of a server-to-client request, with public URIs.
pub fn public_request_params(params: Option<&RawValue>, rewrite: &dyn UriRewrite) -> Json {
    let params = params.map_or("{}", RawValue::get);
    publish_uris(params, UriLocation::CallResult, rewrite)
}

/// The upstream server's error with public URIs, or `None` if its code is about refdesk's own
/// request (-32020 to -32029) and so means nothing to the client. The client does get -32021: it
/// lacks a capability itself.
pub fn public_error(error: &RpcError, rewrite: &dyn UriRewrite) -> Option<UpstreamError> {
    if error.error_code().is_about_protocol() && !error.is_missing_capability() {
        return None;
    }
    let public = |uri: &str| rewrite.to_public(uri);
    let data =
        error.data.as_ref().map(|raw| rewrite_uris(raw.get(), UriLocation::ErrorData, &public));
    Some(UpstreamError { code: error.code, message: error.message.clone(), data })
}

/// Parameters of `logging/setLevel`.
pub fn log_level_params(level: LogLevel) -> Box<RawValue> {
    let params = json!({ "level": level.as_str() });
    serde_json::value::to_raw_value(&params).expect("a JSON value serializes")
}

/// Converts JSON to a raw value on a single line; `None` if it is not valid JSON.
pub fn to_raw_line(json: &Json) -> Option<Box<RawValue>> {
    RawValue::from_string(one_line(json.as_str()).into_owned()).ok()
}

/// Replaces line breaks by spaces. In JSON they only occur between values, so no value changes.
pub(crate) fn one_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ").into() } else { json.into() }
}

#[cfg(test)]
mod tests;
