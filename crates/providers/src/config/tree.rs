//! Configuration tree: the values of a file by key, each with the line it stands in.

use indexmap::IndexMap;

use crate::repeated_text::text_count;

/// A value, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConfigNode {
    /// The line of its file, counted from 1; in a layer of variables, the number of the variable.
    pub(super) line: u32,
    /// The layer it came from, in a tree that is merged from layers.
    pub(super) layer: u16,
    pub(super) value: NodeValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeValue {
    Scalar(ConfigScalar),
    List(Vec<ConfigNode>),
    Table(IndexMap<String, ConfigNode>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConfigScalar {
    pub(super) kind: ScalarKind,
    /// A string without its quotes and escapes, anything else as it is written.
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScalarKind {
    Null,
    Bool(bool),
    /// A number, with its JSON text.
    Number(String),
    Text,
}

impl ConfigNode {
    pub(super) fn new(line: usize, value: NodeValue) -> Self {
        Self { line: u32::try_from(line).unwrap_or(u32::MAX), layer: 0, value }
    }

    /// A string.
    pub(super) fn text(line: usize, text: impl Into<String>) -> Self {
        Self::scalar(line, ScalarKind::Text, text)
    }

    pub(super) fn scalar(line: usize, kind: ScalarKind, text: impl Into<String>) -> Self {
        Self::new(line, NodeValue::Scalar(ConfigScalar { kind, text: text.into() }))
    }

    /// A number as it is written; a string, if JSON has no such number.
    pub(super) fn number(line: usize, written: &str) -> Self {
        let kind = json_number(written).map_or(ScalarKind::Text, ScalarKind::Number);
        Self::scalar(line, kind, written)
    }

    pub(super) fn is_scalar(&self) -> bool {
        matches!(self.value, NodeValue::Scalar(_))
    }

    /// The child under `key`; the keys of a list are its indices.
    pub(super) fn child(&self, key: &str) -> Option<&Self> {
        match &self.value {
            NodeValue::Scalar(_) => None,
            NodeValue::Table(table) => table.get(key),
            NodeValue::List(items) => items.get(list_index(key)?),
        }
    }

    /// The node at `path` below this one.
    pub(super) fn descend<S: AsRef<str>>(&self, path: &[S]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.child(key.as_ref()))
    }

    /// The number of children.
    pub(super) fn len(&self) -> usize {
        match &self.value {
            NodeValue::Scalar(_) => 0,
            NodeValue::Table(table) => table.len(),
            NodeValue::List(items) => items.len(),
        }
    }

    /// The key and node of the child at `position`.
    pub(super) fn child_at(&self, position: usize) -> Option<(String, &Self)> {
        match &self.value {
            NodeValue::Scalar(_) => None,
            NodeValue::Table(table) => {
                table.get_index(position).map(|(key, node)| (key.clone(), node))
            }
            NodeValue::List(items) => items.get(position).map(|node| (position.to_string(), node)),
        }
    }

    /// The position of the child under `key`.
    pub(super) fn position(&self, key: &str) -> Option<usize> {
        match &self.value {
            NodeValue::Scalar(_) => None,
            NodeValue::Table(table) => table.get_index_of(key),
            NodeValue::List(items) => list_index(key).filter(|index| *index < items.len()),
        }
    }

    /// All children with their keys.
    pub(super) fn children(&self) -> impl Iterator<Item = (String, &Self)> {
        (0..self.len()).filter_map(|position| self.child_at(position))
    }

    /// Whether both have the same value, wherever it stands.
    pub(super) fn has_value_of(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (NodeValue::Scalar(one), NodeValue::Scalar(two)) => one == two,
            (NodeValue::List(one), NodeValue::List(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(a, b)| a.has_value_of(b))
            }
            (NodeValue::Table(one), NodeValue::Table(two)) => {
                let is_same = |(key, node): (&String, &Self)| {
                    two.get(key).is_some_and(|other| node.has_value_of(other))
                };
                one.len() == two.len() && one.iter().all(is_same)
            }
            _ => false,
        }
    }

    /// Sets the layer of this node and all below it.
    pub(super) fn set_layer(&mut self, layer: u16) {
        self.layer = layer;
        self.each_child(&mut |child| child.set_layer(layer));
    }

    /// Runs `act` on every direct child.
    pub(super) fn each_child(&mut self, act: &mut dyn FnMut(&mut Self)) {
        match &mut self.value {
            NodeValue::Scalar(_) => {}
            NodeValue::List(items) => items.iter_mut().for_each(act),
            NodeValue::Table(table) => table.values_mut().for_each(act),
        }
    }

    /// What a copy counts: this node and all below it, with their texts.
    pub(super) fn count(&self) -> usize {
        match &self.value {
            NodeValue::Scalar(scalar) => 1 + text_count(&scalar.text),
            NodeValue::List(items) => 1 + items.iter().map(Self::count).sum::<usize>(),
            NodeValue::Table(table) => {
                let entry = |(key, node): (&String, &Self)| text_count(key) + node.count();
                1 + table.iter().map(entry).sum::<usize>()
            }
        }
    }

    /// The normalised JSON: two spaces of indent, keys in their order.
    pub(super) fn to_json(&self) -> String {
        let mut json = String::new();
        self.write_json(0, &mut json);
        json
    }

    fn write_json(&self, indent: usize, into: &mut String) {
        let line = |into: &mut String, indent: usize| {
            into.push('\n');
            into.extend(std::iter::repeat_n("  ", indent));
        };
        let (open, close) = match &self.value {
            NodeValue::Scalar(scalar) => return scalar.write_json(into),
            NodeValue::List(_) => ('[', ']'),
            NodeValue::Table(_) => ('{', '}'),
        };
        into.push(open);
        for position in 0..self.len() {
            line(into, indent + 1);
            match &self.value {
                NodeValue::Table(table) => {
                    if let Some((key, node)) = table.get_index(position) {
                        into.push_str(&json_string(key));
                        into.push_str(": ");
                        node.write_json(indent + 1, into);
                    }
                }
                NodeValue::List(items) => items[position].write_json(indent + 1, into),
                NodeValue::Scalar(_) => {}
            }
            if position + 1 < self.len() {
                into.push(',');
            }
        }
        if self.len() > 0 {
            line(into, indent);
        }
        into.push(close);
    }
}

impl ConfigScalar {
    fn write_json(&self, into: &mut String) {
        match &self.kind {
            ScalarKind::Null => into.push_str("null"),
            ScalarKind::Bool(value) => into.push_str(if *value { "true" } else { "false" }),
            ScalarKind::Number(json) => into.push_str(json),
            ScalarKind::Text => into.push_str(&json_string(&self.text)),
        }
    }
}

/// The index that `key` is, written as JSON writes numbers.
fn list_index(key: &str) -> Option<usize> {
    key.parse().ok().filter(|index: &usize| index.to_string() == key)
}

/// `text` as a JSON string.
pub(super) fn json_string(text: &str) -> String {
    json_escape_simd::escape(text)
}

/// The JSON of a number in any of the notations of TOML, YAML and JSON5.
pub(super) fn json_number(written: &str) -> Option<String> {
    let plain: String = written.chars().filter(|letter| *letter != '_').collect();
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let prefixes = [("0x", 16), ("0X", 16), ("0o", 8), ("0b", 2)];
    if let Some((rest, radix)) =
        prefixes.iter().find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, *radix)))
    {
        let is_digit = |letter: char| letter.is_digit(radix);
        let value =
            u128::from_str_radix(rest, radix).ok().filter(|_| rest.chars().all(is_digit))?;
        return Some(format!("{sign}{value}"));
    }
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => digits.split_at(at),
        None => (digits, ""),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let power = exponent.trim_start_matches(['e', 'E']);
    let power_digits = power.strip_prefix(['+', '-']).unwrap_or(power);
    if !exponent.is_empty() && (power_digits.is_empty() || !is_digits(power_digits)) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
    Some(format!("{sign}{whole}{fraction}{exponent}"))
}

#[cfg(test)]
mod tests {
    use super::json_number;

    #[test]
    fn numbers_of_every_notation_become_json() {
        for (written, json) in [
            ("12", Some("12")),
            ("-1_000", Some("-1000")),
            ("+5", Some("5")),
            ("0x1F", Some("31")),
            ("0o17", Some("15")),
            ("0b101", Some("5")),
            (".5", Some("0.5")),
            ("5.", Some("5")),
            ("007", Some("7")),
            ("1e6", Some("1e6")),
            ("6.02E+23", Some("6.02E+23")),
            ("0x", None),
            ("0x+1", None),
            ("", None),
            (".", None),
            ("1e", None),
            ("inf", None),
            ("1.2.3", None),
            ("123456789012345678901234567890", Some("123456789012345678901234567890")),
        ] {
            assert_eq!(json_number(written).as_deref(), json, "{written}");
        }
    }
}
