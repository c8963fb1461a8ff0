//! URI rewriting in upstream JSON: an upstream server's own URIs to public ones, and back.
//!
//! Rewrites only known places; everything else stays byte for byte as it was.

use resource::Json;
use serde_json::value::RawValue;

use crate::member::{Edits, elements, members, string};

/// The kind of JSON to rewrite, which decides where its URIs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A result or input request: content blocks that embed a resource or link to one.
    Result,
    /// The description of a tool: the URI of its user interface (MCP Apps).
    Tool,
    /// The arguments of a call: every string that is a URI as a whole.
    Arguments,
    /// The `data` of an error: its `uri`.
    Error,
}

/// Replaces every URI in `json` by the result of `form`. Where `form` returns `None` the URI stays
/// as it is.
pub fn rewrite(json: &Json, place: Place, form: &dyn Fn(&str) -> Option<String>) -> Json {
    let text = json.as_str();
    let Ok(whole) = serde_json::from_str::<&RawValue>(text) else { return json.clone() };
    let mut links = Links { edits: Edits::of(text), form };
    match place {
        Place::Result => links.result(whole),
        Place::Tool => links.tool(whole),
        Place::Arguments => links.texts(whole),
        Place::Error => links.member(whole, "uri"),
    }
    links.edits.done().map_or_else(|| json.clone(), Json::from)
}

struct Links<'a, 'f> {
    edits: Edits<'a>,
    form: &'f dyn Fn(&str) -> Option<String>,
}

impl<'a> Links<'a, '_> {
    fn result(&mut self, raw: &'a RawValue) {
        for asked in named(raw, "inputRequests") {
            let asked = members(Some(asked), "inputRequests").unwrap_or_default();
            for params in asked.into_iter().flat_map(|(_, one)| named(one, "params")) {
                self.result(params);
            }
        }
        for blocks in named(raw, "content") {
            self.blocks(blocks);
        }
        for message in named(raw, "messages").flat_map(elements) {
            for blocks in named(message, "content") {
                self.blocks(blocks);
            }
        }
    }

    /// A single block or an array of blocks.
    fn blocks(&mut self, raw: &'a RawValue) {
        if raw.get().starts_with('[') {
            elements(raw).into_iter().for_each(|block| self.block(block));
        } else {
            self.block(raw);
        }
    }

    fn block(&mut self, raw: &'a RawValue) {
        match named(raw, "type").last().and_then(string).as_deref() {
            Some("resource_link") => self.member(raw, "uri"),
            Some("resource") => {
                for resource in named(raw, "resource") {
                    self.member(resource, "uri");
                }
            }
            _ => {}
        }
    }

    fn tool(&mut self, raw: &'a RawValue) {
        for meta in named(raw, "_meta") {
            for ui in named(meta, "ui") {
                self.member(ui, "resourceUri");
            }
            // Early drafts of MCP Apps use this single key.
            self.member(meta, "ui/resourceUri");
        }
    }

    fn texts(&mut self, raw: &'a RawValue) {
        match raw.get().as_bytes().first() {
            Some(b'"') => self.uri(raw),
            Some(b'[') => elements(raw).into_iter().for_each(|one| self.texts(one)),
            Some(b'{') => {
                let members = members(Some(raw), "arguments").unwrap_or_default();
                members.into_iter().for_each(|(_, one)| self.texts(one));
            }
            _ => {}
        }
    }

    fn member(&mut self, object: &'a RawValue, name: &str) {
        for raw in named(object, name) {
            self.uri(raw);
        }
    }

    fn uri(&mut self, raw: &'a RawValue) {
        let Some(uri) = string(raw) else { return };
        if let Some(other) = (self.form)(&uri).filter(|other| *other != uri) {
            self.edits.replace(raw, json_escape_simd::escape(&other));
        }
    }
}

/// All members of an object with this name. If a name occurs twice, both are rewritten.
fn named<'a>(object: &'a RawValue, name: &str) -> impl DoubleEndedIterator<Item = &'a RawValue> {
    let members = members(Some(object), "value").unwrap_or_default();
    members.into_iter().filter(move |(other, _)| other == name).map(|(_, raw)| raw)
}

#[cfg(test)]
mod tests;
