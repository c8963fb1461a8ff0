//! Arguments of a tool: NAME=VALUE as the schema of the tool reads it, and checks against it.

use serde_json::{Map, Value};

use crate::error::CommandError;

/// The object that `NAME=VALUE` words make, by the schema of the tool.
pub(crate) fn parse_arguments(words: &[String], schema: &Value) -> Result<Value, CommandError> {
    let mut arguments = Map::new();
    for word in words {
        let (name, text) = word
            .split_once('=')
            .ok_or_else(|| CommandError::Usage(format!("{word}: write arguments as NAME=VALUE")))?;
        let property = &schema["properties"][name];
        let value = parse_value(name, text, property)?;
        match arguments.get_mut(name) {
            // A list may also be given word by word.
            Some(Value::Array(list)) => match value {
                Value::Array(more) => list.extend(more),
                one => list.push(one),
            },
            Some(_) => return Err(CommandError::Usage(format!("{name} is given twice"))),
            None => drop(arguments.insert(name.to_owned(), value)),
        }
    }
    let arguments = Value::Object(arguments);
    check_arguments(&arguments, schema)?;
    Ok(arguments)
}

/// The types that a schema allows.
fn types_of(property: &Value) -> Vec<&str> {
    match &property["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => {
            let choices = ["anyOf", "oneOf"].into_iter().filter_map(|key| property[key].as_array());
            choices.flatten().flat_map(types_of).collect()
        }
    }
}

fn parse_value(name: &str, text: &str, property: &Value) -> Result<Value, CommandError> {
    let types = types_of(property);
    let json: Option<Value> = serde_json::from_str(text).ok();
    let is_text = types.contains(&"string");
    let fits = |value: &Value| types.iter().any(|kind| has_type(value, kind));
    match json {
        Some(value) if fits(&value) && (value.is_string() || !is_text) => {
            // A quoted text may be a text with quotes; only a list or an object is surely JSON.
            Ok(if value.is_string() { Value::from(text) } else { value })
        }
        _ if is_text => Ok(Value::from(text)),
        Some(value) if types.is_empty() => Ok(value),
        None if types.is_empty() => Ok(Value::from(text)),
        _ if types.contains(&"array") => {
            let item = parse_value(name, text, &property["items"])?;
            Ok(Value::Array(vec![item]))
        }
        _ => Err(CommandError::Usage(format!(
            "{name}={text}: the tool wants {}",
            types.join(" or ")
        ))),
    }
}

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Checks arguments against what a schema says at its top: names, required ones, types, choices
/// and bounds. What is deeper the server checks.
pub(crate) fn check_arguments(arguments: &Value, schema: &Value) -> Result<(), CommandError> {
    let given = arguments
        .as_object()
        .ok_or_else(|| CommandError::Usage("the arguments must be a JSON object".to_owned()))?;
    let empty = Map::new();
    let known = schema["properties"].as_object().unwrap_or(&empty);
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !given.contains_key(required) {
            let words = known.get(required).and_then(|own| own["description"].as_str());
            let words = words.map_or_else(String::new, |words| format!(": {words}"));
            return Err(CommandError::Usage(format!("{required}= is missing{words}")));
        }
    }
    for (name, value) in given {
        match known.get(name) {
            Some(property) => check_value(name, value, property)?,
            None if schema["additionalProperties"] == Value::Bool(false) => {
                return Err(CommandError::Usage(unknown_words(name, known.keys())));
            }
            None => {}
        }
    }
    Ok(())
}

fn check_value(name: &str, value: &Value, property: &Value) -> Result<(), CommandError> {
    let wrong = |words: String| Err(CommandError::Usage(format!("{name}={value}: {words}")));
    let types = types_of(property);
    if !types.is_empty() && !types.iter().any(|kind| has_type(value, kind)) {
        return wrong(format!("the tool wants {}", types.join(" or ")));
    }
    if let Some(choices) = property["enum"].as_array().filter(|choices| !choices.contains(value)) {
        let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
        return wrong(format!("choose one of {}", choices.join(", ")));
    }
    let number = value.as_f64();
    let bound = |key: &str| property[key].as_f64();
    if let (Some(number), Some(least)) = (number, bound("minimum"))
        && number < least
    {
        return wrong(format!("it must be at least {least}"));
    }
    if let (Some(number), Some(most)) = (number, bound("maximum"))
        && number > most
    {
        return wrong(format!("it must be at most {most}"));
    }
    Ok(())
}

/// What to say of a name that nobody knows: the nearest ones, or all.
pub(crate) fn unknown_words<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> String {
    let mut known: Vec<&String> = known.collect();
    known.sort_by_key(|own| strsim::damerau_levenshtein(own, name));
    let near: Vec<&str> = known.iter().take(8).map(|own| own.as_str()).collect();
    match near.is_empty() {
        true => format!("there is no {name}"),
        false => format!("there is no {name}; known are {}", near.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{check_arguments, parse_arguments};

    fn parsed(words: &[&str], schema: &Value) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        parse_arguments(&words, schema).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_read_as_the_schema_says() {
        let schema = json!({ "properties": {
            "text": { "type": "string" }, "count": { "type": "integer" }, "on": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string" } }, "any": {},
            "maybe": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
        } });
        assert_eq!(
            parsed(
                &[
                    "text=12",
                    "count=3",
                    "on=true",
                    "tags=a",
                    "tags=b",
                    "any={\"x\":1}",
                    "maybe=null"
                ],
                &schema
            ),
            Ok(
                json!({ "text": "12", "count": 3, "on": true, "tags": ["a", "b"], "any": { "x": 1 }, "maybe": "null" })
            )
        );
        assert_eq!(
            parsed(&["tags=[\"a\"]", "text=a=b"], &schema),
            Ok(json!({ "tags": ["a"], "text": "a=b" }))
        );
    }

    #[test]
    fn a_wrong_argument_is_told_before_the_call() {
        let schema = json!({
            "required": ["name"], "additionalProperties": false,
            "properties": {
                "name": { "type": "string", "description": "Who it is" }, "count": { "type": "integer", "minimum": 1, "maximum": 9 },
                "color": { "enum": ["red", "blue"] },
            },
        });
        let error = |words: &[&str]| parsed(words, &schema).unwrap_err();
        assert_eq!(error(&[]), "name= is missing: Who it is");
        assert_eq!(error(&["name=a", "count=x"]), "count=x: the tool wants integer");
        assert_eq!(error(&["name=a", "count=0"]), "count=0: it must be at least 1");
        assert_eq!(error(&["name=a", "count=10"]), "count=10: it must be at most 9");
        assert_eq!(
            error(&["name=a", "color=green"]),
            "color=\"green\": choose one of \"red\", \"blue\""
        );
        assert_eq!(error(&["name=a", "nam=b"]), "there is no nam; known are name, color, count");
        assert_eq!(error(&["name"]), "name: write arguments as NAME=VALUE");
        assert!(check_arguments(&json!([]), &schema).is_err());
    }
}
