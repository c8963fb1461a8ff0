//! Tests of URI rewriting.

use proptest::prelude::{Just, Strategy, any, prop, proptest};
use proptest::prop_oneof;
use resource::Json;
use serde_json::{Map, Value, json};

use super::{UriLocation, rewrite_uris};

fn public(uri: &str) -> Option<String> {
    uri.contains(':').then(|| format!("notes+{uri}"))
}

fn local(uri: &str) -> Option<String> {
    uri.strip_prefix("notes+").map(str::to_owned)
}

fn up(text: &str, location: UriLocation) -> String {
    rewrite_uris(text, location, &public).as_str().to_owned()
}

#[test]
fn input_requests_inside_input_requests_are_not_followed() {
    let link = r#"{"content":[{"type":"resource_link","uri":"a:1"}]}"#;
    let nested = |levels: usize, inner: &str| {
        let (open, close) = (r#"{"inputRequests":{"a":{"params":"#, "}}}");
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    let once = nested(1, link);
    assert_eq!(up(&once, UriLocation::CallResult), once.replace("a:1", "notes+a:1"));
    let deep = nested(20_000, link);
    assert_eq!(up(&deep, UriLocation::CallResult), deep);
}

#[test]
fn only_the_uris_of_links_and_embedded_resources_change() {
    let text = r#" {"content" : [ {"uri":"a:1","type":"resource_link","x":{"uri":"a:2"}},
        {"type":"resource","uri":"a:3","resource":{"blob":"a:4","uri":"a\u003a5"}},
        {"type":"text","text":"a:6","uri":"a:7"} , 5, null ],
        "uri":"a:8","structuredContent":{"content":[{"type":"resource_link","uri":"a:9"}]},
        "n":1.50e+3 }"#;
    let expected = text.replace(r#""a:1""#, r#""notes+a:1""#);
    let expected = expected.replace(r#""a\u003a5""#, r#""notes+a:5""#);
    assert_eq!(up(text, UriLocation::CallResult), expected);
}

/// Names and types with escapes are the same names and types.
#[test]
fn escapes_hide_no_link() {
    let text = r#"{"content":[{"type":"\u0072esource_link","uri":"a:1"}],
        "messages":[{"content":{"typ\u0065":"r\u0065source_link","uri":"a:2"}}]}"#;
    let expected = text.replace("a:1", "notes+a:1").replace("a:2", "notes+a:2");
    assert_eq!(up(text, UriLocation::CallResult), expected);
    let tool = r#"{"_meta":{"ui\/r\u0065sourceUri":"ui://z"}}"#;
    assert_eq!(up(tool, UriLocation::ToolDescription), tool.replace("ui://", "notes+ui://"));
}

#[test]
fn a_prompt_may_say_one_thing_or_several() {
    let link = r#"{"type":"resource_link","uri":"a:1"}"#;
    let text = format!(r#"{{"messages":[{{"content":{link}}},{{"content":[{link},{link}]}}]}}"#);
    assert_eq!(up(&text, UriLocation::CallResult), text.replace("a:1", "notes+a:1"));
}

#[test]
fn the_page_of_a_tool_is_found_in_both_places() {
    let text = r#"{"name":"t","_meta":{"ui":{"resourceUri":"ui://x","csp":"ui://y"},
        "ui/resourceUri":"ui://z","uri":"ui://w"},"resourceUri":"ui://v"}"#;
    let expected = text.replace("ui://x", "notes+ui://x").replace("ui://z", "notes+ui://z");
    assert_eq!(up(text, UriLocation::ToolDescription), expected);
}

#[test]
fn arguments_that_are_uris_as_a_whole_are_the_servers_own_again() {
    let text = r#"{"uri":"notes+a:1","all":["notes+a:2",{"x":"see notes+a:3"}],"notes+a:4":5}"#;
    let json = rewrite_uris(text, UriLocation::CallArguments, &local);
    let expected = r#"{"uri":"a:1","all":["a:2",{"x":"see notes+a:3"}],"notes+a:4":5}"#;
    assert_eq!(json.as_str(), expected);
}

