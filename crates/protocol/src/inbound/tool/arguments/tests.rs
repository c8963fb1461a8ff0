//! Tests of the arguments of the built-in tools: what a schema says is what a call gets.

use serde_json::{Value, json};

use super::{GrepMode, SearchBy, SortOrder};
use crate::inbound::tool::{BuiltinTool, ToolArguments};

fn read(tool: BuiltinTool, arguments: &Value) -> Result<ToolArguments, String> {
    ToolArguments::decode(
        tool,
        &json!({ "name": tool.name(), "arguments": arguments }).to_string().into(),
    )
}

#[test]
fn nothing_at_all_is_enough_where_nothing_is_required() {
    for params in ["{}", r#"{"arguments":null}"#, r#"{"arguments":{}}"#] {
        assert!(ToolArguments::decode(BuiltinTool::List, &params.into()).is_ok());
        assert!(
            ToolArguments::decode(BuiltinTool::Read, &params.into()).unwrap_err().contains("`uri`")
        );
    }
}

#[test]
fn filters_are_read() {
    let given = json!({ "collection": "a:b", "name": "n", "uri": "**/*.md", "mime": "text/",
        "audience": "user", "min_priority": 0.5, "modified_since": "2026-01-31",
        "mount": "notes", "sort": "size", "recursive": true });
    let Ok(ToolArguments::List(list)) = read(BuiltinTool::List, &given) else { panic!() };
    assert_eq!(list.sort, Some(SortOrder::Size));
    assert_eq!(list.filter.collection.unwrap(), "a:b");
    assert!(list.filter.modified_since.is_some() && list.recursive);
}

#[test]
fn what_is_wrong_is_said_in_words() {
    for (tool, given, words) in [
        (BuiltinTool::List, json!({ "order": 1 }), "`order`; valid arguments are collection"),
        (BuiltinTool::List, json!({ "sort": "age" }), "expected one of"),
        (BuiltinTool::List, json!({ "modified_since": "soon" }), "is not a time such as"),
        (BuiltinTool::Read, json!({ "uri": "a:b", "limit": 1 }), "unknown field `limit`"),
        (BuiltinTool::Read, json!({ "uri": "a:b", "offset": -1 }), "-1"),
        (BuiltinTool::Metadata, json!({ "uris": [] }), "between 1 and 100"),
        (BuiltinTool::Metadata, json!({ "uris": 5 }), "an array of URIs"),
        (BuiltinTool::Grep, json!({}), "`pattern`"),
        (BuiltinTool::Changes, json!([]), "not an object"),
    ] {
        let flaw = read(tool, &given).unwrap_err();
        assert!(flaw.contains(words) && flaw.starts_with(tool.name()), "{flaw}");
    }
    assert!(ToolArguments::decode(BuiltinTool::List, &"[]".into()).is_err());
}

#[test]
fn an_argument_that_is_passed_twice_is_refused() {
    let params = r#"{"arguments":{"uri":"a:b","uri":"a:c"}}"#;
    let flaw = ToolArguments::decode(BuiltinTool::Read, &params.into()).unwrap_err();
    assert!(flaw.contains("duplicate field `uri`"), "{flaw}");
}

#[test]
fn defaults_and_bounds_are_those_of_the_schema() {
    let schema = |tool: BuiltinTool| -> Value {
        let whole: Value = serde_json::from_str(tool.definition().json.as_str()).unwrap();
        whole["inputSchema"]["properties"].clone()
    };
    let grep = |given: Value| match read(BuiltinTool::Grep, &given) {
        Ok(ToolArguments::Grep(grep)) => (grep.context, grep.max_matches),
        other => panic!("{other:?}"),
    };
    assert_eq!(grep(json!({ "pattern": "a" })), (0, 100));
    let [most, least] = [9999, 0].map(|n| {
        json!({ "pattern": "a", "context": n,
        "max_matches": n })
    });
    let offered = schema(BuiltinTool::Grep);
    let bound = |name: &str, end: &str| offered[name][end].as_u64().unwrap();
    assert_eq!(grep(most), (bound("context", "maximum"), bound("max_matches", "maximum")));
    assert_eq!(grep(least), (bound("context", "minimum"), bound("max_matches", "minimum")));
    assert!(
        schema(BuiltinTool::Read)["max_bytes"]["description"]
            .as_str()
            .unwrap()
            .ends_with("default 25000")
    );
}

