//! Tests of the request encoder.

use std::collections::BTreeMap;

use proptest::prelude::{ProptestConfig, any, proptest};
use resource::{PromptCompletionRequest, ReadRequest, SectionChoice, SectionUnit, Window};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{
    ClientIdentity, RequestStyle, UpstreamRequest, is_idempotent, listen_params, mcp_name, methods,
    next_page_params, prompt_completion_params, window_params,
};
use crate::inbound::call::{Call, Method};
use crate::inbound::request_meta::RequestMeta;
use crate::revision::Revision;

const ALONE: RequestStyle = RequestStyle::Stateless(Revision::V2026_07_28);

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn written(params: Option<&str>, style: RequestStyle, progress: bool) -> String {
    let asker = ClientIdentity::new("c", "1", None);
    let params = params.map(raw);
    let question =
        UpstreamRequest { id: 7, method: "m", params: params.as_deref(), progress, trace: None };
    String::from_utf8(asker.encode_request(question, style).unwrap()).unwrap()
}

/// 1.2: every stateless request carries three members in `_meta`.
#[test]
fn a_request_that_stands_alone_says_what_it_speaks_and_who_asks() {
    let written: Value = serde_json::from_str(&written(None, ALONE, true)).unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 7,
    });
    let expected = json!({ "jsonrpc": "2.0", "id": 7, "method": "m", "params": { "_meta": meta } });
    assert_eq!(written, expected);
}

#[test]
fn a_request_in_a_session_says_no_more_than_the_caller_did() {
    assert_eq!(
        written(None, RequestStyle::Session, false),
        r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#
    );
    let params = r#"{ "b":1.50e3, "a":[ 1 ] }"#;
    let expected = r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"b":1.50e3,"a":[ 1 ]}}"#;
    assert_eq!(written(Some(params), RequestStyle::Session, false), expected);
}

/// 9.8, 9.9: client info and progress token are ours; trace context passes through.
#[test]
fn what_the_caller_said_in_meta_stays_unless_it_is_ours_to_say() {
    let params = r#"{"_meta":{"traceparent":"t","progressToken":"theirs",
        "io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/protocolVersion":"x",
        "io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}"#;
    let told: Value = serde_json::from_str(&written(Some(params), ALONE, false)).unwrap();
    let meta = &told["params"]["_meta"];
    assert_eq!(meta["traceparent"], "t");
    assert_eq!(meta["progressToken"], Value::Null);
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "c");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({ "roots": {} }));
    let told: Value =
        serde_json::from_str(&written(Some(params), RequestStyle::Session, false)).unwrap();
    assert_eq!(told["params"]["_meta"], json!({ "traceparent": "t" }));
}

#[test]
fn parameters_that_are_no_object_are_not_sent() {
    let asker = ClientIdentity::new("c", "1", None);
    for params in ["[]", "5", r#"{"_meta":5}"#] {
        let params = raw(params);
        let question = UpstreamRequest {
            id: 7,
            method: "m",
            params: Some(&params),
            progress: false,
            trace: None,
        };
        assert!(asker.encode_request(question, ALONE).is_err(), "{params}");
    }
}

/// 1.3: the methods that carry `Mcp-Name`.
#[test]
fn a_header_repeats_a_name_where_the_method_has_one() {
    let params = raw(r#"{"uri":"u:é","name":"n","taskId":"t"}"#);
    assert_eq!(mcp_name(methods::READ_RESOURCE, Some(&params)).as_deref(), Some("u:é"));
    assert_eq!(mcp_name(methods::CALL_TOOL, Some(&params)).as_deref(), Some("n"));
    assert_eq!(mcp_name("tasks/get", Some(&params)).as_deref(), Some("t"));
    assert_eq!(mcp_name(methods::LIST_RESOURCES, Some(&params)), None);
}

#[test]
fn only_what_does_no_more_when_asked_twice_is_idempotent() {
    assert!(
        is_idempotent(methods::READ_RESOURCE)
            && is_idempotent(methods::LIST_TOOLS)
            && is_idempotent(methods::PING)
    );
    assert!(!is_idempotent(methods::CALL_TOOL) && !is_idempotent("files/create"));
}

#[test]
fn a_list_goes_on_with_the_parameters_it_began_with() {
    let params = raw(r#"{"uri":"u:x","cursor":"old"}"#);
    assert_eq!(next_page_params(Some(&params), "").unwrap().get(), r#"{"uri":"u:x","cursor":""}"#);
    let listening: Value = serde_json::from_str(listen_params(["a:b"]).get()).unwrap();
    assert_eq!(listening["notifications"]["resourceSubscriptions"], json!(["a:b"]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_parameters_arrive_as_they_were(key in ".*", text in ".*", number in any::<i64>()) {
        let members = json!({ key.clone(): text, "n": number });
        let told: Value =
            serde_json::from_str(&written(Some(&members.to_string()), RequestStyle::Session, false)).unwrap();
        if key != "_meta" {
            assert_eq!(told["params"], members);
        }
    }
}

#[test]
fn a_completion_request_carries_the_arguments_that_have_a_value_if_there_are_any() {
    let params = |resolved: &[(String, String)]| -> Value {
        let resolved = &BTreeMap::from_iter(resolved.to_vec());
        let (prompt, argument, typed) = ("p", "a", "t");
        let request = PromptCompletionRequest { prompt, argument, typed, resolved };
        serde_json::from_str(prompt_completion_params(&request).get()).unwrap()
    };
    let reference = json!({ "type": "ref/prompt", "name": "p" });
    let argument = json!({ "name": "a", "value": "t" });
    assert_eq!(params(&[]), json!({ "ref": reference, "argument": argument }));
    let resolved = [("b".to_owned(), "v".to_owned())];
    assert_eq!(params(&resolved)["context"], json!({ "arguments": { "b": "v" } }));
}

/// A gateway passes on what it was asked for, and the refdesk behind it decodes the same.
#[test]
fn sections_and_formats_come_to_another_refdesk_as_they_were_asked_for() {
    let decoded = |request: &ReadRequest| {
        let params = window_params("a:b", request);
        let meta = RequestMeta::decode(Some(&params)).unwrap();
        match Call::decode(Method::Read, Some(&params), &meta, 100).unwrap() {
            Call::Read { window, accept, .. } => (window, accept),
            other => panic!("{other:?}"),
        }
    };
    let pages = |text| SectionChoice::parse_range(SectionUnit::Page, text).unwrap();
    let sections = [
        pages("2"),
        pages("3-5"),
        SectionChoice::sheet("2 & 3"),
        SectionChoice::sheet("2"),
        SectionChoice::number(SectionUnit::Sheet, 2),
        SectionChoice::parse_range(SectionUnit::Slide, "1-2").unwrap(),
        SectionChoice::number(SectionUnit::Chapter, 7),
    ];
    let part = Window::Part { offset: 0, length: 10, etag: Some("e".to_owned()) };
    for section in sections {
        for window in [part.clone(), Window::Whole { limit: 5 }] {
            let format = Some("text/markdown".to_owned());
            let section = Some(section.clone());
            let request = ReadRequest { format, section, ..window.into() };
            let (window, accept) = decoded(&request);
            let window = window.unwrap();
            assert_eq!((&window.format, &window.section), (&request.format, &request.section));
            assert_eq!(accept, [""; 0]);
        }
    }
    let whole =
        ReadRequest { format: Some("text/plain".to_owned()), ..ReadRequest::whole(u64::MAX) };
    assert_eq!(decoded(&whole), (None, vec!["text/plain".to_owned()]));
}
