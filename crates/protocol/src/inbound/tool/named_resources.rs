//! The resources that a call of a built-in tool names, for the audit.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::raw_object::{parse_elements, parse_string};

#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow)]
    arguments: NamingArguments<'a>,
}

/// The arguments that name resources, of any type.
#[derive(Deserialize)]
struct NamingArguments<'a> {
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uris: Option<&'a RawValue>,
    #[serde(borrow, default)]
    collection: Option<&'a RawValue>,
}

/// The URIs, paths and globs in the arguments of a call: as many as have `max_bytes` together. A
/// longer one is cut.
pub fn named_resources(params: Option<&RawValue>, max_bytes: usize) -> Vec<String> {
    let params = params.and_then(|raw| serde_json::from_str::<CallParams<'_>>(raw.get()).ok());
    let Some(CallParams { arguments }) = params else { return Vec::new() };
    let (mut named, mut left) = (Vec::new(), max_bytes);
    let members = [arguments.uri, arguments.uris, arguments.collection].into_iter().flatten();
    let values = members.flat_map(|raw| match raw.get().starts_with('[') {
        true => parse_elements(raw),
        false => vec![raw],
    });
    for text in values.filter_map(parse_string) {
        let kept = &text[..text.floor_char_boundary(left)];
        if kept.is_empty() && !text.is_empty() {
            break;
        }
        left -= kept.len();
        named.push(kept.to_owned());
    }
    named
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::named_resources;

    fn named(params: &str, max_bytes: usize) -> Vec<String> {
        let params = RawValue::from_string(params.to_owned()).unwrap();
        named_resources(Some(&params), max_bytes)
    }

    #[test]
    fn a_call_names_its_uri_its_uris_and_its_collection() {
        let read = r#"{"name":"resources_read","arguments":{"uri":"a:b","limit":4}}"#;
        assert_eq!(named(read, 99), ["a:b"]);
        let many = r#"{"arguments":{"uris":["a:b","c",5,"d"],"collection":"file:///x/"}}"#;
        assert_eq!(named(many, 99), ["a:b", "c", "d", "file:///x/"]);
        assert_eq!(named(many, 5), ["a:b", "c", "d"]);
        assert_eq!(named(many, 8), ["a:b", "c", "d", "fil"]);
        for odd in [r#"{"arguments":{"query":"word"}}"#, r#"{"arguments":5}"#, "{}", "[]"] {
            assert!(named(odd, 99).is_empty(), "{odd}");
        }
        assert!(named_resources(None, 99).is_empty());
    }
}
