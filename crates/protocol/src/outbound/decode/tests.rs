//! Tests: upstream JSON passes through unchanged.

use std::sync::Arc;

use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use resource::{Body, ByteSource, ComponentKind, Part, Resource, Uri, UriRewrite};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{
    ReadResult, completion_result, component_page, metadata_result, read_result, resource_page,
    template_page,
};
use crate::inbound::row_cache::RowCache;
use crate::inbound::shape::{contents, resource as shape, template};
use crate::json::outgoing::Outgoing;
use crate::revision::{Dialect, Revision};

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

fn newest() -> Dialect {
    Dialect::full(Revision::V2026_07_28)
}

fn listed(entry: &Value) -> Resource {
    let page = resource_page(&raw(&json!({ "resources": [entry] }))).unwrap();
    page.items.into_iter().next().unwrap()
}

fn written(resource: &Resource, dialect: Dialect) -> Value {
    serde_json::to_value(shape::ResourceShape::for_list(resource, dialect)).unwrap()
}

fn passed(entry: &Value) -> Value {
    written(&listed(entry), newest())
}

fn passed_template(entry: &Value) -> Value {
    let page = template_page(&raw(&json!({ "resourceTemplates": [entry] }))).unwrap();
    let items: Vec<_> = page.items.into_iter().map(Arc::new).collect();
    serde_json::to_value(template::TemplateRows(&items, newest())).unwrap()[0].take()
}

