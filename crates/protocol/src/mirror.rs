//! Which arguments of a tool does a header repeat? (SEP-2243)
//!
//! The schema of a tool may name a header for an argument. Whoever calls it over HTTP repeats the
//! argument there, and whoever reads the body makes sure that both say the same.

use resource::Json;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::header;
use crate::refusal::Refusal;

/// How the header of an argument is called in a schema.
const MARK: &str = "x-mcp-header";
/// What stands before it on the wire.
const PREFIX: &str = "mcp-param-";
/// How deep schemas are looked into, and how many headers one tool may have.
const DEPTH: usize = 8;
const MOST: usize = 64;

/// The arguments of one tool that headers repeat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mirrors(Vec<(String, Vec<String>)>);

impl Mirrors {
    /// Reads the description of a tool.
    pub fn of(tool: &Json) -> Self {
        let mut found = Vec::new();
        if tool.as_str().contains(MARK)
            && let Ok(tool) = serde_json::from_str::<Value>(tool.as_str())
        {
            collect(&tool["inputSchema"], &mut Vec::new(), &mut found);
        }
        Self(found)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers that a call with these parameters carries.
    pub fn headers(&self, params: &RawValue) -> Vec<(String, String)> {
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let headers = self.0.iter().filter_map(|(name, path)| {
            let said = argument(&params, path)?;
            Some((name.clone(), header::encoded(&said).into_owned()))
        });
        headers.collect()
    }

    /// Refuses a header that does not say what its argument says.
    pub fn check<'a>(
        &self,
        header: impl Fn(&str) -> Option<&'a str>,
        params: Option<&RawValue>,
    ) -> Result<(), Refusal> {
        let params = params.map_or("{}", RawValue::get);
        let params: Value = serde_json::from_str(params).unwrap_or_default();
        for (name, path) in &self.0 {
            let told = header(name).map(|told| header::decoded(told.trim()));
            let right = match (told, argument(&params, path)) {
                (None, None) => true,
                (Some(Some(told)), Some(said)) => told == said,
                _ => false,
            };
            if !right {
                let words = format!("{name} is not what the argument {} says", path.join("."));
                return Err(Refusal::header_mismatch(words));
            }
        }
        Ok(())
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, into: &mut Vec<(String, Vec<String>)>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        path.push(name.clone());
        let header = property.get(MARK).and_then(Value::as_str);
        let is_name = |header: &&str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !header.is_empty() && header.len() <= 128 && header.bytes().all(fits)
        };
        if let Some(header) = header.filter(is_name).filter(|_| into.len() < MOST) {
            into.push((format!("{PREFIX}{}", header.to_ascii_lowercase()), path.clone()));
        }
        if path.len() < DEPTH {
            collect(property, path, into);
        }
        path.pop();
    }
}

/// What an argument says, as a header would; nothing, if it is not there.
fn argument(params: &Value, path: &[String]) -> Option<String> {
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

    use super::Mirrors;

    fn mirrors() -> Mirrors {
        let text = |header: &str| json!({ "type": "string", "x-mcp-header": header });
        let tool = json!({ "name": "t", "inputSchema": { "type": "object", "properties": {
            "region": text("Region"), "bad": text("no header"), "plain": { "type": "string" },
            "deep": { "type": "object", "properties": { "n": text("N") } } } } });
        Mirrors::of(&tool.to_string().into())
    }

    fn raw(arguments: &Value) -> Box<serde_json::value::RawValue> {
        serde_json::value::to_raw_value(&json!({ "name": "t", "arguments": arguments })).unwrap()
    }

    #[test]
    fn arguments_that_are_named_become_headers() {
        let headers = mirrors().headers(&raw(&json!({ "region": "日本", "deep": { "n": 5 } })));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let region = pair("mcp-param-region", "=?base64?5pel5pys?=");
        assert_eq!(headers, [pair("mcp-param-n", "5"), region]);
        assert_eq!(mirrors().headers(&raw(&json!({ "region": null, "plain": "x" }))), []);
        assert!(Mirrors::of(&r#"{"name":"t"}"#.into()).is_empty());
    }

    /// H-06, H-24: what nobody named is ignored.
    #[test]
    fn a_header_must_say_what_its_argument_says() {
        let checked = |value: Option<&'static str>, arguments: Value| {
            let header = |name: &str| value.filter(|_| name == "mcp-param-region");
            mirrors().check(header, Some(&raw(&arguments))).map_err(|refusal| refusal.code())
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
