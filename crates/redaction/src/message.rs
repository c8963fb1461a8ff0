//! JSON messages of servers: results of tools and prompts, whose texts may hold JSON or files.

use std::borrow::Cow;
use std::ops::Range;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::redactor::Redactor;
use crate::syntax::Syntax;

/// How many texts inside texts are looked into.
const MAX_NESTING: usize = 4;

impl Redactor {
    /// Masks a JSON message: by keys and shapes, and inside its texts too. A text that is JSON is
    /// masked as JSON, and a text beside the URI of a file as the file would be.
    pub fn mask_message<'a>(&self, json: &'a str) -> Cow<'a, str> {
        self.mask_nested(json, MAX_NESTING)
    }

    /// The JSON value of a member called `name`, masked; `None` if it holds no secret.
    pub fn mask_member(&self, name: &str, json: &str) -> Option<String> {
        let start = format!("{{{}:", quoted(name));
        match self.mask_message(&format!("{start}{json}}}")) {
            Cow::Owned(masked) => Some(masked[start.len()..masked.len() - 1].to_owned()),
            Cow::Borrowed(_) => None,
        }
    }

    fn mask_nested<'a>(&self, json: &'a str, depth: usize) -> Cow<'a, str> {
        let masked = self.mask(json, Syntax::Json);
        if depth == 0 {
            return masked;
        }
        let edits = self.edits_of_texts(&masked, depth);
        if edits.is_empty() {
            return masked;
        }
        let (mut text, mut end) = (String::with_capacity(masked.len()), 0);
        for (range, with) in edits {
            text.push_str(&masked[end..range.start]);
            text.push_str(&with);
            end = range.end;
        }
        text.push_str(&masked[end..]);
        Cow::Owned(text)
    }

    /// The texts in `json` that hold secrets, and what replaces them, in order.
    fn edits_of_texts(&self, json: &str, depth: usize) -> Vec<(Range<usize>, String)> {
        let parsed = parse_to_ast(json, &CollectOptions::default(), &ParseOptions::default()).ok();
        let Some(root) = parsed.and_then(|parsed| parsed.value) else { return Vec::new() };
        let mut edits = Vec::new();
        let mut left = vec![&root];
        while let Some(value) = left.pop() {
            match value {
                Value::Object(object) => {
                    self.edit_file(object, &mut edits);
                    left.extend(object.properties.iter().map(|property| &property.value));
                }
                Value::Array(array) => left.extend(&array.elements),
                Value::StringLit(text) if text.value.trim_start().starts_with(['{', '[']) => {
                    if let Cow::Owned(masked) = self.mask_nested(&text.value, depth - 1) {
                        edits.push((text.range.start..text.range.end, quoted(&masked)));
                    }
                }
                _ => {}
            }
        }
        edits.sort_by_key(|(range, _)| range.start);
        // A file that is JSON is found twice; both masks are right, and the first one is kept.
        edits.dedup_by_key(|(range, _)| range.start);
        edits
    }

    /// Masks the text of an embedded resource by the syntax of its file.
    fn edit_file(&self, object: &Object<'_>, edits: &mut Vec<(Range<usize>, String)>) {
        let member = |name: &str| match &object.get(name)?.value {
            Value::StringLit(text) => Some(text),
            _ => None,
        };
        let (Some(uri), Some(text)) = (member("uri"), member("text")) else { return };
        let syntax = Syntax::of_path(&uri.value);
        if let (true, Cow::Owned(masked)) = (syntax.has_keys(), self.mask(&text.value, syntax)) {
            let range = text.range();
            edits.push((range.start..range.end, quoted(&masked)));
        }
    }
}

/// `text` as a JSON string.
fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\n' => json.push_str("\\n"),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn texts_inside_texts_are_masked_and_the_message_stays_json() {
        let secret = "correct-horse-battery";
        let inner = format!("{{\"password\": \"{secret}\", \"port\": 1}}");
        let twice = serde_json::json!({ "log": inner, "more": [inner] }).to_string();
        let message = serde_json::json!({
            "content": [
                { "type": "text", "text": inner },
                { "type": "text", "text": twice },
                { "type": "resource", "resource": {
                    "text": format!("A=1\nDB_PASSWORD={secret}\n"), "uri": "file:///app/.env" } },
                { "type": "text", "text": "a plain \"text\"\n" },
            ],
            "structuredContent": { "password": secret, "port": 1 },
        });
        let redactor = Redactor::default();
        let masked = redactor.mask_message(&message.to_string()).into_owned();
        assert!(!masked.contains(secret), "{masked}");
        let masked: serde_json::Value = serde_json::from_str(&masked).unwrap();
        assert_eq!(masked["content"][3], message["content"][3]);
        assert_eq!(masked["structuredContent"]["port"], 1);
        let env = masked["content"][2]["resource"]["text"].as_str().unwrap();
        assert!(env.starts_with("A=1\nDB_PASSWORD=") && env.ends_with('\n'), "{env}");
        assert!(redactor.mask_member("port", "1").is_none());
        let member = redactor.mask_member("db \"password\"", &format!("\"{secret}\"")).unwrap();
        assert!(member.starts_with("\"[redacted") && member.ends_with("]\""), "{member}");
        let again = redactor.mask_message(&masked.to_string()).into_owned();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&again).unwrap(), masked);
    }
}