fn passed_contents(element: &str) -> String {
    let result = RawValue::from_string(format!(r#"{{"contents":[{element}]}}"#)).unwrap();
    let asked = Uri::parse("a:asked").unwrap();
    let ReadResult::Contents(elements, ..) = read_result(&(&*result).into(), &asked).unwrap()
    else {
        panic!()
    };
    let mut message = Outgoing::default();
    let part = |element: super::ContentElement| {
        let source = ByteSource::Bytes(element.bytes);
        let body = if element.is_text { Body::Text(source) } else { Body::Blob(source) };
        Part { resource: Arc::new(element.resource), body, slice: None }
    };
    let parts = elements.into_iter().map(part).collect();
    let terms = (newest(), &RowCache::new(|_| None));
    let tail = contents::push_contents(parts, terms, Vec::new(), &mut message);
    message.push_json(tail);
    String::from_utf8(message.into_bytes().unwrap().to_vec()).unwrap()
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Members with unknown names.
fn extra() -> impl Strategy<Value = Map<String, Value>> {
    let names = prop_oneof!["x-[a-z]{1,8}", "com\\.example/[a-zA-Z]{1,6}", "\\PC{1,6}x"];
    btree_map(names, json(), 0..5).prop_map(|members| members.into_iter().collect())
}

fn with(mut value: Value, extra: [(&str, &Map<String, Value>); 4]) -> Value {
    for (place, members) in extra.into_iter().filter(|(_, members)| !members.is_empty()) {
        let at = if place.is_empty() { &mut value } else { &mut value[place] };
        if at.is_null() {
            *at = json!({});
        }
        for (name, json) in members {
            at[name] = json.clone();
        }
    }
    // Parsed from text, as all upstream JSON is.
    serde_json::from_str(&value.to_string()).unwrap()
}

#[test]
fn described_variables_of_a_template_pass_and_unknown_forms_stay_as_they_are() {
    let variable = |variables: Value| {
        json!({ "uriTemplate": "a:{b}{/c*}", "name": "n",
            "_meta": { "dev.refdesk/variables": variables } })
    };
    let entry = variable(json!([
        { "name": "b", "description": "d", "type": "integer", "default": "1", "enum": ["1", "2"] },
        { "name": "c", "type": "string", "list": true },
    ]));
    let page = template_page(&raw(&json!({ "resourceTemplates": [entry] }))).unwrap();
    let known = &page.items[0].variables;
    assert_eq!((known[0].kind, known.len()), (resource::VariableKind::Integer, 2));
    assert_eq!(passed_template(&entry), entry);
    for unknown in [json!([{ "name": "b", "type": "date" }]), json!("x"), json!([])] {
        assert_eq!(passed_template(&variable(unknown.clone())), variable(unknown));
    }
}

proptest! {
    #[test]
    fn what_we_have_no_word_for_comes_out_unchanged(
        beside in extra(), meta in extra(), hints in extra(), abilities in extra(),
    ) {
        let levels = [("", &beside), ("_meta", &meta), ("annotations", &hints)];
        let [one, two, three] = levels;
        let known = json!({
            "uri": "a:b", "name": "n", "title": "t", "isCollection": true, "size": 5,
            "capabilities": { "list": true, "subscribe": false },
            "annotations": { "priority": 0.5, "lastModified": "2025-01-12T15:00:58.123Z" },
            "_meta": { "dev.refdesk/collection": true },
        });
        let entry = with(known, [one, two, three, ("capabilities", &abilities)]);
        prop_assert_eq!(&passed(&entry), &entry);
        let mut element = entry.clone();
        element["text"] = "body".into();
        let told: Value = serde_json::from_str(&passed_contents(&element.to_string())).unwrap();
        prop_assert_eq!(&told, &element);
        let known = json!({ "uriTemplate": "a:{b}", "name": "n" });
        let entry = with(known, [one, two, three, ("", &beside)]);
        prop_assert_eq!(&passed_template(&entry), &entry);
    }
}

#[test]
fn numbers_and_strings_are_passed_on_byte_for_byte() {
    let element = r#"{"uri":"a:b","name":"n","annotations":{"lastModified":"2025-01-12T15:00:58.10+02:00","w":0.10},"_meta":{"n":1e2,"s":"\u0041\/"},"x":1.000,"y":12345678901234567890123,"text":"t"}"#;
    assert_eq!(passed_contents(element), element);
}

#[test]
fn a_known_member_of_another_type_costs_nothing_but_itself() {
    let odd = json!({
        "uri": "a:b", "name": "n", "title": 5, "description": ["d"], "mimeType": {}, "size": -1,
        "icons": [{ "src": "https://i", "new": 1 }], "annotations": 7, "_meta": "m",
        "isCollection": "yes", "capabilities": [],
    });
    let resource = listed(&odd);
    assert_eq!((resource.title.as_ref(), resource.size, resource.listable), (None, None, None));
    assert_eq!(passed(&odd), odd);
    let hints = json!({ "uri": "a:b", "name": "n", "annotations": {
        "audience": ["user", "robot"], "priority": 7, "lastModified": "yesterday" } });
    assert_eq!(passed(&hints), hints);
    let nothing =
        json!({ "uri": "a:b", "name": "n", "title": null, "annotations": null, "size": null });
    assert_eq!(passed(&nothing), json!({ "uri": "a:b", "name": "n" }));
}

#[test]
fn what_nobody_could_ask_for_is_left_out() {
    let page = resource_page(&raw(&json!({ "resources": [
        { "uri": "no uri" }, { "name": "none" }, 5, { "uri": "a:b" }, { "uri": "a:b" }, { "uri": 1 },
    ], "nextCursor": "" })))
    .unwrap();
    assert_eq!((page.items.len(), page.skipped), (1, 4));
    assert_eq!((page.items[0].name.as_str(), page.next.as_deref()), ("b", Some("")));
    assert!(resource_page(&raw(&json!({}))).is_err());
    assert!(
        resource_page(&raw(&json!({ "resultType": "input_required", "resources": [] }))).is_err()
    );
}

/// B-03, B-04.
#[test]
fn the_newest_word_for_a_collection_holds_and_silence_is_no_no() {
    let listable = |members: Value| {
        let mut entry = json!({ "uri": "a:b" });
        entry.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let page = resource_page(&raw(&json!({ "resources": [entry] }))).unwrap();
        (page.items[0].listable, page.contradictory)
    };
    assert_eq!(listable(json!({})), (None, 0));
    assert_eq!(listable(json!({ "resourceType": "collection" })), (Some(true), 0));
    assert_eq!(listable(json!({ "isCollection": false })), (Some(false), 0));
    let both = json!({ "isCollection": false, "resourceType": "collection" });
    assert_eq!(listable(both), (Some(false), 1));
    let three = json!({ "isCollection": false, "capabilities": { "list": true } });
    assert_eq!(listable(three), (Some(true), 1));
}

#[test]
fn our_own_words_about_a_resource_hold_over_equal_ones() {
    let entry = json!({ "uri": "a:b", "_meta": { "dev.refdesk/etag": "old", "other": 1 } });
    let mut resource = listed(&entry);
    assert_eq!(resource.etag.as_deref(), Some("old"));
    resource.etag = Some("new".to_owned());
    resource.title = Some("ours".to_owned());
    resource.extra.set(resource::MemberPlace::TopLevel, "title", "5");
    let told = written(&resource, newest());
    assert_eq!(told["_meta"], json!({ "dev.refdesk/etag": "new", "other": 1 }));
    assert_eq!(told["title"], "ours");
}

#[test]
fn a_revision_without_room_for_more_gets_no_more() {
    let resource = listed(&json!({ "uri": "a:b", "name": "n", "x": 1, "_meta": { "y": 2 } }));
    for revision in Revision::ALL {
        let told = written(&resource, Dialect::full(revision));
        assert_eq!(told.get("x").is_some(), revision.knows_meta());
        assert_eq!(told.get("_meta").is_some(), revision.knows_meta());
    }
}

#[test]
fn content_is_text_as_it_is_or_bytes() {
    let asked = Uri::parse("a:asked").unwrap();
    let read =
        |contents: Value| read_result(&(&*raw(&json!({ "contents": contents }))).into(), &asked);
    let ReadResult::Contents(elements, ..) = read(json!([
        { "text": "ж\u{0}\"" }, { "uri": "a:c", "blob": "AP+A\n" }, { "uri": "a:d" },
    ]))
    .unwrap() else {
        panic!()
    };
    let told: Vec<_> =
        elements.iter().map(|e| (e.resource.uri.as_str(), e.is_text, &e.bytes[..])).collect();
    let blob: &[u8] = &[0, 255, 128];
    assert_eq!(
        told,
        [("a:asked", true, "ж\0\"".as_bytes()), ("a:c", false, blob), ("a:d", true, b"")]
    );
    for flaw in
        [json!([{ "text": 5 }]), json!([{ "blob": "*" }]), json!({}), json!([{ "uri": "" }])]
    {
        assert!(read(flaw).is_err());
    }
    let input = raw(&json!({ "resultType": "input_required", "inputRequests": {} }));
    assert!(matches!(read_result(&(&*input).into(), &asked), Ok(ReadResult::InputRequired(_))));
    assert!(metadata_result(&input).is_err());
}

/// K-07.
#[test]
fn a_lifetime_that_is_none_is_zero() {
    let ttl = |told: Value| {
        let page = raw(&json!({ "resources": [], "ttlMs": told, "cacheScope": "public" }));
        resource_page(&page).unwrap().freshness.ttl.as_millis()
    };
    let told = [json!(null), json!(-5), json!("9"), json!(1500), json!(1e300)].map(ttl);
    assert_eq!(told, [0, 0, 0, 1500, super::MAX_TTL.as_millis()]);
}

#[test]
fn a_completion_never_tells_of_fewer_than_it_holds() {
    let told = |value: Value| completion_result(&raw(&json!({ "completion": value }))).unwrap();
    assert_eq!(told(json!({ "values": ["a"], "hasMore": true })).total, 2);
    assert_eq!(told(json!({ "values": ["a"], "total": 0 })).total, 1);
    let many: Vec<String> = (0..150).map(|n| n.to_string()).collect();
    let many = told(json!({ "values": many }));
    assert_eq!((many.values.len(), many.total), (100, 150));
    assert!(completion_result(&raw(&json!({}))).is_err());
}

struct Notes;

impl UriRewrite for Notes {
    fn to_public(&self, local: &str) -> Option<String> {
        Some(format!("notes+{local}"))
    }

    fn to_local(&self, _public: &str) -> Option<String> {
        None
    }
}

/// 1.9: an empty cursor is a cursor.
#[test]
fn a_page_of_tools_keeps_every_description_and_leaves_out_what_has_no_name() {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let page = raw(r#"{"tools":[{"name":"a", "x":1.0},5,{"x":1},{"name":7},
        {"_meta":{"ui":{"resourceUri":"ui://p"}},"name":"b"}],"nextCursor":"","ttlMs":5}"#);
    let page = component_page(&page, ComponentKind::Tool, &Notes).unwrap();
    let told: Vec<_> =
        page.items.iter().map(|one| (one.name.as_str(), one.json.as_str())).collect();
    let ui = r#"{"_meta":{"ui":{"resourceUri":"notes+ui://p"}},"name":"b"}"#;
    assert_eq!(told, [("a", r#"{"name":"a", "x":1.0}"#), ("b", ui)]);
    assert_eq!((page.next.as_deref(), page.freshness.ttl.as_millis()), (Some(""), 5));
    for text in ["{}", "[]", r#"{"prompts":[]}"#, r#"{"tools":[],"nextCursor":5}"#] {
        assert!(component_page(&raw(text), ComponentKind::Tool, &Notes).is_err(), "{text}");
    }
    // K-07 holds for tools as for resources.
    let odd = raw(r#"{"prompts":[],"ttlMs":-1}"#);
    assert!(component_page(&odd, ComponentKind::Prompt, &Notes).unwrap().freshness.ttl.is_zero());
}

#[test]
fn a_list_ends_at_a_huge_cursor_and_keeps_no_huge_entry() {
    let page = |cursor: &str, words: usize| {
        let entry = json!({ "uri": "a:b", "name": "n", "description": "d".repeat(words) });
        let result = json!({ "resources": [entry, { "uri": "a:c" }], "nextCursor": cursor });
        resource_page(&raw(&result)).unwrap()
    };
    let usual = page("c", 1);
    assert_eq!((usual.next.as_deref(), usual.cut, usual.items.len()), (Some("c"), None, 2));
    let cut = page(&"c".repeat(9 << 10), 300 << 10);
    assert_eq!((cut.next, cut.items.len(), cut.skipped), (None, 1, 1));
    assert!(cut.cut.unwrap().contains("8 KiB"));
    let null = raw(&json!({ "resources": [], "nextCursor": null }));
    assert!(resource_page(&null).unwrap().next.is_none());
    assert!(resource_page(&raw(&json!({ "resources": [], "nextCursor": 5 }))).is_err());
}

#[test]
fn a_page_has_a_bound_on_its_entries() {
    let entries: Vec<String> = (0..=100_000).map(|at| format!(r#"{{"uri":"a:{at}"}}"#)).collect();
    let result = format!(r#"{{"resources":[{}],"nextCursor":"c"}}"#, entries.join(","));
    let page = resource_page(&RawValue::from_string(result).unwrap()).unwrap();
    assert_eq!((page.items.len(), page.next), (100_000, None));
    assert!(page.cut.is_some());
}

#[test]
fn an_entry_with_many_unknown_members_is_decoded_in_a_moment() {
    let members: Vec<String> = (0..20_000).map(|at| format!(r#""m{at}":1"#)).collect();
    let result = format!(r#"{{"resources":[{{"uri":"a:b",{}}}]}}"#, members.join(","));
    let page = resource_page(&RawValue::from_string(result).unwrap()).unwrap();
    let kept = page.items[0].extra.members_in(resource::MemberPlace::TopLevel).len();
    assert_eq!(kept, 256);
}
