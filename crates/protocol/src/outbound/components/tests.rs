//! Tests: requests for upstream tools and prompts, and decoding of the answers.

use resource::UriRewrite;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{call_params, public_error, public_result};
use crate::outbound::response::RpcError;

struct Notes;

impl UriRewrite for Notes {
    fn to_public(&self, local: &str) -> Option<String> {
        Some(format!("notes+{local}"))
    }

    fn to_local(&self, public: &str) -> Option<String> {
        public.strip_prefix("notes+").map(str::to_owned)
    }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

#[test]
fn a_call_carries_the_servers_own_names_and_no_more_than_can_be_passed_on() {
    let said = r#"{"_meta":{"traceparent":"t","io.modelcontextprotocol/clientCapabilities":
        {"elicitation":{"form":{}},"tasks":{},"extensions":{"io.modelcontextprotocol/tasks":{},
        "io.modelcontextprotocol/ui":{"mimeTypes":[]}}}},
        "arguments":{"uri":"notes+a:1","n": 1.0},"name":"notes_echo","requestState":"s"}"#;
    let written = call_params(&said.into(), "echo", &Notes, None).unwrap();
    assert!(!written.get().contains('\n') && written.get().contains("1.0"));
    let written: Value = serde_json::from_str(written.get()).unwrap();
    let capabilities = json!({
        "elicitation": { "form": {} },
        "extensions": {
            "io.modelcontextprotocol/tasks": {},
            "io.modelcontextprotocol/ui": { "mimeTypes": [] },
        },
    });
    let expected = json!({
        "name": "echo",
        "arguments": { "uri": "a:1", "n": 1.0 },
        "requestState": "s",
        "_meta": {
            "traceparent": "t", "io.modelcontextprotocol/clientCapabilities": capabilities,
        },
    });
    assert_eq!(written, expected);
    assert!(call_params(&"[]".into(), "echo", &Notes, None).is_err());
}

#[test]
fn a_result_is_given_as_it_was_written_under_public_names() {
    let text = r#"{ "content":[{"type":"resource_link","uri":"a:1"}] , "x": 1.0 }"#;
    let told = public_result(&raw(text), &Notes);
    assert_eq!(told.as_str(), text.replace("a:1", "notes+a:1"));
}

/// 9.7.
#[test]
fn what_a_server_refuses_is_told_unless_it_is_about_us() {
    let denial =
        |code, data: Option<&str>| RpcError { code, message: "no".to_owned(), data: data.map(raw) };
    let told = public_error(&denial(-7, Some(r#"{"uri":"a:1","x":1.0}"#)), &Notes).unwrap();
    assert_eq!((told.code, told.message.as_str()), (-7, "no"));
    assert_eq!(told.data.unwrap().as_str(), r#"{"uri":"notes+a:1","x":1.0}"#);
    for code in [-32020, -32022, -32029] {
        assert_eq!(public_error(&denial(code, None), &Notes), None);
    }
    assert!(public_error(&denial(-32021, None), &Notes).is_some());
    assert!(public_error(&denial(-32019, None), &Notes).is_some());
}
