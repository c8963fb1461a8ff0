//! Requests to an upstream server for its tools and prompts, and decoding of its answers.
//!
//! JSON passes through as it was written, except URIs: answers get the mount's public URIs,
//! requests get the server's own URIs back.

use std::borrow::Cow;
use std::time::Duration;

use resource::{
    Blank, Caller, Completion, Freshness, Json, Names, Offer, Offered, Said, Scope, Uri,
};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::answer::{Denial, Malformed, next_cursor};
use crate::ask::{CAPABILITIES, LEVEL, going_on, verb};
use crate::asking::{narrowed, replying};
use crate::ingest::{self, Opened};
use crate::level::Level;
use crate::links::{Place, rewrite};
use crate::member::{Object, elements, members, string};

/// One page of a server's tools or prompts.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// The entries, each with its description as the server wrote it.
    pub offered: Vec<Offered>,
    /// The server's cursor for the next page.
    pub next: Option<String>,
    /// How long the page may be cached.
    pub freshness: Freshness,
}

/// The method that lists tools or prompts.
pub fn listing(offer: Offer) -> &'static str {
    match offer {
        Offer::Tool => verb::TOOLS,
        Offer::Prompt => verb::PROMPTS,
    }
}

/// The method that calls a tool or gets a prompt.
pub fn calling(offer: Offer) -> &'static str {
    match offer {
        Offer::Tool => verb::CALL,
        Offer::Prompt => verb::PROMPT,
    }
}

/// Which list a `list_changed` notification is about: tools or prompts; `None` for any other
/// method.
pub fn changed(method: &str) -> Option<Offer> {
    match method {
        "notifications/tools/list_changed" => Some(Offer::Tool),
        "notifications/prompts/list_changed" => Some(Offer::Prompt),
        _ => None,
    }
}

/// Parameters of a list request that continues at `cursor`.
pub fn from(cursor: Option<&str>) -> Result<Option<Box<RawValue>>, Malformed> {
    cursor.map(|cursor| going_on(None, cursor)).transpose()
}

/// Decodes a page. Skips entries without a name, because no client could call them.
pub fn shelf(result: &RawValue, offer: Offer, names: &dyn Names) -> Result<Shelf, Malformed> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Listed<'a> {
        #[serde(borrow)]
        tools: Option<&'a RawValue>,
        #[serde(borrow)]
        prompts: Option<&'a RawValue>,
        ttl_ms: Option<u64>,
    }
    let listed: Listed<'_> = serde_json::from_str(result.get())
        .map_err(|_| Malformed::new("the list cannot be parsed"))?;
    let items = match offer {
        Offer::Tool => listed.tools,
        Offer::Prompt => listed.prompts,
    };
    let items = items.ok_or_else(|| Malformed::new("the list has no tools or prompts member"))?;
    let public = |uri: &str| names.public(uri);
    let offered = elements(items).into_iter().filter_map(|raw| {
        let members = members(Some(raw), "a tool or prompt").ok()?;
        let (_, name) = members.iter().rfind(|(member, _)| member == "name")?;
        let name = string(name)?.into_owned();
        let json = Json::from(raw.get());
        let json = if offer == Offer::Tool { rewrite(&json, Place::Tool, &public) } else { json };
        Some(Offered { name, json })
    });
    let ttl = Duration::from_millis(listed.ttl_ms.unwrap_or(0));
    let freshness = Freshness { ttl, scope: Scope::Private };
    Ok(Shelf { offered: offered.collect(), next: next_cursor(result)?, freshness })
}

/// Rewrites a client's call parameters for the upstream server: its own `name` for the tool or
/// prompt, its own URIs in the arguments, and `_meta` narrowed to what refdesk can relay.
pub fn params(
    params: &Json,
    name: &str,
    names: &dyn Names,
    caller: Option<&dyn Caller>,
) -> Result<Box<RawValue>, Malformed> {
    // A message on a pipe may not contain line breaks; in JSON they only occur between values.
    let params = one_line(params.as_str());
    let whole: &RawValue =
        serde_json::from_str(&params).map_err(|_| Malformed::new("params are not valid JSON"))?;
    let mut out = Object::begin();
    out.text("name", name);
    let mut told = None;
    for (member, raw) in members(Some(whole), "params")? {
        match &*member {
            "name" => {}
            "arguments" => {
                let local = |uri: &str| names.local(uri);
                let arguments = rewrite(&raw.get().into(), Place::Arguments, &local);
                out.raw("arguments", arguments.as_str());
            }
            "_meta" => told = Some(raw),
            _ => out.raw(&member, raw.get()),
        }
    }
    let meta = meta(told, caller)?;
    if told.is_some() || meta != "{}" {
        out.raw("_meta", &meta);
    }
    RawValue::from_string(out.end()).map_err(|_| Malformed::new("params are not JSON"))
}

