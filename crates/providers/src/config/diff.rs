//! Differences between two layers: which keys one adds, changes or leaves out.

use std::fmt::Write as _;

use super::tree::{ConfigNode, NodeValue, json_string};

/// One key that differs.
pub(super) struct KeyDifference<'a> {
    pub(super) keys: Vec<String>,
    pub(super) from: Option<&'a ConfigNode>,
    pub(super) to: Option<&'a ConfigNode>,
}

/// The keys that differ, in the order of `from`, then those that only `to` has. Tables are compared
/// key by key, lists as a whole.
pub(super) fn differences<'a>(
    from: Option<&'a ConfigNode>,
    to: Option<&'a ConfigNode>,
) -> Vec<KeyDifference<'a>> {
    let mut found = Vec::new();
    compare(&mut Vec::new(), from, to, &mut found);
    found
}

fn compare<'a>(
    keys: &mut Vec<String>,
    from: Option<&'a ConfigNode>,
    to: Option<&'a ConfigNode>,
    found: &mut Vec<KeyDifference<'a>>,
) {
    let table = |node: Option<&'a ConfigNode>| match node.map(|node| &node.value) {
        Some(NodeValue::Table(table)) => Some(table),
        _ => None,
    };
    // What only one has is named down to its values; so is a whole layer.
    let (from_table, to_table) = (table(from), table(to));
    let is_other = |node: Option<&ConfigNode>, own: bool| node.is_some() && !own;
    if is_other(from, from_table.is_some()) || is_other(to, to_table.is_some()) {
        let is_same = from.zip(to).is_some_and(|(from, to)| from.has_value_of(to));
        if !is_same {
            found.push(KeyDifference { keys: keys.clone(), from, to });
        }
        return;
    }
    let from_keys = from_table.into_iter().flat_map(|table| table.keys());
    let is_new = |key: &&String| !from_table.is_some_and(|table| table.contains_key(*key));
    let to_keys = to_table.into_iter().flat_map(|table| table.keys()).filter(is_new);
    for key in from_keys.chain(to_keys) {
        keys.push(key.clone());
        let child = |table: Option<&'a indexmap::IndexMap<String, ConfigNode>>| table?.get(key);
        compare(keys, child(from_table), child(to_table), found);
        keys.pop();
    }
}

/// The differences for people and models.
pub(super) fn to_markdown(
    (from, to): (&str, &str),
    found: &[KeyDifference<'_>],
    origin: impl Fn(&KeyDifference<'_>, Side) -> Option<String>,
) -> String {
    let mut text = format!("# {from} → {to}\n\n");
    if found.is_empty() {
        text.push_str("No differences.\n");
        return text;
    }
    text.push_str("| key | before | after | where |\n| --- | --- | --- | --- |\n");
    for difference in found {
        let cell = |node: Option<&ConfigNode>| node.map_or_else(|| "–".to_owned(), inline_code);
        let keys = inline_text(&difference.keys.join("."));
        let (before, after) = (cell(difference.from), cell(difference.to));
        let places = [origin(difference, Side::From), origin(difference, Side::To)];
        let places: Vec<String> = places.into_iter().flatten().collect();
        let places = escape_cell(&places.join(" → "));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {keys} | {before} | {after} | {places} |");
    }
    text
}

/// Which side of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    From,
    To,
}

/// The differences for programs.
pub(super) fn to_json(
    found: &[KeyDifference<'_>],
    origin: impl Fn(&KeyDifference<'_>, Side) -> Option<String>,
) -> String {
    let mut text = "[".to_owned();
    for (at, difference) in found.iter().enumerate() {
        let keys: Vec<String> = difference.keys.iter().map(|key| json_string(key)).collect();
        let status = match (difference.from, difference.to) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        };
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(text, "{comma}\n  {{\"key\":[{}],\"status\":\"{status}\"", keys.join(","));
        for (name, node, side) in
            [("from", difference.from, Side::From), ("to", difference.to, Side::To)]
        {
            let Some(node) = node else { continue };
            let value = node.to_json().replace('\n', "\n  ");
            let _ = write!(text, ",\"{name}\":{{\"value\":{value}");
            if let Some(origin) = origin(difference, side) {
                let _ = write!(text, ",\"origin\":{origin}");
            }
            text.push('}');
        }
        text.push('}');
    }
    text.push_str(if found.is_empty() { "]\n" } else { "\n]\n" });
    text
}

/// A value on one line of code.
fn inline_code(node: &ConfigNode) -> String {
    let json = node.to_json();
    let line = if json.contains('\n') {
        json.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    } else {
        json
    };
    inline_text(&line)
}

/// Text as code in a table: in as many backticks as it takes.
fn inline_text(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    let text = text.replace(['\n', '\r'], " ");
    escape_cell(&format!("{fence}{text}{fence}"))
}

fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|")
}
