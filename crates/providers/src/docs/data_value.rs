//! Values of front matter and navigation files: YAML, TOML and JSON as one tree, within bounds.
//!
//! An error says where, and never what stands there: it could be a secret.

mod json;
mod toml;
mod yaml;

use std::fmt;

use crate::repeated_text::text_count;

/// The most values of one text, those that aliases repeat included.
const MAX_VALUES: usize = 200_000;
/// The deepest nesting of values.
const MAX_VALUE_DEPTH: usize = 64;

/// A value of a data file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DataValue {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Self>),
    /// The entries in their order; a key that is given twice has its last value.
    Table(Vec<(String, Self)>),
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataSyntax {
    Yaml,
    Toml,
    Json,
}

/// Why a text has no values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DataFault {
    /// The line, counted from 1.
    pub(super) line: usize,
    reason: &'static str,
}

/// The values that a text may still have.
struct ValueBudget(usize);

impl DataSyntax {
    /// The syntax of the file `name`.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" | "jsonc" | "json5" => Some(Self::Json),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }

    /// Parses `text`.
    pub(super) fn parse(self, text: &str) -> Result<DataValue, DataFault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let budget = ValueBudget(MAX_VALUES);
        match self {
            Self::Yaml => yaml::parse(text, budget),
            Self::Toml => toml::parse(text, budget),
            Self::Json => json::parse(text, budget),
        }
    }
}

impl DataFault {
    fn new(line: usize, reason: &'static str) -> Self {
        Self { line, reason }
    }
}

impl fmt::Display for DataFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl ValueBudget {
    fn take(&mut self, count: usize, line: usize) -> Result<(), DataFault> {
        let left = self.0.checked_sub(count);
        self.0 = left.ok_or_else(|| DataFault::new(line, "there are too many values"))?;
        Ok(())
    }

    fn check_depth(depth: usize, line: usize) -> Result<(), DataFault> {
        let fits = depth <= MAX_VALUE_DEPTH;
        fits.then_some(()).ok_or_else(|| DataFault::new(line, "values are nested too deep"))
    }
}

impl DataValue {
    /// The value of `key` of a table.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let found = self.entries().iter().rev().find(|(known, _)| known == key);
        found.map(|(_, value)| value)
    }

    /// The entries of a table; none if it is no table.
    pub(super) fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none if it is no list.
    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// A text that is not empty.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    /// The text of `key` of a table.
    pub(super) fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// The number of values in it, itself included.
    fn count(&self) -> usize {
        match self {
            Self::List(items) => items.iter().map(Self::count).sum::<usize>() + 1,
            Self::Table(entries) => {
                let entry = |(key, value): &(String, Self)| text_count(key) + value.count();
                entries.iter().map(entry).sum::<usize>() + 1
            }
            Self::Text(text) => text_count(text) + 1,
            _ => 1,
        }
    }

    /// The value as indented JSON.
    pub(super) fn to_json(&self) -> String {
        let mut text = String::new();
        self.write_json(0, &mut text);
        text
    }

    fn write_json(&self, depth: usize, into: &mut String) {
        let indent = |depth: usize, into: &mut String| {
            into.push('\n');
            into.extend(std::iter::repeat_n("  ", depth));
        };
        match self {
            Self::Null => into.push_str("null"),
            Self::Bool(value) => into.push_str(if *value { "true" } else { "false" }),
            Self::Number(value) => into.push_str(&value.to_string()),
            Self::Text(text) => into.push_str(&json_escape_simd::escape(text)),
            Self::List(items) => {
                into.push('[');
                for (at, item) in items.iter().enumerate() {
                    into.push_str(if at > 0 { "," } else { "" });
                    indent(depth + 1, into);
                    item.write_json(depth + 1, into);
                }
                indent(depth, into);
                into.push(']');
            }
            Self::Table(entries) => {
                into.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    into.push_str(if at > 0 { "," } else { "" });
                    indent(depth + 1, into);
                    into.push_str(&json_escape_simd::escape(key));
                    into.push_str(": ");
                    value.write_json(depth + 1, into);
                }
                indent(depth, into);
                into.push('}');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DataSyntax, DataValue};

    #[test]
    fn the_three_syntaxes_give_one_tree() {
        let yaml = "title: はじめに\nlist: [1, true, null]\ntable: {a: \"x\"}\n";
        let toml = "title = 'はじめに'\nlist = [1, true, '']\ntable = {a = 'x'}\n";
        let json =
            "{\"title\": \"はじめに\", \"list\": [1, true, null], \"table\": {\"a\": \"x\"}}";
        let yaml = DataSyntax::Yaml.parse(yaml).unwrap();
        assert_eq!(yaml, DataSyntax::Json.parse(json).unwrap());
        let toml = DataSyntax::Toml.parse(toml).unwrap();
        for value in [&yaml, &toml] {
            assert_eq!(value.text_of("title"), Some("はじめに"));
            assert_eq!(value.get("list").unwrap().items()[0], DataValue::Number(1.0));
            assert_eq!(value.get("table").unwrap().text_of("a"), Some("x"));
        }
    }

    #[test]
    fn a_bomb_of_aliases_and_deep_nesting_are_refused() {
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..12 {
            let before = format!("*a{},", level - 1).repeat(10);
            bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
        }
        assert!(DataSyntax::Yaml.parse(&bomb).unwrap_err().to_string().contains("too many"));
        for (what, text) in crate::repeated_text::tests::long_from_short() {
            let fault = DataSyntax::Yaml.parse(&text).unwrap_err();
            assert!(fault.to_string().contains("too many"), "{what}: {fault}");
        }
        for syntax in [DataSyntax::Yaml, DataSyntax::Json, DataSyntax::Toml] {
            let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
            let deep = if syntax == DataSyntax::Toml { format!("a = {deep}") } else { deep };
            assert!(syntax.parse(&deep).is_err(), "{syntax:?}");
        }
    }

    #[test]
    fn an_error_names_the_line_and_not_the_text() {
        for (syntax, text) in [
            (DataSyntax::Yaml, "a: 1\nb: [secret\n"),
            (DataSyntax::Toml, "a = 1\nb = secret\n"),
            (DataSyntax::Json, "{\"a\": 1,\n\"b\": secret}"),
        ] {
            let fault = syntax.parse(text).unwrap_err();
            assert!(fault.line >= 2 && !fault.to_string().contains("secret"), "{fault}");
        }
    }
}
