//! Decoding of search results: the hits in the result of an upstream server's search tool.
//!
//! A hit is an object with a `uri`: a content block, an embedded resource, or a row of structured
//! content. A text counts if it is JSON with such rows, or a list of URIs.

use resource::{Json, Passage, SearchHit, Uri};
use serde_json::value::RawValue;

use crate::inbound::tool::text::has_control;
use crate::json::raw_object::{ObjectWriter, RawMembers, members_of, parse_elements, parse_string};

/// How deep rows may be nested in structured content.
const MAX_DEPTH: usize = 5;
/// The longest URI, title and passage that are taken.
const MAX_URI_BYTES: usize = 2 << 10;
const MAX_TITLE_CHARS: usize = 200;
const MAX_PASSAGE_CHARS: usize = 4 << 10;

/// The parameters of a call that passes `query` as the argument `argument`.
pub fn search_call_params(argument: &str, query: &str) -> Json {
    let (mut params, mut arguments) = (ObjectWriter::new(), ObjectWriter::new());
    arguments.put_string(argument, query);
    params.put_raw("arguments", &arguments.finish());
    params.finish().into()
}

/// The hits in the result of a tool, in its order, each URI once, at most `most`. `None` if the
/// result is an error, or none yet.
pub fn tool_hits(result: &str, most: usize) -> Option<Vec<SearchHit>> {
    let members = members_of(result);
    let member = |name: &str| find_member(&members, name);
    let is_error = member("isError").is_some_and(|raw| raw.get() == "true");
    let kind = member("resultType").and_then(parse_string);
    if is_error || kind.is_some_and(|kind| kind != "complete") {
        return None;
    }
    let mut hits = HitCollector { hits: Vec::new(), most };
    if let Some(structured) = member("structuredContent") {
        hits.walk(structured, "", 0);
    }
    for block in member("content").map(parse_elements).unwrap_or_default() {
        let block = members_of(block.get());
        match text_member(&block, "type").as_deref() {
            Some("resource_link") => hits.push_row(&block, ""),
            Some("resource") => {
                let resource = find_member(&block, "resource").map(RawValue::get);
                hits.push_row(&members_of(resource.unwrap_or_default()), "");
            }
            Some("text") => hits.add_text(&text_member(&block, "text").unwrap_or_default()),
            _ => {}
        }
    }
    Some(hits.hits)
}

/// The hits in a text: rows of JSON, or lines that are URIs, at most `most`.
pub fn text_hits(text: &str, most: usize) -> Vec<SearchHit> {
    let mut hits = HitCollector { hits: Vec::new(), most };
    hits.add_text(text);
    hits.hits
}

/// A hit with texts as a client may be shown them.
pub fn decoded_hit(uri: Uri, title: Option<&str>, passage: Option<&str>) -> SearchHit {
    let title = title.map(|title| plain_text(title, MAX_TITLE_CHARS, has_control));
    let passage = passage.map(|text| plain_text(text, MAX_PASSAGE_CHARS, is_invisible));
    let passage = passage.flatten().map(|text| Passage { text, slice: None });
    SearchHit { uri, title: title.flatten(), passage, score: 0.0 }
}

/// Hits in the order in which they are found.
struct HitCollector {
    hits: Vec<SearchHit>,
    most: usize,
}

impl HitCollector {
    fn add_text(&mut self, text: &str) {
        let text = text.trim();
        if text.starts_with(['{', '[']) {
            if let Ok(json) = serde_json::from_str::<&RawValue>(text) {
                self.walk(json, "", 0);
            }
            return;
        }
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        // One line that is no URI tells that the text is no list of them.
        let uris: Option<Vec<Uri>> = lines.take(self.most).map(line_uri).collect();
        for uri in uris.unwrap_or_default() {
            self.push(decoded_hit(uri, None, None));
        }
    }

    /// Takes the rows in `json`. `base` is what the URIs of its rows go on from.
    fn walk(&mut self, json: &RawValue, base: &str, depth: usize) {
        if depth > MAX_DEPTH || self.hits.len() >= self.most {
            return;
        }
        if json.get().starts_with('[') {
            let elements = parse_elements(json);
            return elements.into_iter().for_each(|one| self.walk(one, base, depth + 1));
        }
        let members = members_of(json.get());
        if text_member(&members, "uri").is_some() {
            return self.push_row(&members, base);
        }
        // Another refdesk tells once what all URIs begin with.
        let own_base = text_member(&members, "base");
        let base = own_base.as_deref().unwrap_or(base);
        for (_, value) in &members {
            if value.get().starts_with(['[', '{']) {
                self.walk(value, base, depth + 1);
            }
        }
    }

    fn push_row(&mut self, row: &RawMembers<'_>, base: &str) {
        let text = |name: &str| text_member(row, name);
        let Some(uri) = text("uri") else { return };
        let uri = if uri.starts_with(base) { uri } else { format!("{base}{uri}") };
        let Some(uri) = valid_uri(&uri) else { return };
        let title = text("title").or_else(|| text("name"));
        let passage = ["snippet", "text", "description"].into_iter().find_map(text);
        let score = find_member(row, "score").and_then(|raw| raw.get().parse::<f64>().ok());
        let hit = decoded_hit(uri, title.as_deref(), passage.as_deref());
        self.push(SearchHit {
            score: score.filter(|score| score.is_finite()).unwrap_or(0.0),
            ..hit
        });
    }

    /// Adds a hit. One that is there already gets what it lacks.
    fn push(&mut self, hit: SearchHit) {
        let is_full = self.hits.len() >= self.most;
        match self.hits.iter_mut().find(|known| known.uri == hit.uri) {
            Some(known) => {
                known.title = known.title.take().or(hit.title);
                known.passage = known.passage.take().or(hit.passage);
            }
            None if is_full => {}
            None => self.hits.push(hit),
        }
    }
}

/// The URI of a line, bare or as an item of a list.
fn line_uri(line: &str) -> Option<Uri> {
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim();
    let inside = line.strip_prefix('<').and_then(|line| line.strip_suffix('>'));
    valid_uri(inside.unwrap_or(line))
}

fn valid_uri(text: &str) -> Option<Uri> {
    (text.len() <= MAX_URI_BYTES).then(|| Uri::parse(text).ok()).flatten()
}

fn find_member<'a>(members: &RawMembers<'a>, name: &str) -> Option<&'a RawValue> {
    members.iter().rfind(|(known, _)| known == name).map(|(_, raw)| *raw)
}

fn text_member(members: &RawMembers<'_>, name: &str) -> Option<String> {
    Some(parse_string(find_member(members, name)?)?.into_owned())
}

/// The first characters of `text`, those that `is_odd` as spaces; `None` if nothing is left.
fn plain_text(text: &str, most: usize, is_odd: fn(&str) -> bool) -> Option<String> {
    let plain = |letter: char| {
        if is_odd(letter.encode_utf8(&mut [0; 4])) { ' ' } else { letter }
    };
    let text: String = text.chars().take(most).map(plain).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whether it is a control character other than a line break or a tab.
fn is_invisible(letter: &str) -> bool {
    has_control(letter) && !matches!(letter, "\n" | "\r" | "\t")
}

#[cfg(test)]
mod tests;