/// MCP 2026-07-28, capabilities: a server may send requests for every capability that `_meta`
/// declares, so `_meta` declares only those that refdesk relays. For a caller that declared its
/// capabilities and log level in a handshake, each request repeats them here.
fn meta(raw: Option<&RawValue>, caller: Option<&dyn Caller>) -> Result<String, Malformed> {
    let mut out = Object::begin();
    let mut can = caller.map(|caller| caller.can().as_str());
    let mut level = caller.and_then(Caller::level);
    for (member, raw) in members(raw, "_meta")? {
        match &*member {
            CAPABILITIES => can = Some(raw.get()),
            LEVEL => {
                level = None;
                out.raw(LEVEL, raw.get());
            }
            _ => out.raw(&member, raw.get()),
        }
    }
    if let Some(can) = can {
        let can =
            serde_json::from_str(can).map_err(|_| Malformed::new("capabilities: not JSON"))?;
        out.raw(CAPABILITIES, &narrowed(can)?);
    }
    if let Some(level) = level {
        out.text(LEVEL, level);
    }
    Ok(out.end())
}

/// Parameters of a `resources/read` on behalf of `caller`, with its answer to the server's input
/// request if it has one.
pub fn reading(uri: &Uri, caller: &dyn Caller) -> Result<Box<RawValue>, Malformed> {
    let mut out = Object::begin();
    out.text("uri", uri.as_str());
    out.raw("_meta", &meta(None, Some(caller))?);
    let params =
        RawValue::from_string(out.end()).map_err(|_| Malformed::new("params are not JSON"))?;
    caller.reply().map_or(Ok(params.clone()), |reply| replying(&params, reply))
}

/// Decodes the result of a `resources/read`.
pub fn opened(result: &Json, uri: &Uri) -> Result<Opened, Malformed> {
    let raw = raw(result).ok_or_else(|| Malformed::new("the result is not valid JSON"))?;
    ingest::opened(&raw, uri)
}

/// The result of a call, with public URIs.
pub fn result(result: &RawValue, names: &dyn Names) -> Json {
    rewrite(&result.get().into(), Place::Result, &|uri| names.public(uri))
}

/// Parameters of a server-to-client request, with public URIs.
pub fn asked(params: Option<&RawValue>, names: &dyn Names) -> Json {
    let params = params.map_or("{}", RawValue::get);
    rewrite(&params.into(), Place::Result, &|uri| names.public(uri))
}

/// The upstream server's error with public URIs, or `None` if its code is about refdesk's own
/// request (-32020 to -32029) and so means nothing to the client. The client does get -32021: it
/// lacks a capability itself.
pub fn said(denial: &Denial, names: &dyn Names) -> Option<Said> {
    if (-32029..=-32020).contains(&denial.code) && !denial.is_about_capability() {
        return None;
    }
    let public = |uri: &str| names.public(uri);
    let data = denial.data.as_ref().map(|raw| rewrite(&raw.get().into(), Place::Error, &public));
    Some(Said { code: denial.code, message: denial.message.clone(), data })
}

/// Parameters of `logging/setLevel`.
pub fn level(level: Level) -> Box<RawValue> {
    let params = json!({ "level": level.as_str() });
    serde_json::value::to_raw_value(&params).expect("a JSON value serializes")
}

/// Converts JSON to a raw value on a single line; `None` if it is not valid JSON.
pub fn raw(json: &Json) -> Option<Box<RawValue>> {
    RawValue::from_string(one_line(json.as_str()).into_owned()).ok()
}

/// Parameters of `completion/complete` for an argument of a prompt.
pub fn suggesting(blank: &Blank<'_>) -> Box<RawValue> {
    let mut params = json!({
        "ref": { "type": "ref/prompt", "name": blank.prompt },
        "argument": { "name": blank.argument, "value": blank.typed },
    });
    if !blank.settled.is_empty() {
        params["context"] = json!({ "arguments": blank.settled });
    }
    serde_json::value::to_raw_value(&params).expect("a JSON value serializes")
}

/// Decodes the result of `completion/complete`.
pub fn suggested(result: &RawValue) -> Result<Completion, Malformed> {
    #[derive(Deserialize)]
    struct Completed {
        completion: Values,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Values {
        values: Vec<String>,
        total: Option<usize>,
        has_more: Option<bool>,
    }
    let Completed { completion: Values { values, total, has_more } } =
        serde_json::from_str(result.get())
            .map_err(|_| Malformed::new("the completion has no values"))?;
    let told = total.unwrap_or(values.len() + usize::from(has_more == Some(true)));
    let completion = Completion::of(values);
    Ok(Completion { total: told.max(completion.total), ..completion })
}

/// Replaces line breaks by spaces. In JSON they only occur between values, so no value changes.
pub(crate) fn one_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ").into() } else { json.into() }
}

#[cfg(test)]
mod tests;