#[test]
fn names_and_escapes_in_arguments_are_told_from_values() {
    let text = r#"{"notes+a:1" : "\\", "b\":\"notes+a:2": ["notes+a\u003a3","\"notes+a:4\""]}"#;
    let expected = text.replace(r#""notes+a\u003a3""#, r#""a:3""#);
    assert_eq!(rewrite_uris(text, UriLocation::CallArguments, &local).as_str(), expected);
    for odd in [r#"""#, r#""\"#, r#"{"a":"notes+a:1"#, "", "5", "\"\\é"] {
        assert_eq!(rewrite_uris(odd, UriLocation::CallArguments, &local).as_str(), odd);
    }
}

#[test]
fn what_is_no_json_or_of_another_shape_stays_as_it_is() {
    for text in ["", "{", "5", "[]", r#"{"content":5}"#, r#"{"content":{"type":5,"uri":"a:1"}}"#] {
        assert_eq!(up(text, UriLocation::CallResult), text);
        assert_eq!(up(text, UriLocation::ToolDescription), text);
    }
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!("a:uri")),
        Just(json!({ "type": "resource_link", "uri": "a:nested" })),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            extras_of(inner).prop_map(Value::from),
        ]
    })
}

fn extras_of(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    // The prefix keeps these names apart from the members that `rewrite` looks for.
    prop::collection::btree_map("x[a-z\"\\\\é ]{0,6}", value, 0..3)
        .prop_map(|members| members.into_iter().collect())
}

fn extras() -> impl Strategy<Value = Map<String, Value>> {
    extras_of(anything())
}

/// An object with these members and `more`.
fn with(members: &Value, more: Map<String, Value>) -> Value {
    let mut all = more;
    all.extend(members.as_object().unwrap().clone());
    all.into()
}

proptest! {
    #[test]
    fn whatever_else_a_result_holds_survives_and_reversing_restores_it(
        top in extras(), block in extras(), inner in extras(), text in extras(), link in extras(),
        structured in anything(), pretty in any::<bool>(),
    ) {
        let made = |uri: [&str; 2]| {
            let resource = with(&json!({ "uri": uri[0], "text": "a:text" }), inner.clone());
            let content = json!([
                with(&json!({ "type": "resource", "resource": resource }), block.clone()),
                with(&json!({ "type": "text", "text": "a:text" }), text.clone()),
                with(&json!({ "type": "resource_link", "uri": uri[1], "name": "n" }), link.clone()),
            ]);
            let message = with(&json!({ "role": "user", "content": content[2] }), text.clone());
            let result = json!({
                "content": content, "messages": [message], "structuredContent": structured,
            });
            let result = with(&result, top.clone());
            if pretty { serde_json::to_string_pretty(&result) } else { serde_json::to_string(&result) }
                .unwrap()
        };
        let original = Json::from(made(["a:one", "b:two"]));
        let changed = rewrite_uris(original.as_str(), UriLocation::CallResult, &public);
        assert_eq!(changed.as_str(), made(["notes+a:one", "notes+b:two"]));
        assert_eq!(rewrite_uris(changed.as_str(), UriLocation::CallResult, &local), original);
    }
}

#[test]
fn the_user_interface_of_a_result_is_public_too() {
    let text =
        r#"{"content":[],"_meta":{"ui":{"resourceUri":"ui://a"},"ui/resourceUri":"ui://a"}}"#;
    let public = |uri: &str| Some(uri.replace("ui://", "ui://notes/"));
    let told = rewrite_uris(text, UriLocation::CallResult, &public);
    assert_eq!(told.as_str(), text.replace("ui://", "ui://notes/"));
}

/// A rewriting that shows nothing whose name says `secret`.
struct Discreet;

impl resource::UriRewrite for Discreet {
    fn to_public(&self, local: &str) -> Option<String> {
        Some(format!("up+{local}"))
    }

    fn to_local(&self, _: &str) -> Option<String> {
        None
    }

    fn shows(&self, local: &str) -> bool {
        !local.contains("secret")
    }
}

#[test]
fn a_block_that_the_caller_may_not_see_becomes_an_empty_text() {
    let result = r#"{"content":[{"type":"resource_link","uri":"a:secret","name":"secret plan"},
        {"type":"resource","resource":{"uri":"a:\u0073ecret","text":"x"}},
        {"type":"resource_link","uri":"a:open","name":"o"},{"type":"text","text":"t"}]}"#;
    let public = super::publish_uris(result, super::UriLocation::CallResult, &Discreet);
    let public: serde_json::Value = serde_json::from_str(public.as_str()).unwrap();
    let empty = serde_json::json!({ "type": "text", "text": "" });
    let link = serde_json::json!({ "type": "resource_link", "uri": "up+a:open", "name": "o" });
    let text = serde_json::json!({ "type": "text", "text": "t" });
    assert_eq!(public["content"], serde_json::json!([empty, empty, link, text]));
}
