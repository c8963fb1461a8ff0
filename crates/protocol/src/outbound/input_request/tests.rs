//! Tests of input requests.

use resource::{Error, Json};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{
    allows_input, decode_input_required, extract_input_response, open_request_state,
    relayable_capabilities, retry_params, seal_request_state, with_input_response,
};

fn text(value: &Value) -> Json {
    value.to_string().into()
}

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

/// M-02, 9.5: the gateway sends no input request that the client did not declare.
#[test]
fn only_what_was_declared_is_asked() {
    let asks =
        |can: Value, method: &str, params: Value| allows_input(&text(&can), method, &text(&params));
    let (elicit, sample) = ("elicitation/create", "sampling/createMessage");
    assert!(!asks(json!({}), elicit, json!({})));
    assert!(!asks(json!({ "elicitation": null }), elicit, json!({})));
    assert!(asks(json!({ "elicitation": {} }), elicit, json!({ "mode": "form" })));
    assert!(!asks(json!({ "elicitation": {} }), elicit, json!({ "mode": "url" })));
    assert!(asks(json!({ "elicitation": { "url": {} } }), elicit, json!({ "mode": "url" })));
    assert!(!asks(json!({ "elicitation": { "url": {} } }), elicit, json!({})));
    assert!(asks(json!({ "sampling": {} }), sample, json!({ "messages": [] })));
    assert!(!asks(json!({ "sampling": {} }), sample, json!({ "tools": [] })));
    assert!(asks(json!({ "sampling": { "tools": {} } }), sample, json!({ "tools": [] })));
    assert!(asks(json!({ "roots": {} }), "roots/list", json!({})));
    assert!(!asks(json!({ "roots": {}, "tools": {} }), "tools/call", json!({})));
}

#[test]
fn capabilities_say_no_more_than_what_is_passed_on() {
    let can = json!({ "roots": { "listChanged": true }, "tasks": {}, "extensions": {
        "io.modelcontextprotocol/ui": { "a": 1 }, "io.modelcontextprotocol/tasks": {} } });
    let left = json!({ "roots": { "listChanged": true }, "extensions": {
        "io.modelcontextprotocol/ui": { "a": 1 } } });
    assert_eq!(value(&relayable_capabilities(&raw(&can), false).unwrap()), left);
}

/// M-01, M-05.
#[test]
fn a_question_is_answered_by_asking_again() {
    let asked = json!({ "resultType": "input_required", "requestState": "st\u{e9}", "inputRequests": {
        "who": { "method": "elicitation/create", "params": { "message": "Who?" } },
        "where": { "method": "roots/list" }, "odd": 5 } });
    let found = decode_input_required(&text(&asked)).unwrap();
    let keys: Vec<_> = found.requests.iter().map(|one| (&*one.key, &*one.method)).collect();
    assert_eq!(keys, [("where", "roots/list"), ("who", "elicitation/create")]);
    assert_eq!(decode_input_required(&text(&json!({ "resultType": "complete" }))), None);
    assert_eq!(decode_input_required(&text(&json!({ "content": [] }))), None);
    let params = json!({ "name": "t", "arguments": { "n": 1.0 }, "requestState": "old",
        "inputResponses": { "old": {} } });
    let answers = [("who".to_owned(), text(&json!({ "action": "accept" })))];
    let second = retry_params(&raw(&params), &answers, found.state.as_ref()).unwrap();
    let expected = json!({ "name": "t", "arguments": { "n": 1.0 }, "requestState": "st\u{e9}",
        "inputResponses": { "who": { "action": "accept" } } });
    assert_eq!(value(second.get()), expected);
    let third = retry_params(&second, &[], None).unwrap();
    assert!(value(third.get()).get("requestState").is_none());
}

#[test]
fn a_reply_goes_from_one_request_into_another() {
    let params = json!({ "uri": "a:b", "requestState": "s", "inputResponses": { "k": {} } });
    let said = extract_input_response(&raw(&params)).unwrap();
    let theirs = with_input_response(&raw(&json!({ "uri": "c:d" })), &said).unwrap();
    let expected = json!({ "uri": "c:d", "requestState": "s", "inputResponses": { "k": {} } });
    assert_eq!(value(theirs.get()), expected);
    assert_eq!(extract_input_response(&raw(&json!({ "uri": "a:b" }))), None);
}

#[test]
fn what_a_server_is_reminded_of_is_closed_and_opened() {
    let result = text(&json!({ "resultType": "input_required", "requestState": "a\"b", "x": 1 }));
    let shut = seal_request_state(&result, |state| Ok(format!("<{state}>").into())).unwrap();
    assert_eq!(value(shut.as_str())["requestState"], "PGEiYj4");
    let open =
        |state: Vec<u8>| Ok(String::from_utf8(state).unwrap().trim_matches(['<', '>']).to_owned());
    assert_eq!(open_request_state(&shut, open).unwrap(), result);
    let none = text(&json!({ "name": "t" }));
    assert_eq!(open_request_state(&none, |_| Err(Error::invalid("never"))).unwrap(), none);
    for odd in [json!(5), json!("not base64")] {
        assert!(open_request_state(&text(&json!({ "requestState": odd })), open).is_err());
    }
}
