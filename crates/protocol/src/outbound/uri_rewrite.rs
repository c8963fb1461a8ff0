//! URI rewriting in upstream JSON: an upstream server's own URIs to public ones, and back.
//!
//! Rewrites only known places; everything else stays byte for byte as it was.

use resource::Json;
use serde_json::value::RawValue;

use crate::json::raw_object::{JsonEdits, parse_elements, parse_members, parse_string};

/// The kind of JSON to rewrite, which decides where its URIs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UriLocation {
    /// A result or input request: content blocks that embed a resource or link to one.
    CallResult,
    /// The description of a tool: the URI of its user interface (MCP Apps).
    ToolDescription,
    /// The arguments of a call: every string that is a URI as a whole.
    CallArguments,
    /// The `data` of an error: its `uri`.
    ErrorData,
}

/// Replaces every URI in `json` by the result of `form`. Where `form` returns `None` the URI stays
/// as it is.
pub fn rewrite_uris(
    json: &Json,
    location: UriLocation,
    form: &dyn Fn(&str) -> Option<String>,
) -> Json {
    let text = json.as_str();
    let Ok(whole) = serde_json::from_str::<&RawValue>(text) else { return json.clone() };
    let mut links = UriRewriter { edits: JsonEdits::new(text), map_uri: form };
    match location {
        UriLocation::CallResult => links.rewrite_result(whole),
        UriLocation::ToolDescription => links.rewrite_tool(whole),
        UriLocation::CallArguments => links.rewrite_strings(whole),
        UriLocation::ErrorData => links.rewrite_member(whole, "uri"),
    }
    links.edits.apply().map_or_else(|| json.clone(), Json::from)
}

struct UriRewriter<'a, 'f> {
    edits: JsonEdits<'a>,
    map_uri: &'f dyn Fn(&str) -> Option<String>,
}

impl<'a> UriRewriter<'a, '_> {
    fn rewrite_result(&mut self, raw: &'a RawValue) {
        for asked in members_named(raw, "inputRequests") {
            let asked = parse_members(Some(asked), "inputRequests").unwrap_or_default();
            for params in asked.into_iter().flat_map(|(_, one)| members_named(one, "params")) {
                self.rewrite_result(params);
            }
        }
        for blocks in members_named(raw, "content") {
            self.rewrite_blocks(blocks);
        }
        for message in members_named(raw, "messages").flat_map(parse_elements) {
            for blocks in members_named(message, "content") {
                self.rewrite_blocks(blocks);
            }
        }
    }

    /// A single block or an array of blocks.
    fn rewrite_blocks(&mut self, raw: &'a RawValue) {
        if raw.get().starts_with('[') {
            parse_elements(raw).into_iter().for_each(|block| self.rewrite_block(block));
        } else {
            self.rewrite_block(raw);
        }
    }

    fn rewrite_block(&mut self, raw: &'a RawValue) {
        match members_named(raw, "type").last().and_then(parse_string).as_deref() {
            Some("resource_link") => self.rewrite_member(raw, "uri"),
            Some("resource") => {
                for resource in members_named(raw, "resource") {
                    self.rewrite_member(resource, "uri");
                }
            }
            _ => {}
        }
    }

    fn rewrite_tool(&mut self, raw: &'a RawValue) {
        for meta in members_named(raw, "_meta") {
            for ui in members_named(meta, "ui") {
                self.rewrite_member(ui, "resourceUri");
            }
            // Early drafts of MCP Apps use this single key.
            self.rewrite_member(meta, "ui/resourceUri");
        }
    }

    fn rewrite_strings(&mut self, raw: &'a RawValue) {
        match raw.get().as_bytes().first() {
            Some(b'"') => self.rewrite_uri(raw),
            Some(b'[') => parse_elements(raw).into_iter().for_each(|one| self.rewrite_strings(one)),
            Some(b'{') => {
                let members = parse_members(Some(raw), "arguments").unwrap_or_default();
                members.into_iter().for_each(|(_, one)| self.rewrite_strings(one));
            }
            _ => {}
        }
    }

    fn rewrite_member(&mut self, object: &'a RawValue, name: &str) {
        for raw in members_named(object, name) {
            self.rewrite_uri(raw);
        }
    }

    fn rewrite_uri(&mut self, raw: &'a RawValue) {
        let Some(uri) = parse_string(raw) else { return };
        if let Some(other) = (self.map_uri)(&uri).filter(|other| *other != uri) {
            self.edits.replace(raw, json_escape_simd::escape(&other));
        }
    }
}

/// All members of an object with this name. If a name occurs twice, both are rewritten.
fn members_named<'a>(
    object: &'a RawValue,
    name: &str,
) -> impl DoubleEndedIterator<Item = &'a RawValue> {
    let members = parse_members(Some(object), "value").unwrap_or_default();
    members.into_iter().filter(move |(other, _)| other == name).map(|(_, raw)| raw)
}

#[cfg(test)]
mod tests;
