//! Tests of the parser for messages from upstream servers.

use resource::ComponentKind;
use serde_json::value::RawValue;

use super::{MessageStart, RpcError, UpstreamNotification, classify_start, common_revision};
use crate::json::frame::{Message, RequestId, parse_lenient};

fn one(text: &str) -> Message<'_> {
    parse_lenient(text.as_bytes()).unwrap().remove(0)
}

#[test]
fn a_result_is_kept_byte_for_byte() {
    for result in [
        r#"{ "a" : 1.000, "big":123456789012345678901234567890e-3,"a":2 , "e":"\ud800\u00e9é" }"#,
        "null",
        "[ ]",
        "-0",
    ] {
        let text = format!(r#"{{"x":1,"result": {result} ,"id":7,"jsonrpc":"2.0"}}"#);
        let Message::Response { id, outcome } = one(&text) else { panic!() };
        assert_eq!(outcome.unwrap().get(), result);
        assert_eq!(id, Some(RequestId::Number("7".into())));
    }
}

#[test]
fn an_error_is_an_error_however_poor_it_is() {
    let denial = |error: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#);
        let Message::Response { id: None, outcome: Err(error) } = one(&text) else { panic!() };
        RpcError::decode(error)
    };
    let full = denial(r#"{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}"#);
    assert!(full.is_stateless_era() && full.is_unsupported_revision());
    assert_eq!(full.supported_revisions(), ["2026-07-28"]);
    assert_eq!(full.data.unwrap().get(), r#"{"supported":["2026-07-28"]}"#);
    for poor in ["{}", "5", r#"{"code":"x"}"#] {
        assert!(!denial(poor).is_stateless_era());
    }
}

/// 1.5: real servers report a missing resource in several ways.
#[test]
fn a_missing_resource_is_known_by_many_codes() {
    let told = |code: i64, message: &str, data: &str| {
        let error = format!(r#""code":{code},"message":"{message}","data":{data}"#);
        let text = format!(r#"{{"id":1,"error":{{{error}}}}}"#);
        let Message::Response { outcome: Err(denial), .. } = one(&text) else { panic!() };
        RpcError::decode(denial).is_resource_not_found()
    };
    let missing = |code, message| told(code, message, "null");
    assert!(missing(-32002, "") && missing(0, "Unknown resource: x"));
    assert!(missing(-32603, "Resource not found") && missing(-32602, "Resource x not found"));
    assert!(!missing(-32603, "it broke") && !missing(5, "not found"));
    // SEP-2164: the data names the resource; other invalid parameters have the same code.
    assert!(told(-32602, "Invalid params", r#"{"uri":"a:b"}"#));
    assert!(!missing(-32602, "Invalid params") && !missing(-32602, "the region is not allowed"));
    assert!(!told(-32602, "over the limit of 5 bytes", r#"{"uri":"a:b"}"#));
}

#[test]
fn what_is_no_message_is_refused_and_a_batch_is_taken() {
    for text in ["", "{", "5", "{}", "hello", r#"{"id":1}"#] {
        assert!(parse_lenient(text.as_bytes()).is_err(), "{text}");
    }
    assert!(parse_lenient(b"{\"method\":\"\xff\"}").is_err());
    let batch = r#"[{"method":"a"},{"id":1,"result":{}}]"#;
    assert_eq!(parse_lenient(batch.as_bytes()).unwrap().len(), 2);
    assert!(matches!(one(r#"{"id":"x","method":"m"}"#), Message::Request { .. }));
}

#[test]
fn a_notification_is_known_by_what_it_is_about() {
    let news = |method: &str, params: &str| {
        let params: Box<RawValue> = RawValue::from_string(params.to_owned()).unwrap();
        UpstreamNotification::decode(method, Some(&params))
    };
    let updated = news("notifications/resources/updated", r#"{"uri":"a:b"}"#);
    assert_eq!(updated, UpstreamNotification::ResourceUpdated("a:b".to_owned()));
    for (list, told) in [
        ("resources", UpstreamNotification::ResourceListChanged),
        ("tools", UpstreamNotification::ComponentListChanged(ComponentKind::Tool)),
        ("prompts", UpstreamNotification::ComponentListChanged(ComponentKind::Prompt)),
        ("others", UpstreamNotification::Other),
    ] {
        assert_eq!(news(&format!("notifications/{list}/list_changed"), "{}"), told);
    }
    assert_eq!(news("notifications/resources/updated", "{}"), UpstreamNotification::Other);
    let listen = RequestId::Number("7".into());
    let acknowledged = news(
        "notifications/subscriptions/acknowledged",
        r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":7},
            "notifications":{"resourceSubscriptions":["a:b"]}}"#,
    );
    assert_eq!(
        acknowledged,
        UpstreamNotification::Acknowledged { listen_id: listen, uris: vec!["a:b".to_owned()] }
    );
    let progress = news("notifications/progress", r#"{"progressToken":7,"progress":0.5}"#);
    assert!(
        matches!(progress, UpstreamNotification::Progress { step, .. } if step.total.is_none())
    );
}

#[test]
fn a_revision_in_common_stands_alone() {
    assert_eq!(
        common_revision(["2025-11-25", "2026-07-28"]).map(|r| r.as_str()),
        Some("2026-07-28")
    );
    assert_eq!(common_revision(["2025-11-25", "2030-01-01"]), None);
}

#[test]
fn a_message_is_told_by_its_beginning_if_its_id_comes_first() {
    assert_eq!(
        classify_start(br#"{"jsonrpc":"2.0","id":7,"result":{"text":"aaaa"#),
        MessageStart::Response(7)
    );
    assert_eq!(
        classify_start(br#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"a"#),
        MessageStart::Unsolicited
    );
    assert_eq!(classify_start(br#"{"method":"m","id":7,"params":{"a"#), MessageStart::Unsolicited);
    assert_eq!(classify_start(br#"{"result":{"id":7,"text":"aaaa"#), MessageStart::Unknown);
    assert_eq!(classify_start(b"garbage"), MessageStart::Unknown);
    assert_eq!(classify_start(br#"{"id":12"#), MessageStart::Unknown, "more digits may follow");
    assert_eq!(classify_start(br#"{"id":12}"#), MessageStart::Response(12));
}
