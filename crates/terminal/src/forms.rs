//! Questions of a server (elicitation), asked on the terminal as a form.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use async_trait::async_trait;
use protocol::outbound::request::methods;
use resource::{Caller, Error, ErrorKind, Json, Result};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use crate::output::{one_line, tell, visible};
use crate::tool_arguments;

/// How often a person may answer one question wrongly.
const MAX_ATTEMPTS: usize = 5;

/// The person at the terminal, as a server sees them.
pub(crate) struct TerminalCaller {
    capabilities: Json,
    /// Held while a form is open: two at a time would mix.
    form: Mutex<()>,
}

impl TerminalCaller {
    pub(crate) fn new() -> Self {
        let capabilities = json!({ "elicitation": { "form": {}, "url": {} } }).to_string();
        Self { capabilities: Json::from(capabilities.as_str()), form: Mutex::new(()) }
    }

    /// Whether somebody can read a question and type an answer.
    pub(crate) fn is_person_there() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }
}

#[async_trait]
impl Caller for TerminalCaller {
    fn id(&self) -> u64 {
        0
    }

    fn capabilities(&self) -> &Json {
        &self.capabilities
    }

    fn accepts_requests(&self) -> bool {
        true
    }

    async fn send_request(&self, method: &str, params: &Json) -> Result<Json> {
        if method != methods::ELICIT {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("this client does not answer {method}"),
            ));
        }
        let order = question_order(params.as_str());
        let params: Value = serde_json::from_str(params.as_str()).unwrap_or_default();
        let answer = if Self::is_person_there() {
            let _form = self.form.lock().await;
            let asked = tokio::task::spawn_blocking(move || {
                let mut lines = io::stdin().lock().lines();
                ask(&params, &order, &mut || lines.next().and_then(io::Result::ok))
            });
            asked.await.map_err(|error| Error::internal(error.to_string()))?
        } else {
            let words = params["message"].as_str().unwrap_or_default();
            tell(&format!(
                "the server asks ({words}); nobody is at the terminal, so refdesk cancels"
            ));
            json!({ "action": "cancel" })
        };
        Ok(Json::from(answer.to_string().as_str()))
    }

    fn input_response(&self) -> Option<&Json> {
        None
    }

    fn log_level(&self) -> Option<&'static str> {
        None
    }

    fn log(&self, message: &Json) {
        let message: Value = serde_json::from_str(message.as_str()).unwrap_or_default();
        let level = message["level"].as_str().unwrap_or("info");
        let data = &message["data"];
        let words = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
        tell(&format!("{}: {}", one_line(level), one_line(&words)));
    }
}

/// The names of the questions of a form, in the order in which the server wrote them.
fn question_order(params: &str) -> Vec<String> {
    serde_json::from_str(params).map_or_else(|_| Vec::new(), |form: FormOrder| form.schema.names.0)
}

#[derive(Deserialize)]
struct FormOrder {
    #[serde(rename = "requestedSchema")]
    schema: SchemaOrder,
}

#[derive(Deserialize)]
struct SchemaOrder {
    #[serde(rename = "properties")]
    names: KeyOrder,
}

/// The keys of an object as they are written; a parsed value has them sorted.
struct KeyOrder(Vec<String>);

impl<'de> Deserialize<'de> for KeyOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = KeyOrder;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<KeyOrder, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                    keys.push(key);
                }
                Ok(KeyOrder(keys))
            }
        }
        deserializer.deserialize_map(KeyVisitor)
    }
}

/// Shows a question and reads the answers line by line; the end of the input cancels.
fn ask(params: &Value, order: &[String], next_line: &mut dyn FnMut() -> Option<String>) -> Value {
    let message = params["message"].as_str().unwrap_or_default();
    tell(&format!("The server asks: {}", one_line(&visible(message))));
    if params["mode"].as_str() == Some("url") {
        let url = params["url"].as_str().unwrap_or_default();
        tell(&format!("Open this address if you trust it: {}", one_line(url)));
        return match prompt("Done? [y/N]", next_line).as_deref() {
            Some("y" | "Y" | "yes") => json!({ "action": "accept" }),
            Some(_) => json!({ "action": "decline" }),
            None => json!({ "action": "cancel" }),
        };
    }
    let empty = Map::new();
    let schema = &params["requestedSchema"];
    let questions = schema["properties"].as_object().unwrap_or(&empty);
    let mut content = Map::new();
    // A name that is written twice is one question.
    let mut asked = HashSet::new();
    for name in order.iter().filter(|name| asked.insert(name.as_str())) {
        let Some(property) = questions.get(name) else { continue };
        match ask_one(name, property, schema, next_line) {
            Ok(Some(value)) => drop(content.insert(name.clone(), value)),
            Ok(None) => {}
            Err(action) => return json!({ "action": action }),
        }
    }
    match prompt("Send this? [Y/n]", next_line).as_deref() {
        Some("" | "y" | "Y" | "yes") => json!({ "action": "accept", "content": content }),
        Some(_) => json!({ "action": "decline" }),
        None => json!({ "action": "cancel" }),
    }
}

