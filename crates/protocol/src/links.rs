//! Where in the words of another server do URIs stand that must become public, or its own again?
//!
//! Only those are changed; everything else stays as it was written, byte for byte.

use resource::Json;
use serde_json::value::RawValue;

use crate::member::{Edits, elements, members, string};

/// What is looked through for URIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The result of a call: blocks that embed a resource or link to one.
    Result,
    /// The description of a tool: the page that shows it (MCP apps).
    Tool,
    /// The arguments of a call: every text that is a URI as a whole.
    Arguments,
    /// What an error says besides its words.
    Error,
}

/// Gives every URI in its place the form that `form` knows for it. One that it knows none for
/// stays as it is.
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
            let asked = members(Some(asked), "questions").unwrap_or_default();
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

    /// One block, or several.
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
            // The first drafts of MCP apps had one key for both.
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

/// The members of an object that have this name. Nobody has two, but then both are meant.
fn named<'a>(object: &'a RawValue, name: &str) -> impl DoubleEndedIterator<Item = &'a RawValue> {
    let members = members(Some(object), "an object").unwrap_or_default();
    members.into_iter().filter(move |(other, _)| other == name).map(|(_, raw)| raw)
}

#[cfg(test)]
mod tests;
