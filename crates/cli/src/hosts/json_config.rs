//! JSON config files of hosts: parsing, and edits that keep comments, order and indentation.

use anyhow::Context;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::Value;

use super::config_value::ConfigValue;

/// JSON as hosts accept it: with comments and trailing commas.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses the text of a file; an empty one is an empty object. An error has line and column, and
/// repeats no text, which may be a secret.
pub(crate) fn parse(text: &str) -> anyhow::Result<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Option<Value> = parse_to_serde_value(text, &OPTIONS)?;
    Ok(value.unwrap_or_else(|| Value::Object(serde_json::Map::new())))
}

/// Sets the entry `name` in the object at `keys`.
pub(super) fn set(
    text: &str,
    keys: &[&str],
    name: &str,
    value: &ConfigValue,
) -> anyhow::Result<String> {
    let root = CstRootNode::parse(text, &OPTIONS)?;
    let mut object = root.object_value_or_create().context("the file holds no JSON object")?;
    for key in keys {
        object = object
            .object_value_or_create(key)
            .with_context(|| format!("{key:?} does not hold a JSON object"))?;
    }
    match object.get(name) {
        Some(member) => member.set_value(input_value(value)),
        None => {
            object.append(name, input_value(value));
        }
    }
    Ok(root.to_string())
}

/// Removes the entry `name` from the object at `keys`.
pub(super) fn remove(text: &str, keys: &[&str], name: &str) -> anyhow::Result<String> {
    let root = CstRootNode::parse(text, &OPTIONS)?;
    let mut object = root.object_value();
    for key in keys {
        object = object.and_then(|object| object.object_value(key));
    }
    if let Some(member) = object.and_then(|object| object.get(name)) {
        member.remove();
    }
    Ok(root.to_string())
}

fn input_value(value: &ConfigValue) -> CstInputValue {
    match value {
        ConfigValue::Text(text) => CstInputValue::String(text.clone()),
        ConfigValue::Number(number) => CstInputValue::Number(number.to_string()),
        ConfigValue::Flag(flag) => CstInputValue::Bool(*flag),
        ConfigValue::List(list) => CstInputValue::Array(list.iter().map(input_value).collect()),
        ConfigValue::Table(pairs) => {
            let pair = |(key, value): &(String, ConfigValue)| (key.clone(), input_value(value));
            CstInputValue::Object(pairs.iter().map(pair).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse;

    #[test]
    fn comments_and_trailing_commas_are_left_out_and_texts_are_not_touched() {
        let text = "\u{feff}// first\n{ \"a\": [1, 2, /* , ] */ ], // \"b\": 1,\n\
                    \"url\": \"https://h/*x*/,]\\\"//\", /* é\n*/ }";
        let read = json!({ "a": [1, 2], "url": "https://h/*x*/,]\"//" });
        assert_eq!(parse(text).unwrap(), read);
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_without_the_text() {
        let told = parse("{ /* 1\n2 */ \"a\": hunter2 }").unwrap_err().to_string();
        assert!(told.contains("line 2 column 11") && !told.contains("hunter2"), "{told}");
        for text in ["/*", "\"", "\"\\", ",", "[1,,]", "{,}"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err(), "nested too deeply");
    }
}
