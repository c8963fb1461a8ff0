//! Adapts an upstream server's result to the client's protocol revision.
//!
//! A client of the newest revision gets the result as it was written. A client of an older one
//! gets what its revision defines, and text in place of content that it would lose.

use std::borrow::Cow;

use resource::{Error, Json, Result};
use serde_json::json;
use serde_json::value::RawValue;

use crate::inbound::tool::single_line;
use crate::json::raw_object::{
    JsonEdits, ObjectWriter, RawMembers, RawObject, may_contain, members_of, parse_elements,
    parse_members, parse_string,
};
use crate::json::sanitize::sanitize_json;
use crate::revision::{Dialect, Revision};

/// Adapts the result of a tool, a prompt or a read to the client, on one line.
pub fn adapt_result(given: &Json, dialect: Dialect) -> Result<Json> {
    let revision = dialect.revision;
    let text = sanitize_json(given.as_str());
    let text = place_annotations(&text, dialect.knows_sep2093).map_or(text, Cow::Owned);
    let odd = || Error::unavailable("the upstream server returned an invalid result");
    let RawObject(parts) = serde_json::from_str(&text).map_err(|_| odd())?;
    let kind =
        parts.iter().rfind(|(name, _)| name == "resultType").map(|(_, raw)| parse_string(raw));
    match kind.as_ref().map(Option::as_deref) {
        None | Some(Some("complete")) => {}
        Some(Some("input_required" | "task")) if revision.asks_back() => {
            return Ok(text.as_ref().into());
        }
        Some(Some("input_required")) => {
            let why = "needs input: the upstream server asks for client input, which this \
                       protocol revision cannot relay";
            return Err(Error::unavailable(why));
        }
        Some(_) => return Err(odd()),
    }
    if revision.has_handshake() {
        return Ok(downgrade_result(&parts, revision).into());
    }
    if kind.is_some() {
        return Ok(text.as_ref().into());
    }
    let mut out = ObjectWriter::new();
    out.put_string("resultType", "complete");
    parts.iter().for_each(|(name, raw)| out.put_raw(name, raw.get()));
    Ok(out.finish().into())
}

/// Whether a result says that the tool failed.
pub(crate) fn is_tool_error(result: &str) -> bool {
    let is_error =
        |(name, raw): &(Cow<'_, str>, &RawValue)| name == "isError" && raw.get() == "true";
    // Most results do not have the word, and a large one need not be parsed for it.
    may_contain(result, "isError") && members_of(result).iter().any(is_error)
}

/// Puts the annotations of embedded resources where the client looks for them (S2093-26, S2093-27, B-14):
/// inside the resource, and beside it too for a client that does not know SEP-2093. `None` if they
/// are there already.
fn place_annotations(text: &str, knows_sep2093: bool) -> Option<String> {
    if !may_contain(text, "annotations") {
        return None;
    }
    let mut edits = JsonEdits::new(text);
    let mut place_in = |raw| {
        for block in blocks_of(raw) {
            if let Some(placed) = place_block_annotations(block, knows_sep2093) {
                edits.replace(block.get(), placed);
            }
        }
    };
    for (name, raw) in members_of(text) {
        match &*name {
            "content" => place_in(raw),
            "messages" => {
                for message in parse_elements(raw) {
                    let members = members_of(message.get());
                    let content = members.iter().filter(|(name, _)| name == "content");
                    content.for_each(|(_, raw)| place_in(raw));
                }
            }
            _ => {}
        }
    }
    edits.apply()
}

/// The blocks of an array, or a single block.
fn blocks_of(raw: &RawValue) -> Vec<&RawValue> {
    if raw.get().starts_with('[') { parse_elements(raw) } else { vec![raw] }
}

fn place_block_annotations(block: &RawValue, knows_sep2093: bool) -> Option<String> {
    let parts = members_of(block.get());
    let find = |members: &RawMembers<'_>, wanted: &str| {
        members.iter().rfind(|(name, _)| name == wanted).map(|(_, raw)| raw.get().to_owned())
    };
    find(&parts, "type").filter(|kind| kind == "\"resource\"")?;
    let resource = find(&parts, "resource")?;
    let inner = members_of(&resource);
    let (beside, inside) = (find(&parts, "annotations"), find(&inner, "annotations"));
    // S2093-28: those inside win.
    let wanted = inside.as_ref().or(beside.as_ref())?;
    let wanted_beside = (!knows_sep2093).then_some(wanted);
    if inside.is_some() && beside.as_ref() == wanted_beside {
        return None;
    }
    let mut placed = ObjectWriter::new();
    let others = inner.iter().filter(|(name, _)| name != "annotations");
    others.for_each(|(name, raw)| placed.put_raw(name, raw.get()));
    placed.put_raw("annotations", wanted);
    let placed = placed.finish();
    let mut out = ObjectWriter::new();
    for (name, raw) in &parts {
        match &**name {
            "annotations" => {}
            "resource" => out.put_raw(name, &placed),
            _ => out.put_raw(name, raw.get()),
        }
    }
    if let Some(beside) = wanted_beside {
        out.put_raw("annotations", beside);
    }
    Some(out.finish())
}