/// Asks for one value until it fits; `Err` is the action that ends the form.
fn ask_one(
    name: &str,
    property: &Value,
    schema: &Value,
    next_line: &mut dyn FnMut() -> Option<String>,
) -> std::result::Result<Option<Value>, &'static str> {
    let is_required = schema["required"].as_array().is_some_and(|all| all.contains(&name.into()));
    let question = question_text(name, property, is_required);
    for _ in 0..MAX_ATTEMPTS {
        let Some(line) = prompt(&question, next_line) else { return Err("cancel") };
        if line.is_empty() {
            match (&property["default"], is_required) {
                (Value::Null, false) => return Ok(None),
                (Value::Null, true) => {
                    tell("this one is required; Ctrl-D cancels");
                    continue;
                }
                (usual, _) => return Ok(Some(usual.clone())),
            }
        }
        let word = format!("{name}={}", choice_value(&line, property));
        let one = json!({ "properties": { name: property } });
        match tool_arguments::parse_arguments(&[word], &one) {
            Ok(mut value) => return Ok(Some(value[name].take())),
            Err(error) => tell(&error.to_string()),
        }
    }
    Err("cancel")
}

fn question_text(name: &str, property: &Value, is_required: bool) -> String {
    let title = property["title"].as_str().unwrap_or(name);
    let mut text = one_line(title);
    if let Some(words) = property["description"].as_str() {
        text.push_str(&format!(" ({})", one_line(words)));
    }
    let choices = choices(property);
    if !choices.is_empty() {
        text.push_str(&format!(" [{}]", one_line(&choices.join(" | "))));
    } else if let Some(kind) = property["type"].as_str().filter(|kind| *kind != "string") {
        text.push_str(&format!(" [{}]", one_line(kind)));
    }
    match &property["default"] {
        Value::Null if is_required => {}
        Value::Null => text.push_str(" [optional]"),
        usual => text.push_str(&format!(" [default: {}]", one_line(&usual.to_string()))),
    }
    text
}

/// The choices of a property, as a person reads them.
fn choices(property: &Value) -> Vec<String> {
    let constants = |key: &str| property[key].as_array().cloned().unwrap_or_default();
    let plain = constants("enum").into_iter();
    let titled = constants("oneOf").into_iter().chain(constants("anyOf"));
    let titled = titled.map(|choice| choice["const"].clone()).filter(|value| !value.is_null());
    plain
        .chain(titled)
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        .collect()
}

/// The choice that a person means: its value, its number, or its start if no other begins so.
fn choice_value(line: &str, property: &Value) -> String {
    let choices = choices(property);
    if choices.is_empty() || choices.iter().any(|choice| choice == line) {
        return match (property["type"].as_str(), line) {
            (Some("boolean"), "y" | "yes") => "true".to_owned(),
            (Some("boolean"), "n" | "no") => "false".to_owned(),
            _ => line.to_owned(),
        };
    }
    let number = line.parse::<usize>().ok().filter(|number| *number > 0);
    if let Some(choice) = number.and_then(|number| choices.get(number - 1)) {
        return choice.clone();
    }
    let mut begin = choices.iter().filter(|choice| choice.starts_with(line));
    match (begin.next(), begin.next()) {
        (Some(choice), None) => choice.clone(),
        _ => line.to_owned(),
    }
}

fn prompt(question: &str, next_line: &mut dyn FnMut() -> Option<String>) -> Option<String> {
    let _ = io::stderr().write_all(format!("{question}: ").as_bytes());
    next_line().map(|line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ask, question_order};

    fn answered(params: &str, lines: &[&str]) -> Value {
        let mut lines = lines.iter().map(|line| (*line).to_owned());
        let value = serde_json::from_str(params).unwrap();
        ask(&value, &question_order(params), &mut || lines.next())
    }

    const FORM: &str = r#"{ "message": "Who?", "requestedSchema": {
        "required": ["name"],
        "properties": {
            "name": { "type": "string" }, "age": { "type": "integer", "minimum": 0 },
            "sure": { "type": "boolean" },
            "color": { "type": "string", "enum": ["red", "blue"], "default": "blue" }
        }
    } }"#;

    #[test]
    fn a_form_is_filled_in_line_by_line_in_the_order_of_the_server() {
        assert_eq!(question_order(FORM), ["name", "age", "sure", "color"]);
        let sent = answered(FORM, &["", "Ada", "x", "36", "yes", "re", "y"]);
        assert_eq!(
            sent,
            json!({ "action": "accept", "content": { "name": "Ada", "age": 36, "color": "red", "sure": true } })
        );
        let refused = answered(FORM, &["Ada", "", "", "", "n"]);
        assert_eq!(refused, json!({ "action": "decline" }));
        assert_eq!(answered(FORM, &["Ada"]), json!({ "action": "cancel" }));
        assert_eq!(answered(FORM, &[]), json!({ "action": "cancel" }));
    }

    #[test]
    fn a_form_without_questions_is_only_confirmed() {
        for params in ["{}", r#"{ "requestedSchema": { "properties": [] } }"#] {
            assert_eq!(answered(params, &["y"]), json!({ "action": "accept", "content": {} }));
        }
        let twice = r#"{ "requestedSchema": { "properties": { "a": {}, "a": {} } } }"#;
        assert_eq!(answered(twice, &["1", "y"])["content"], json!({ "a": 1 }));
    }

    #[test]
    fn an_address_is_shown_and_not_opened() {
        let params = r#"{ "mode": "url", "message": "Sign in", "url": "https://example.com" }"#;
        assert_eq!(answered(params, &["y"]), json!({ "action": "accept" }));
        assert_eq!(answered(params, &[""]), json!({ "action": "decline" }));
    }
}
