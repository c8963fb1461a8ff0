//! Tests of the request decoder.

use resource::Uri;
use serde_json::value::RawValue;

use super::{Call, Method, WindowExtent, WindowRequest};
use crate::inbound::refusal::Refusal;
use crate::inbound::request_meta::RequestMeta;

fn decode(method: Method, params: &str) -> Result<Call, Refusal> {
    let raw: &RawValue = serde_json::from_str(params).unwrap();
    Call::decode(method, Some(raw), &RequestMeta::decode(Some(raw))?, 100)
}

#[test]
fn wrong_types_and_missing_members_are_bad_parameters() {
    for params in [r#"{"uri":5}"#, "{}", "[]", r#"{"uri":"a:b","uri":"a:c"}"#, r#"{"uri":"a b"}"#] {
        assert_eq!(decode(Method::Read, params).unwrap_err().code(), -32602, "{params}");
    }
    let window =
        |inner: &str| format!(r#"{{"uri":"a:b","_meta":{{"dev.refdesk/window":{inner}}}}}"#);
    for inner in [
        "5",
        r#"{"offset":-1}"#,
        r#"{"length":0}"#,
        r#"{"ofset":1}"#,
        r#"{"start_line":0}"#,
        r#"{"max_lines":0}"#,
        r#"{"max_tokens":0}"#,
        r#"{"start_line":1.5}"#,
    ] {
        assert_eq!(decode(Method::Read, &window(inner)).unwrap_err().code(), -32602, "{inner}");
    }
}

fn window(inner: &str) -> Result<Option<WindowRequest>, Refusal> {
    let params = format!(r#"{{"uri":"a:b","_meta":{{"dev.refdesk/window":{inner}}}}}"#);
    match decode(Method::Read, &params)? {
        Call::Read { uri, window, input_response: None, .. }
            if uri == Uri::parse("a:b").unwrap() =>
        {
            Ok(window)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_window_is_read_from_meta() {
    let extents = [
        ("{}", WindowExtent::Bytes { offset: 0, length: None }),
        (r#"{"offset":5}"#, WindowExtent::Bytes { offset: 5, length: None }),
        (r#"{"length":7}"#, WindowExtent::Bytes { offset: 0, length: Some(7) }),
        (r#"{"start_line":9}"#, WindowExtent::Lines { start: 9, max_lines: None }),
        (r#"{"max_lines":3}"#, WindowExtent::Lines { start: 1, max_lines: Some(3) }),
        (r#"{"start_line":9,"max_lines":3}"#, WindowExtent::Lines { start: 9, max_lines: Some(3) }),
        (r#"{"max_tokens":8}"#, WindowExtent::Tokens { offset: 0, max_tokens: 8 }),
        (r#"{"max_tokens":8,"offset":2}"#, WindowExtent::Tokens { offset: 2, max_tokens: 8 }),
    ];
    for (inner, extent) in extents {
        let told = window(inner).unwrap();
        assert_eq!(
            told,
            Some(WindowRequest { extent, format: None, part: None, etag: None, section: None }),
            "{inner}"
        );
    }
    let pinned = window(r#"{"offset":5,"etag":"e"}"#).unwrap().unwrap();
    assert_eq!(pinned.etag.as_deref(), Some("e"));
}

#[test]
fn members_of_a_window_that_contradict_each_other_are_refused_by_name() {
    for (inner, names) in [
        (r#"{"start_line":1,"offset":0}"#, ["start_line", "offset"]),
        (r#"{"max_lines":1,"length":9}"#, ["max_lines", "length"]),
        (r#"{"max_lines":1,"max_tokens":9}"#, ["max_lines", "max_tokens"]),
        (r#"{"length":1,"max_tokens":9}"#, ["length", "max_tokens"]),
    ] {
        let refusal = window(inner).unwrap_err();
        assert_eq!(refusal.code(), -32602, "{inner}");
        let words = format!("{refusal:?}");
        assert!(names.iter().all(|name| words.contains(name)), "{words}");
    }
}

#[test]
fn a_uri_is_taken_at_the_bound_and_refused_one_past_it() {
    let params = |length: usize| format!(r#"{{"uri":"a:{}"}}"#, "b".repeat(length - 2));
    assert!(decode(Method::Metadata, &params(100)).is_ok());
    assert_eq!(decode(Method::Metadata, &params(101)).unwrap_err().code(), -32602);
}

#[test]
fn each_method_has_one_name() {
    let names = [
        "initialize",
        "ping",
        "server/discover",
        "logging/setLevel",
        "resources/list",
        "resources/directory/read",
        "resources/templates/list",
        "resources/read",
        "resources/metadata",
        "resources/subscribe",
        "resources/unsubscribe",
        "completion/complete",
        "subscriptions/listen",
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "skills/list",
        "skills/get",
        "tasks/get",
        "tasks/update",
        "tasks/cancel",
        "dev.refdesk/baskets/save",
        "dev.refdesk/baskets/remove",
    ];
    for name in names {
        assert_eq!(Method::from_name(name).map(Method::as_str), Some(name));
    }
}

#[test]
fn what_is_no_text_in_client_info_counts_as_absent() {
    let label = |info: &str| {
        let params = format!(
            r#"{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{info}}}"#
        );
        match decode(Method::Initialize, &params) {
            Ok(Call::Initialize { client, .. }) => (client.name, client.version),
            other => panic!("{other:?}"),
        }
    };
    let text = |text: &str| Some(text.to_owned().into());
    assert_eq!(label(r#"{"name":"h\u00e9","version":"1"}"#), (text("hé"), text("1")));
    assert_eq!(label(r#"{"name":7,"version":"1"}"#), (None, text("1")));
    assert_eq!(label(r#"{"name":"h","title":{}}"#), (text("h"), None));
    for info in ["null", "[]", "\"h\"", "{}"] {
        assert_eq!(label(info), (None, None), "{info}");
    }
}

#[test]
fn a_basket_has_a_name_and_uris_and_a_bad_one_is_named() {
    let saved = decode(Method::SaveBasket, r#"{"name":"a","uris":["a:1","b:2"]}"#).unwrap();
    let uris = vec![Uri::parse("a:1").unwrap(), Uri::parse("b:2").unwrap()];
    assert_eq!(saved, Call::SaveBasket { name: "a".to_owned(), title: None, uris });
    let long = format!(r#"{{"name":"a","uris":["a:1","a:{}"]}}"#, "b".repeat(99));
    for (params, word) in [
        (r#"{"name":"a","uris":["a:1","no uri"]}"#, "uris[1]"),
        (&long, "uris[1]: longer than 100 bytes"),
        (r#"{"name":"a"}"#, "uris"),
        (r#"{"uris":[]}"#, "name"),
        (r#"{"name":5,"uris":[]}"#, "params"),
        (r#"{"name":"a","uris":"a:1"}"#, "params"),
        (r#"{"name":"a","title":[],"uris":[]}"#, "params"),
        ("[]", "params"),
    ] {
        let refusal = decode(Method::SaveBasket, params).unwrap_err();
        assert_eq!(refusal.code(), -32602, "{params}");
        assert!(refusal.message().contains(word), "{params}: {refusal:?}");
    }
    assert_eq!(decode(Method::RemoveBasket, "{}").unwrap_err().code(), -32602);
}
