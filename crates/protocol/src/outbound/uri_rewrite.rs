//! URI rewriting in upstream JSON: an upstream server's own URIs to public ones, and back.
//!
//! Rewrites only known places; everything else stays byte for byte as it was.

use resource::{Json, UriRewrite};
use serde_json::value::RawValue;

use crate::json::raw_object::{
    JsonEdits, RawMembers, may_contain, members_of, parse_elements, parse_string, unquote,
};

/// The kind of JSON to rewrite, which decides where its URIs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UriLocation {
    /// A result or input request: content blocks that embed a resource or link to one, and the
    /// user interface of a result (MCP Apps).
    CallResult,
    /// The state of a task: its input requests and its result.
    TaskState,
    /// The description of a tool: the URI of its user interface (MCP Apps).
    ToolDescription,
    /// The arguments of a call: every string that is a URI as a whole.
    CallArguments,
    /// The `data` of an error: its `uri`.
    ErrorData,
}

/// Replaces every URI in the JSON `text` by the result of `form`. Where `form` returns `None` the
/// URI stays as it is.
pub fn rewrite_uris(
    text: &str,
    location: UriLocation,
    form: &dyn Fn(&str) -> Option<String>,
) -> Json {
    rewrite_shown(text, location, form, &|_| true)
}

/// Makes the URIs in the JSON `text` public. A content block with a URI that `rewrite` does not
/// show becomes an empty text.
pub fn publish_uris(text: &str, location: UriLocation, rewrite: &dyn UriRewrite) -> Json {
    rewrite_shown(text, location, &|uri| rewrite.to_public(uri), &|uri| rewrite.shows(uri))
}

fn rewrite_shown(
    text: &str,
    location: UriLocation,
    form: &dyn Fn(&str) -> Option<String>,
    shows: &dyn Fn(&str) -> bool,
) -> Json {
    let may_have_uris = match location {
        // The types of blocks and the names of members that are rewritten have this word.
        UriLocation::CallResult | UriLocation::TaskState | UriLocation::ToolDescription => {
            may_contain(text, "resource")
        }
        UriLocation::CallArguments | UriLocation::ErrorData => true,
    };
    if !may_have_uris {
        return text.into();
    }
    let mut links = UriRewriter { edits: JsonEdits::new(text), map_uri: form, shows };
    match location {
        UriLocation::CallResult => links.rewrite_result(text),
        UriLocation::TaskState => {
            links.rewrite_result(text);
            let members = members_of(text);
            values_named(&members, "result").for_each(|raw| links.rewrite_result(raw.get()));
        }
        UriLocation::ToolDescription => links.rewrite_ui(&members_of(text)),
        UriLocation::CallArguments => links.rewrite_strings(text),
        UriLocation::ErrorData => links.rewrite_members(&members_of(text), "uri"),
    }
    links.edits.apply().map_or_else(|| text.into(), Json::from)
}

/// What stands for a block that the caller may not see.
const EMPTY_BLOCK: &str = r#"{"type":"text","text":""}"#;

struct UriRewriter<'a, 'f> {
    edits: JsonEdits<'a>,
    map_uri: &'f dyn Fn(&str) -> Option<String>,
    shows: &'f dyn Fn(&str) -> bool,
}

/// If a name occurs twice in an object, both values are rewritten.
impl<'a> UriRewriter<'a, '_> {
    fn rewrite_result(&mut self, json: &'a str) {
        let members = members_of(json);
        self.rewrite_content(&members);
        self.rewrite_ui(&members);
        for requests in values_named(&members, "inputRequests") {
            for (_, request) in members_of(requests.get()) {
                // Parameters hold no input requests of their own: there is no nesting to follow.
                for params in values_named(&members_of(request.get()), "params") {
                    self.rewrite_content(&members_of(params.get()));
                }
            }
        }
    }

    fn rewrite_content(&mut self, members: &RawMembers<'a>) {
        for (name, raw) in members {
            match &**name {
                "content" => self.rewrite_blocks(raw),
                "messages" => {
                    for message in parse_elements(raw) {
                        let message = members_of(message.get());
                        let content = values_named(&message, "content");
                        content.for_each(|blocks| self.rewrite_blocks(blocks));
                    }
                }
                _ => {}
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
        let block = members_of(raw.get());
        let holders = match values_named(&block, "type").last().and_then(parse_string).as_deref() {
            Some("resource_link") => vec![block],
            Some("resource") => {
                let resources = values_named(&block, "resource");
                resources.map(|resource| members_of(resource.get())).collect()
            }
            _ => return,
        };
        let mut uris = holders.iter().flat_map(|holder| values_named(holder, "uri"));
        if !uris.all(|raw| parse_string(raw).is_none_or(|uri| (self.shows)(&uri))) {
            self.edits.replace(raw.get(), EMPTY_BLOCK.to_owned());
            return;
        }
        holders.iter().for_each(|holder| self.rewrite_members(holder, "uri"));
    }

    /// The user interface that `_meta` names (MCP Apps).
    fn rewrite_ui(&mut self, members: &RawMembers<'a>) {
        for meta in values_named(members, "_meta") {
            let meta = members_of(meta.get());
            for ui in values_named(&meta, "ui") {
                self.rewrite_members(&members_of(ui.get()), "resourceUri");
            }
            // Early drafts of MCP Apps use this single key.
            self.rewrite_members(&meta, "ui/resourceUri");
        }
    }

    /// Rewrites every string value in one pass over the text, however deep it is nested.
    fn rewrite_strings(&mut self, json: &'a str) {
        let bytes = json.as_bytes();
        let mut at = 0;
        while let Some(begin) = bytes[at..].iter().position(|byte| *byte == b'"') {
            let begin = at + begin;
            let mut end = begin + 1;
            while bytes.get(end).is_some_and(|byte| *byte != b'"') {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            at = json.len().min(end + 1);
            let is_name = json[at..].trim_start().starts_with(':');
            if !is_name {
                self.rewrite_uri(&json[begin..at]);
            }
        }
    }

    fn rewrite_members(&mut self, object: &RawMembers<'a>, name: &str) {
        values_named(object, name).for_each(|raw| self.rewrite_uri(raw.get()));
    }

    fn rewrite_uri(&mut self, json: &'a str) {
        let Some(uri) = unquote(json) else { return };
        if let Some(other) = (self.map_uri)(&uri).filter(|other| *other != uri) {
            self.edits.replace(json, json_escape_simd::escape(&other));
        }
    }
}

fn values_named<'a, 'm>(
    members: &'m RawMembers<'a>,
    name: &'m str,
) -> impl Iterator<Item = &'a RawValue> + use<'a, 'm> {
    members.iter().filter(move |(other, _)| other == name).map(|(_, raw)| *raw)
}

#[cfg(test)]
mod tests;
