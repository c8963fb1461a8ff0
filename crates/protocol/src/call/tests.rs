//! Is a request read completely, and refused for what is wrong with it?

use resource::Uri;
use serde_json::value::RawValue;

use super::{Call, Method, Stretch};
use crate::meta::Meta;
use crate::refusal::Refusal;

fn decode(method: Method, params: &str) -> Result<Call, Refusal> {
    let raw: &RawValue = serde_json::from_str(params).unwrap();
    Call::decode(method, Some(raw), &Meta::of(Some(raw))?, 100)
}

#[test]
fn wrong_types_and_missing_members_are_bad_parameters() {
    for params in [r#"{"uri":5}"#, "{}", "[]", r#"{"uri":"a:b","uri":"a:c"}"#, r#"{"uri":"a b"}"#] {
        assert_eq!(decode(Method::Read, params).unwrap_err().code(), -32602, "{params}");
    }
    let window =
        |inner: &str| format!(r#"{{"uri":"a:b","_meta":{{"dev.refdesk/window":{inner}}}}}"#);
    for inner in ["5", r#"{"offset":-1}"#, r#"{"length":0}"#, r#"{"ofset":1}"#] {
        assert_eq!(decode(Method::Read, &window(inner)).unwrap_err().code(), -32602, "{inner}");
    }
}

#[test]
fn a_window_is_read_from_meta() {
    let call = decode(
        Method::Read,
        r#"{"uri":"a:b","_meta":{"dev.refdesk/window":{"offset":5,"etag":"e"}}}"#,
    );
    let window = Some(Stretch { offset: 5, length: None, etag: Some("e".to_owned()) });
    assert_eq!(call.unwrap(), Call::Read { uri: Uri::parse("a:b").unwrap(), window, reply: None });
}

#[test]
fn a_uri_is_taken_at_the_bound_and_refused_one_past_it() {
    let params = |length: usize| format!(r#"{{"uri":"a:{}"}}"#, "b".repeat(length - 2));
    assert!(decode(Method::Metadata, &params(100)).is_ok());
    assert_eq!(decode(Method::Metadata, &params(101)).unwrap_err().code(), -32602);
}
