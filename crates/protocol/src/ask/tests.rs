//! Tests of the request encoder.

use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Asker, Manner, Question, going_on, is_idempotent, listening, name, verb};
use crate::revision::Revision;

const ALONE: Manner = Manner::Alone(Revision::V2026_07_28);

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn written(params: Option<&str>, manner: Manner, progress: bool) -> String {
    let asker = Asker::new("c", "1", None);
    let params = params.map(raw);
    let question = Question { id: 7, method: "m", params: params.as_deref(), progress };
    String::from_utf8(asker.request(question, manner).unwrap()).unwrap()
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
    assert_eq!(written(None, Manner::Opened, false), r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#);
    let params = r#"{ "b":1.50e3, "a":[ 1 ] }"#;
    let expected = r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"b":1.50e3,"a":[ 1 ]}}"#;
    assert_eq!(written(Some(params), Manner::Opened, false), expected);
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
    let told: Value = serde_json::from_str(&written(Some(params), Manner::Opened, false)).unwrap();
    assert_eq!(told["params"]["_meta"], json!({ "traceparent": "t" }));
}

#[test]
fn parameters_that_are_no_object_are_not_sent() {
    let asker = Asker::new("c", "1", None);
    for params in ["[]", "5", r#"{"_meta":5}"#] {
        let params = raw(params);
        let question = Question { id: 7, method: "m", params: Some(&params), progress: false };
        assert!(asker.request(question, ALONE).is_err(), "{params}");
    }
}

/// 1.3: the methods that carry `Mcp-Name`.
#[test]
fn a_header_repeats_a_name_where_the_method_has_one() {
    let params = raw(r#"{"uri":"u:é","name":"n","taskId":"t"}"#);
    assert_eq!(name(verb::READ, Some(&params)).as_deref(), Some("u:é"));
    assert_eq!(name(verb::CALL, Some(&params)).as_deref(), Some("n"));
    assert_eq!(name("tasks/get", Some(&params)).as_deref(), Some("t"));
    assert_eq!(name(verb::LIST, Some(&params)), None);
}

#[test]
fn only_what_does_no_more_when_asked_twice_is_idempotent() {
    assert!(is_idempotent(verb::READ) && is_idempotent(verb::TOOLS) && is_idempotent(verb::PING));
    assert!(!is_idempotent(verb::CALL) && !is_idempotent("files/create"));
}

#[test]
fn a_list_goes_on_with_the_parameters_it_began_with() {
    let params = raw(r#"{"uri":"u:x","cursor":"old"}"#);
    assert_eq!(going_on(Some(&params), "").unwrap().get(), r#"{"uri":"u:x","cursor":""}"#);
    let listening: Value = serde_json::from_str(listening(["a:b"]).get()).unwrap();
    assert_eq!(listening["notifications"]["resourceSubscriptions"], json!(["a:b"]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_parameters_arrive_as_they_were(key in ".*", text in ".*", number in any::<i64>()) {
        let members = json!({ key.clone(): text, "n": number });
        let told: Value =
            serde_json::from_str(&written(Some(&members.to_string()), Manner::Opened, false)).unwrap();
        if key != "_meta" {
            assert_eq!(told["params"], members);
        }
    }
}
