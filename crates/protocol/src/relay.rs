//! How are a server's tools and prompts asked for, and what does it say of them?
//!
//! What it says is kept as it was written, but for URIs, which become public on the way up and the
//! server's own again on the way down.

use std::borrow::Cow;
use std::time::Duration;

use resource::{Blank, Completion, Freshness, Json, Names, Offer, Offered, Said, Scope};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::answer::{Denial, Malformed, next_cursor};
use crate::ask::{CAPABILITIES, going_on, verb};
use crate::links::{Place, rewrite};
use crate::member::{Object, elements, members, string};
use crate::refusal::MISSING_CAPABILITY;

/// What a client may be asked for, as far as the question can be passed on.
const RELAYED: [&str; 3] = ["elicitation", "sampling", "roots"];
/// Extensions that work through us, because all they need passes through.
const EXTENSIONS: [&str; 1] = ["io.modelcontextprotocol/ui"];

/// One page of a server's tools or prompts.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// What stands on it.
    pub offered: Vec<Offered>,
    /// Where the server goes on.
    pub next: Option<String>,
    /// How long it may be kept.
    pub freshness: Freshness,
}

/// The method that lists them.
pub fn listing(offer: Offer) -> &'static str {
    match offer {
        Offer::Tool => verb::TOOLS,
        Offer::Prompt => verb::PROMPTS,
    }
}

/// The method that calls one.
pub fn calling(offer: Offer) -> &'static str {
    match offer {
        Offer::Tool => verb::CALL,
        Offer::Prompt => verb::PROMPT,
    }
}

/// What a notification says has changed besides resources.
pub fn changed(method: &str) -> Option<Offer> {
    match method {
        "notifications/tools/list_changed" => Some(Offer::Tool),
        "notifications/prompts/list_changed" => Some(Offer::Prompt),
        _ => None,
    }
}

/// Parameters of a list that goes on at `cursor`.
pub fn from(cursor: Option<&str>) -> Result<Option<Box<RawValue>>, Malformed> {
    cursor.map(|cursor| going_on(None, cursor)).transpose()
}

/// Reads a page. What has no name cannot be called and is left out.
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
    let listed: Listed<'_> =
        serde_json::from_str(result.get()).map_err(|_| Malformed::new("a page of offers"))?;
    let items = match offer {
        Offer::Tool => listed.tools,
        Offer::Prompt => listed.prompts,
    };
    let items = items.ok_or_else(|| Malformed::new("a page without a list"))?;
    let public = |uri: &str| names.public(uri);
    let offered = elements(items).into_iter().filter_map(|raw| {
        let members = members(Some(raw), "an offer").ok()?;
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

/// The parameters of a call, as the server that has `name` is to read them.
pub fn params(params: &Json, name: &str, names: &dyn Names) -> Result<Box<RawValue>, Malformed> {
    // Line breaks stand only between values, and a message on a pipe may not have any.
    let params = one_line(params.as_str());
    let whole: &RawValue =
        serde_json::from_str(&params).map_err(|_| Malformed::new("params that are no JSON"))?;
    let mut out = Object::begin();
    out.text("name", name);
    for (member, raw) in members(Some(whole), "params")? {
        match &*member {
            "name" => {}
            "arguments" => {
                let local = |uri: &str| names.local(uri);
                let arguments = rewrite(&raw.get().into(), Place::Arguments, &local);
                out.raw("arguments", arguments.as_str());
            }
            "_meta" => out.raw("_meta", &meta(raw)?),
            _ => out.raw(&member, raw.get()),
        }
    }
    RawValue::from_string(out.end()).map_err(|_| Malformed::new("params"))
}

/// MCP 2026-07-28, capabilities: a server may ask back for what they say, so they may say no more
/// than what we pass on.
fn meta(raw: &RawValue) -> Result<String, Malformed> {
    let mut out = Object::begin();
    for (member, raw) in members(Some(raw), "_meta")? {
        if member == CAPABILITIES {
            out.raw(CAPABILITIES, &narrowed(raw)?);
        } else {
            out.raw(&member, raw.get());
        }
    }
    Ok(out.end())
}

fn narrowed(capabilities: &RawValue) -> Result<String, Malformed> {
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
        } else if RELAYED.contains(&&*name) {
            out.raw(&name, raw.get());
        }
    }
    Ok(out.end())
}

/// What a call gave.
pub fn result(result: &RawValue, names: &dyn Names) -> Json {
    rewrite(&result.get().into(), Place::Result, &|uri| names.public(uri))
}

/// What a server refused a call with, if it is about the call: codes that are about how we asked
/// it say nothing to whoever asked us, but for what the caller cannot do, which we only repeated.
pub fn said(denial: &Denial, names: &dyn Names) -> Option<Said> {
    if (-32029..=-32020).contains(&denial.code) && denial.code != MISSING_CAPABILITY {
        return None;
    }
    let public = |uri: &str| names.public(uri);
    let data = denial.data.as_ref().map(|raw| rewrite(&raw.get().into(), Place::Error, &public));
    Some(Said { code: denial.code, message: denial.message.clone(), data })
}

/// Parameters that ask for values of a prompt's argument.
pub fn suggesting(blank: &Blank<'_>) -> Box<RawValue> {
    let mut params = json!({
        "ref": { "type": "ref/prompt", "name": blank.prompt },
        "argument": { "name": blank.argument, "value": blank.typed },
    });
    if !blank.settled.is_empty() {
        params["context"] = json!({ "arguments": blank.settled });
    }
    serde_json::value::to_raw_value(&params).expect("a JSON value is JSON")
}

/// The values that a server suggests.
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
        serde_json::from_str(result.get()).map_err(|_| Malformed::new("a completion"))?;
    let told = total.unwrap_or(values.len() + usize::from(has_more == Some(true)));
    let completion = Completion::of(values);
    Ok(Completion { total: told.max(completion.total), ..completion })
}

/// JSON without line breaks, none of which stand inside its values.
pub(crate) fn one_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ").into() } else { json.into() }
}

#[cfg(test)]
mod tests;
