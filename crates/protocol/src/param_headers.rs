//! Parameter headers: tool arguments that HTTP headers repeat (SEP-2243).
//!
//! A tool's input schema may name a header for an argument. The client repeats the argument in
//! that header, and the server checks that header and body match.

use resource::Json;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::header;
use crate::inbound::refusal::Refusal;

/// The schema keyword that names the header of an argument.
const SCHEMA_KEYWORD: &str = "x-mcp-header";
/// The prefix of the header's name on the wire.
const HEADER_PREFIX: &str = "mcp-param-";
/// Maximum depth of nested properties to search for headers.
const MAX_DEPTH: usize = 8;
/// Maximum number of headers of one tool; the rest is ignored.
const MAX_HEADERS: usize = 64;

/// The parameter headers of one tool: header names, each with the path of its argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParamHeaders(Vec<(String, Vec<String>)>);

impl ParamHeaders {
    /// Finds the parameter headers in the description of a tool.
    pub fn from_tool(tool: &Json) -> Self {
        let mut found = Vec::new();
        if tool.as_str().contains(SCHEMA_KEYWORD)
            && let Ok(tool) = serde_json::from_str::<Value>(tool.as_str())
        {
            collect_headers(&tool["inputSchema"], &mut Vec::new(), &mut found);
        }
        Self(found)
    }

    /// True if the tool has no parameter headers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers for a call with these parameters.
    pub fn for_call(&self, params: &RawValue) -> Vec<(String, String)> {
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let headers = self.0.iter().filter_map(|(name, path)| {
            let said = argument_text(&params, path)?;
            Some((name.clone(), header::encode_value(&said).into_owned()))
        });
        headers.collect()
    }

    /// Refuses a call if a header and its argument differ, or only one of them is present.
    pub fn check_headers<'a>(
        &self,
        header: impl Fn(&str) -> Option<&'a str>,
        params: Option<&RawValue>,
    ) -> Result<(), Refusal> {
        let params = params.map_or("{}", RawValue::get);
        let params: Value = serde_json::from_str(params).unwrap_or_default();
        for (name, path) in &self.0 {
            let told = header(name).map(|told| header::decode_value(told.trim()));
            let right = match (told, argument_text(&params, path)) {
                (None, None) => true,
                (Some(Some(told)), Some(said)) => told == said,
                _ => false,
            };
            if !right {
                let words = format!("header {name} does not match argument {}", path.join("."));
                return Err(Refusal::header_mismatch(words));
            }
        }
        Ok(())
    }
}

fn collect_headers(schema: &Value, path: &mut Vec<String>, into: &mut Vec<(String, Vec<String>)>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        path.push(name.clone());
        let header = property.get(SCHEMA_KEYWORD).and_then(Value::as_str);
        let is_name = |header: &&str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !header.is_empty() && header.len() <= 128 && header.bytes().all(fits)
        };
        if let Some(header) = header.filter(is_name).filter(|_| into.len() < MAX_HEADERS) {
            into.push((format!("{HEADER_PREFIX}{}", header.to_ascii_lowercase()), path.clone()));
        }
        if path.len() < MAX_DEPTH {
            collect_headers(property, path, into);
        }
        path.pop();
    }
}

/// The text of an argument for a header; `None` if it is absent, null, an array or an object.
fn argument_text(params: &Value, path: &[String]) -> Option<String> {
    let mut value = &params["arguments"];
    for name in path {
        value = value.get(name)?;
    }
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ParamHeaders;

    fn mirrors() -> ParamHeaders {
        let text = |header: &str| json!({ "type": "string", "x-mcp-header": header });
        let tool = json!({ "name": "t", "inputSchema": { "type": "object", "properties": {
            "region": text("Region"), "bad": text("no header"), "plain": { "type": "string" },
            "deep": { "type": "object", "properties": { "n": text("N") } } } } });
        ParamHeaders::from_tool(&tool.to_string().into())
    }

    fn raw(arguments: &Value) -> Box<serde_json::value::RawValue> {
        serde_json::value::to_raw_value(&json!({ "name": "t", "arguments": arguments })).unwrap()
    }

    #[test]
    fn arguments_that_are_named_become_headers() {
        let headers = mirrors().for_call(&raw(&json!({ "region": "日本", "deep": { "n": 5 } })));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let region = pair("mcp-param-region", "=?base64?5pel5pys?=");
        assert_eq!(headers, [pair("mcp-param-n", "5"), region]);
        assert_eq!(mirrors().for_call(&raw(&json!({ "region": null, "plain": "x" }))), []);
        assert!(ParamHeaders::from_tool(&r#"{"name":"t"}"#.into()).is_empty());
    }

    /// H-06, H-24: arguments without `x-mcp-header` are ignored.
    #[test]
    fn a_header_must_say_what_its_argument_says() {
        let checked = |value: Option<&'static str>, arguments: Value| {
            let header = |name: &str| value.filter(|_| name == "mcp-param-region");
            mirrors()
                .check_headers(header, Some(&raw(&arguments)))
                .map_err(|refusal| refusal.code())
        };
        let region = json!({ "region": "a b" });
        assert_eq!(checked(Some("a b"), region.clone()), Ok(()));
        assert_eq!(checked(Some(" =?base64?YSBi?="), region.clone()), Ok(()));
        assert_eq!(checked(None, json!({})), Ok(()));
        for wrong in [None, Some("b"), Some("=?base64?!?="), Some("\u{0}")] {
            assert_eq!(checked(wrong, region.clone()), Err(-32020), "{wrong:?}");
        }
        assert_eq!(checked(Some("a b"), json!({})), Err(-32020));
    }
}
