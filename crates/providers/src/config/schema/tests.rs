//! Tests of the schema subset.

use redaction::Redaction;

use super::{ConfigSchema, SchemaNote, named_schema};
use crate::config::parse::ConfigSyntax;

const SCHEMA: &str = r##"{
  "title": "App", "required": ["db", "name"],
  "properties": {
    "name": {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"},
    "mode": {"title": "Mode", "description": "How it runs", "default": "dev", "enum": ["dev", "prod"]},
    "db": {"$ref": "#/$defs/db"},
    "ports": {"type": "array", "maxItems": 2, "items": {"type": "integer", "maximum": 65535}},
    "level": {"anyOf": [{"type": "integer"}, {"enum": ["high", "low"]}]},
    "any": {"additionalProperties": {"type": "boolean"}}
  },
  "$defs": {"db": {
    "type": "object", "additionalProperties": false,
    "properties": {"port": {"type": "integer", "minimum": 1}, "host": {"const": "h"}, "self": {"$ref": "#/$defs/db"}}
  }}
}"##;

fn note(text: &str, keys: &str) -> SchemaNote {
    let schema = ConfigSchema::new(ConfigSyntax::Json.parse(SCHEMA).unwrap());
    let tree = ConfigSyntax::Toml.parse(text).unwrap();
    let keys: Vec<String> = keys.split_terminator('/').map(str::to_owned).collect();
    schema.note(&tree, &keys, false, &Redaction::default())
}

#[test]
fn a_key_is_described() {
    let told = note("mode = 'dev'", "mode");
    assert_eq!(told.title.as_deref(), Some("Mode"));
    assert_eq!(told.description.as_deref(), Some("How it runs"));
    let json = told.to_json().unwrap();
    assert_eq!(json, r#"{"default":"dev","allowed":["dev","prod"]}"#);
    assert_eq!(note("", "").title.as_deref(), Some("App"));
}

#[test]
fn values_that_do_not_fit_are_marked_without_being_shown() {
    for (text, keys, faults) in [
        ("mode = 'hunter2'", "mode", &["must be one of the allowed values"][..]),
        ("name = 5", "name", &["must be of type string"]),
        (
            "name = 'A'",
            "name",
            &["must match the pattern ^[a-z]+$", "must have at least 2 characters"],
        ),
        ("db.port = 0", "db/port", &["must be at least 1"]),
        ("db.port = 5.0", "db/port", &[]),
        ("db.host = 'x'", "db/host", &["must be the allowed value"]),
        ("db.x = 1", "db/x", &["the schema has no such key"]),
        ("db.self.self.port = '1'", "db/self/self/port", &["must be of type integer"]),
        ("ports = [1, 2, 70000]", "ports", &["must have at most 2 items"]),
        ("ports = [1, 2, 70000]", "ports/2", &["must be at most 65535"]),
        ("level = 'mid'", "level", &["fits none of the alternatives of the schema"]),
        ("level = 'low'", "level", &[]),
        ("any.x = 1", "any/x", &["must be of type boolean"]),
        ("db = 1", "", &["the key name is missing"]),
        ("db.port = '[redacted password short]'", "db/port", &[]),
        ("other = 1", "other", &[]),
    ] {
        assert_eq!(note(text, keys).faults, faults, "{text} at {keys}");
    }
}

#[test]
fn the_schema_that_a_file_names_lies_beside_it() {
    for (path, text, found) in [
        ("a/b.json", r#"{"$schema": "../s.json#x"}"#, Some("s.json")),
        ("b.json", r#"{"$schema": "./sub/s.json"}"#, Some("sub/s.json")),
        ("b.json", r#"{"$schema": "../s.json"}"#, None),
        ("b.json", r#"{"$schema": "https://json.schemastore.org/x"}"#, None),
        ("b.toml", "#:schema s.json\na = 1", Some("s.json")),
        ("b.yaml", "# yaml-language-server: $schema=s.json\na: 1", Some("s.json")),
        ("b.yaml", "a: 1", None),
    ] {
        let tree = ConfigSyntax::of_path(path).unwrap().parse(text).unwrap();
        assert_eq!(named_schema(path, text, &tree).as_deref(), found, "{text}");
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = r##"{"$ref": "#", "allOf": [{"$ref": "#"}], "anyOf": [{"$ref": "#"}]}"##;
    let schema = ConfigSchema::new(ConfigSyntax::Json.parse(schema).unwrap());
    let tree = ConfigSyntax::Toml.parse("a = 1").unwrap();
    schema.note(&tree, &["a".to_owned()], false, &Redaction::default());
}