/// Models read the beginning of a schema best.
#[test]
fn required_arguments_come_first() {
    for tool in BuiltinTool::ALL {
        let schema = tool.input_schema();
        let parsed: Value = serde_json::from_str(&schema).unwrap();
        for (at, name) in parsed["required"].as_array().into_iter().flatten().enumerate() {
            assert_eq!(at, 0, "one required argument a tool");
            let first = format!("{{\"type\":\"object\",\"properties\":{{{name}:");
            assert!(schema.starts_with(&first), "{schema}");
        }
    }
}

#[test]
fn one_uri_is_as_good_as_an_array_of_one() {
    assert!(read(BuiltinTool::Metadata, &json!({ "uris": "a:b" })).is_ok());
}

fn properties(tool: BuiltinTool) -> serde_json::Map<String, Value> {
    let schema: Value = serde_json::from_str(&tool.input_schema()).unwrap();
    schema["properties"].as_object().unwrap().clone()
}

/// A call of `tool` that passes what is required, and `more`.
fn with_required(tool: BuiltinTool, more: &Value) -> Result<ToolArguments, String> {
    let schema: Value = serde_json::from_str(&tool.input_schema()).unwrap();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let required = required.iter().map(|name| (name.as_str().unwrap().to_owned(), json!("a:b")));
    let mut given: serde_json::Map<_, _> = required.collect();
    given.extend(more.as_object().unwrap().clone());
    read(tool, &given.into())
}

#[test]
fn null_is_as_good_as_no_argument_in_every_tool() {
    for tool in BuiltinTool::ALL {
        let without = with_required(*tool, &json!({})).unwrap();
        for name in properties(*tool).keys() {
            let given = with_required(*tool, &json!({ name: null }));
            match read(*tool, &json!({ name: null })) {
                Err(flaw) if flaw.contains(&format!("missing field `{name}`")) => {}
                _ => assert_eq!(given.as_ref(), Ok(&without), "{}: {name}", tool.name()),
            }
        }
    }
}

/// Nothing of a call depends on a limit that the schema does not tell: an amount is moved between
/// the bounds, and any other number is refused.
#[test]
fn no_number_outside_the_bounds_of_a_schema_reaches_a_tool() {
    let mut bounds = 0;
    for tool in BuiltinTool::ALL {
        for (name, schema) in properties(*tool) {
            let Some(most) = schema["maximum"].as_u64() else { continue };
            bounds += 1;
            let at_most = with_required(*tool, &json!({ &name: most })).unwrap();
            match with_required(*tool, &json!({ &name: most + 4 })) {
                Ok(beyond) => assert_eq!(beyond, at_most, "{}: {name}", tool.name()),
                Err(flaw) => assert!(flaw.contains(&format!("{name}: {}", most + 4)), "{flaw}"),
            }
        }
    }
    assert!(bounds >= 8, "{bounds} arguments with a maximum");
    let flaw = with_required(BuiltinTool::List, &json!({ "min_priority": 5 })).unwrap_err();
    assert!(flaw.ends_with("min_priority: 5 is not between 0 and 1"), "{flaw}");
    assert!(with_required(BuiltinTool::Grep, &json!({ "min_priority": -0.1 })).is_err());
    assert!(with_required(BuiltinTool::List, &json!({ "min_priority": 1.0 })).is_ok());
    let embedded = with_required(BuiltinTool::ReadEmbedded, &json!({ "max_bytes": u64::MAX }));
    let Ok(ToolArguments::ReadEmbedded(embedded)) = embedded else { panic!("{embedded:?}") };
    assert_eq!(
        Some(embedded.max_bytes),
        properties(BuiltinTool::ReadEmbedded)["max_bytes"]["maximum"].as_u64()
    );
}

#[test]
fn a_default_is_the_one_that_its_description_names() {
    let Ok(ToolArguments::Grep(grep)) = with_required(BuiltinTool::Grep, &json!({})) else {
        panic!()
    };
    let text = |tool: BuiltinTool, name: &str| {
        properties(tool)[name]["description"].as_str().unwrap().to_owned()
    };
    assert!(text(BuiltinTool::Grep, "recursive").ends_with("; default true") && grep.recursive);
    assert!(text(BuiltinTool::Grep, "output").starts_with("lines (default)"));
    assert_eq!(grep.output, GrepMode::Lines);
    let Ok(ToolArguments::Search(search)) = with_required(BuiltinTool::Search, &json!({})) else {
        panic!()
    };
    assert!(text(BuiltinTool::Search, "mode").ends_with("both (default)"));
    assert_eq!(search.mode, SearchBy::Both);
}
