//! The basics of JSON Schema: which keyword of a schema has a value that no dialect allows.

use serde_json::Value;

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
/// Keywords whose value is a schema.
const SCHEMAS: [&str; 11] = [
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalItems",
];
/// Keywords whose value is a list of schemas.
const SCHEMA_LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is an object of schemas.
const SCHEMA_MAPS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const COUNTS: [&str; 6] =
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const TEXTS: [&str; 6] = ["$ref", "$schema", "$id", "title", "description", "pattern"];
const NUMBERS: [&str; 3] = ["minimum", "maximum", "multipleOf"];

/// What is wrong with a schema, and where. The depth is that of the JSON, which is bounded.
pub(super) fn schema_fault(schema: &Value) -> Option<String> {
    find_fault(schema, &mut Vec::new())
}

fn find_fault<'a>(schema: &'a Value, path: &mut Vec<&'a str>) -> Option<String> {
    let at = |path: &[&str], what: String| Some(format!("at /{}: {what}", path.join("/")));
    if schema.is_boolean() {
        return None;
    }
    let Some(members) = schema.as_object() else {
        return at(path, format!("{schema} is no schema"));
    };
    for (keyword, value) in members {
        if let Some(what) = keyword_fault(keyword, value) {
            return at(path, what);
        }
        path.push(keyword);
        let fault = inner_fault(keyword, value, path);
        path.pop();
        if fault.is_some() {
            return fault;
        }
    }
    None
}

/// What is wrong with the value of a keyword, apart from schemas in it.
fn keyword_fault(keyword: &str, value: &Value) -> Option<String> {
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let is_list = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    let is_right = match keyword {
        "type" => {
            is_type(value)
                || value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_type))
        }
        "required" => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        "enum" => value.is_array(),
        _ if COUNTS.contains(&keyword) => value.as_f64().is_some_and(|count| count >= 0.0),
        _ if TEXTS.contains(&keyword) => value.is_string(),
        _ if NUMBERS.contains(&keyword) => value.is_number(),
        _ if SCHEMA_LISTS.contains(&keyword) => is_list(value),
        _ if SCHEMA_MAPS.contains(&keyword) => value.is_object(),
        _ => true,
    };
    (!is_right).then(|| format!("{keyword} is {value}"))
}

/// The fault in the schemas that a keyword holds.
fn inner_fault<'a>(keyword: &str, value: &'a Value, path: &mut Vec<&'a str>) -> Option<String> {
    if SCHEMAS.contains(&keyword) {
        // Older dialects have a list of schemas in `items`.
        return match value.as_array().filter(|_| keyword == "items") {
            Some(list) => list.iter().find_map(|schema| find_fault(schema, path)),
            None => find_fault(value, path),
        };
    }
    if SCHEMA_LISTS.contains(&keyword) {
        return value.as_array()?.iter().find_map(|schema| find_fault(schema, path));
    }
    if !SCHEMA_MAPS.contains(&keyword) {
        return None;
    }
    value.as_object()?.iter().find_map(|(name, schema)| {
        path.push(name);
        let fault = find_fault(schema, path);
        path.pop();
        fault
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::schema_fault;

    #[test]
    fn a_schema_is_right_or_the_place_of_its_fault_is_named() {
        for schema in [
            json!({ "type": "object", "properties": { "a": { "type": ["string", "null"] } } }),
            json!({ "type": "object", "properties": { "type": { "enum": [1] }, "b": true } }),
            json!({ "anyOf": [{ "$ref": "#/$defs/x" }], "$defs": { "x": {} }, "x-own": 1 }),
        ] {
            assert_eq!(schema_fault(&schema), None, "{schema}");
        }
        for (schema, place) in [
            (json!({ "type": "text" }), "at /: type"),
            (json!({ "properties": { "a": { "type": "str" } } }), "at /properties/a: type"),
            (json!({ "properties": { "a": "string" } }), "at /properties/a:"),
            (json!({ "required": "a" }), "at /: required"),
            (json!({ "anyOf": [] }), "at /: anyOf"),
            (json!({ "items": { "enum": 1 } }), "at /items: enum"),
        ] {
            let fault = schema_fault(&schema).unwrap_or_default();
            assert!(fault.starts_with(place), "{schema}: {fault}");
        }
    }
}