fn downgrade_result(parts: &RawMembers<'_>, revision: Revision) -> String {
    let mut out = ObjectWriter::new();
    let structured = parts.iter().rfind(|(name, _)| name == "structuredContent");
    let structured = structured.map(|(_, raw)| raw.get());
    let is_said = parts.iter().any(|(name, raw)| name == "content" && !is_empty_array(raw));
    for (name, raw) in parts {
        match &**name {
            "resultType" | "ttlMs" | "cacheScope" => {}
            "_meta" => copy_foreign_meta(&mut out, raw),
            "content" if !is_said && structured.is_some() => {}
            "content" => out.put_raw(name, &downgrade_blocks(raw, revision)),
            "messages" => out.put_raw(name, &downgrade_messages(raw, revision)),
            "structuredContent" if !revision.knows_structure() => {}
            "structuredContent" if !raw.get().starts_with('{') => {
                out.put_raw(name, &format!(r#"{{"result":{}}}"#, raw.get()));
            }
            _ => out.put_raw(name, raw.get()),
        }
    }
    // An older client may ignore structured content, so a result without text gets it as text too.
    if let Some(structured) = structured.filter(|_| !is_said) {
        out.put_raw("content", &format!("[{}]", text_block(structured)));
    }
    out.finish()
}

/// Whether `raw` is an empty array, or no array.
fn is_empty_array(raw: &RawValue) -> bool {
    let elements = raw.get().strip_prefix('[');
    elements.is_none_or(|elements| elements.trim_start().starts_with(']'))
}

/// Copies `_meta` without the protocol's own members, which older revisions do not define.
fn copy_foreign_meta(out: &mut ObjectWriter, raw: &RawValue) {
    let mut kept = ObjectWriter::new();
    for (name, raw) in parse_members(Some(raw), "_meta").unwrap_or_default() {
        if !name.starts_with("io.modelcontextprotocol/") {
            kept.put_raw(&name, raw.get());
        }
    }
    if !kept.is_empty() {
        out.put_raw("_meta", &kept.finish());
    }
}

fn downgrade_messages(raw: &RawValue, revision: Revision) -> String {
    let each = parse_elements(raw).into_iter().map(|message| {
        let mut out = ObjectWriter::new();
        for (name, raw) in parse_members(Some(message), "a message").unwrap_or_default() {
            match &*name {
                "content" => out.put_raw(&name, &downgrade_blocks(raw, revision)),
                _ => out.put_raw(&name, raw.get()),
            }
        }
        out.finish()
    });
    format!("[{}]", each.collect::<Vec<_>>().join(","))
}

/// Adapts one content block, or an array of them.
fn downgrade_blocks(raw: &RawValue, revision: Revision) -> String {
    let newer = [
        ("resource_link", revision.knows_links()),
        ("audio", revision.knows_audio()),
        ("_meta", revision.knows_meta()),
        ("icons", revision.knows_icons()),
        ("annotations", revision.knows_titles()),
    ];
    if newer.iter().all(|&(word, is_known)| is_known || !may_contain(raw.get(), word)) {
        return raw.get().to_owned();
    }
    if !raw.get().starts_with('[') {
        return downgrade_block(raw, revision);
    }
    let each = parse_elements(raw).into_iter().map(|one| downgrade_block(one, revision));
    format!("[{}]", each.collect::<Vec<_>>().join(","))
}

fn downgrade_block(raw: &RawValue, revision: Revision) -> String {
    let Ok(parts) = parse_members(Some(raw), "a block") else { return raw.get().to_owned() };
    let find = |wanted: &str| {
        let found = parts.iter().rfind(|(name, _)| name == wanted);
        found.and_then(|(_, raw)| parse_string(raw)).unwrap_or_default()
    };
    let kind = find("type");
    match &*kind {
        "resource_link" if !revision.knows_links() => {
            return text_block(&single_line(&format!("{} <{}>", find("name"), find("uri"))));
        }
        "audio" if !revision.knows_audio() => {
            return text_block(&single_line(&format!("[audio, {}]", find("mimeType"))));
        }
        _ => {}
    }
    let mut out = ObjectWriter::new();
    for (name, raw) in &parts {
        match &**name {
            "_meta" if !revision.knows_meta() => {}
            "icons" if !revision.knows_icons() => {}
            "annotations" if !revision.knows_titles() => {
                out.put_raw(name, &without_member(raw, "lastModified"));
            }
            "resource" if !revision.knows_meta() => {
                out.put_raw(name, &without_member(raw, "_meta"))
            }
            _ => out.put_raw(name, raw.get()),
        }
    }
    out.finish()
}

fn without_member(raw: &RawValue, unknown: &str) -> String {
    let Ok(parts) = parse_members(Some(raw), "an object") else { return raw.get().to_owned() };
    let mut out = ObjectWriter::new();
    let known = parts.iter().filter(|(name, _)| name != unknown);
    known.for_each(|(name, raw)| out.put_raw(name, raw.get()));
    out.finish()
}

fn text_block(text: &str) -> String {
    json!({ "type": "text", "text": text }).to_string()
}

#[cfg(test)]
mod tests {
    use resource::ErrorKind;
    use serde_json::{Value, json};

    use super::adapt_result;
    use crate::revision::{Dialect, Revision};

    fn given(result: &Value, revision: Revision) -> Value {
        let given = adapt_result(&result.to_string().into(), Dialect::full(revision)).unwrap();
        serde_json::from_str(given.as_str()).unwrap()
    }

    /// S2093-26, S2093-27, S2093-28, B-14.
    #[test]
    fn annotations_of_an_embedded_resource_are_where_the_client_looks_for_them() {
        let (own, other) = (json!({ "priority": 0.5 }), json!({ "priority": 1 }));
        let block = |beside: Option<&Value>, inside: Option<&Value>| {
            let mut block = json!({ "type": "resource", "resource": { "uri": "a:1", "text": "" } });
            beside.into_iter().for_each(|own| block["annotations"] = own.clone());
            inside.into_iter().for_each(|own| block["resource"]["annotations"] = own.clone());
            block
        };
        let plain = json!({ "type": "text", "text": "t", "annotations": own });
        for (beside, inside) in [(Some(&own), None), (None, Some(&own)), (Some(&other), Some(&own))]
        {
            let one = block(beside, inside);
            let result = json!({ "content": [one, plain], "messages": [{ "content": one }] });
            for revision in Revision::ALL {
                for knows_sep2093 in [false, true] {
                    let dialect = Dialect { knows_sep2093, ..Dialect::full(revision) };
                    let told = adapt_result(&result.to_string().into(), dialect).unwrap();
                    let told: Value = serde_json::from_str(told.as_str()).unwrap();
                    let expected = block((!knows_sep2093).then_some(&own), Some(&own));
                    assert_eq!(told["content"], json!([expected, plain]));
                    assert_eq!(told["messages"][0]["content"], expected);
                }
            }
        }
    }

    #[test]
    fn the_newest_peers_get_it_as_it_was_written_and_tagged() {
        let text =
            "{ \"content\" : [ {\"type\":\"audio\"} ],\n\"resultType\":\"complete\",\"x\":1.0}";
        let newest = Revision::ALL[0];
        let told = adapt_result(&text.into(), Dialect::full(newest)).unwrap();
        assert_eq!(told.as_str(), text.replace('\n', " "));
        assert_eq!(given(&json!({ "x": 1 }), newest), json!({ "resultType": "complete", "x": 1 }));
    }

    #[test]
    fn older_peers_get_the_blocks_that_they_know() {
        let result = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": {}, "mine": 1 }, "isError": false,
        "content": [
            { "type": "resource_link", "uri": "a:1", "name": "one", "icons": [], "x": 1 },
            { "type": "audio", "mimeType": "audio/wav", "data": "AAAA" },
            { "type": "text", "text": "t", "_meta": {}, "annotations": { "lastModified": "d" } },
            { "type": "resource", "resource": { "uri": "a:2", "text": "", "_meta": {} } },
        ]});
        let [_, v25_11, v25_06, v25_03, oldest] = Revision::ALL.map(|at| given(&result, at));
        for told in [&v25_11, &v25_06, &v25_03, &oldest] {
            assert_eq!(told["_meta"], json!({ "mine": 1 }));
            assert!(
                told.get("resultType").or(told.get("ttlMs")).or(told.get("cacheScope")).is_none()
            );
            assert_eq!(told["isError"], false);
        }
        assert_eq!(v25_11["content"], result["content"]);
        assert!(v25_06["content"][0].get("icons").is_none());
        assert_eq!(v25_06["content"][2], result["content"][2]);
        assert_eq!(v25_03["content"][0], json!({ "type": "text", "text": "one <a:1>" }));
        assert_eq!(v25_03["content"][1], result["content"][1]);
        let plain = json!({ "type": "text", "text": "t", "annotations": {} });
        assert_eq!(v25_03["content"][2], plain);
        assert_eq!(v25_03["content"][3]["resource"], json!({ "uri": "a:2", "text": "" }));
        assert_eq!(oldest["content"][1], json!({ "type": "text", "text": "[audio, audio/wav]" }));
        let escaped = result.to_string().replace("\"audio\"", r#""\u0061udio""#).into();
        let told = adapt_result(&escaped, Dialect::full(Revision::ALL[4])).unwrap();
        assert_eq!(serde_json::from_str::<Value>(told.as_str()).unwrap(), oldest);
    }

    #[test]
    fn structure_is_an_object_where_it_must_be_and_words_where_it_is_unknown() {
        let text = json!({ "type": "text", "text": "t" });
        let told = |structured: Value, content: Value, revision| {
            given(&json!({ "content": content, "structuredContent": structured }), revision)
        };
        let [newest, v25_11, _, v25_03, _] = Revision::ALL;
        let said = json!([text]);
        assert_eq!(told(json!([1]), said.clone(), newest)["structuredContent"], json!([1]));
        let wrapped = told(json!([1]), said.clone(), v25_11);
        assert_eq!(wrapped["structuredContent"], json!({ "result": [1] }));
        assert_eq!(
            told(json!(null), said.clone(), v25_11)["structuredContent"]["result"],
            json!(null)
        );
        assert_eq!(told(json!({ "a": 1 }), said.clone(), v25_03), json!({ "content": said }));
        let words = json!([{ "type": "text", "text": "{\"a\":1}" }]);
        assert_eq!(told(json!({ "a": 1 }), json!([]), v25_03), json!({ "content": words }));
    }

    #[test]
    fn a_prompt_says_what_its_revision_knows() {
        let link = json!({ "type": "resource_link", "uri": "a:1", "name": "one" });
        let result = json!({ "messages": [{ "role": "user", "content": link, "x": 1 }] });
        let told = given(&result, Revision::ALL[3]);
        let words = json!({ "type": "text", "text": "one <a:1>" });
        assert_eq!(told["messages"][0], json!({ "role": "user", "content": words, "x": 1 }));
    }

    /// M-01, 9.5, X-03.
    #[test]
    fn a_server_that_asks_back_reaches_only_those_who_can_answer() {
        let asks = json!({ "resultType": "input_required", "requestState": "s" });
        assert_eq!(given(&asks, Revision::ALL[0]), asks);
        for revision in &Revision::ALL[1..] {
            let dialect = Dialect::full(*revision);
            let error = adapt_result(&asks.to_string().into(), dialect).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Unavailable);
            assert!(error.message.contains("needs input"));
        }
        for odd in ["5", "[]", "{", r#"{"resultType":"other"}"#, r#"{"resultType":5}"#] {
            let dialect = Dialect::full(Revision::ALL[0]);
            assert!(adapt_result(&odd.into(), dialect).is_err(), "{odd}");
        }
    }
}
