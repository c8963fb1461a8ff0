//! Parser for INI files: sections of keys, without nesting.
//!
//! A value stands as it is written. A line without `=` or `:` that is indented deeper than the
//! key above continues its value.

use indexmap::IndexMap;

use super::super::tree::{ConfigNode, NodeValue, ScalarKind};
use super::{NodeBudget, ParseFailure};

pub(super) fn parse(text: &str, mut budget: NodeBudget) -> Result<ConfigNode, ParseFailure> {
    let mut root = IndexMap::new();
    let mut section: Option<(String, ConfigNode)> = None;
    let mut last_key: Option<(String, usize)> = None;
    budget.take(1, 1)?;
    for (at, full) in text.lines().enumerate() {
        let (number, line) = (at + 1, full.trim());
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let indent = full.len() - full.trim_start().len();
        if let Some(rest) = line.strip_prefix('[') {
            let end = rest.rfind(']').ok_or(ParseFailure::syntax("INI", (number, indent + 1)))?;
            close_section(&mut root, section.take());
            let name = rest[..end].trim().to_owned();
            budget.take(1, number)?;
            // A section that comes again goes on.
            let known = root.shift_remove(&name).filter(|node: &ConfigNode| !node.is_scalar());
            let empty = || ConfigNode::new(number, NodeValue::Table(IndexMap::new()));
            section = Some((name, known.unwrap_or_else(empty)));
            last_key = None;
            continue;
        }
        let table = match &mut section {
            Some((_, ConfigNode { value: NodeValue::Table(table), .. })) => table,
            _ => &mut root,
        };
        let separator = line.find(['=', ':']);
        if let (None, Some((key, above))) = (separator, &last_key)
            && indent > *above
        {
            continue_value(table, key, line);
            continue;
        }
        budget.take(1, number)?;
        let (key, node) = match separator {
            Some(at) => (&line[..at], ConfigNode::text(number, line[at + 1..].trim())),
            None => (line, ConfigNode::scalar(number, ScalarKind::Null, "")),
        };
        let key = key.trim().to_owned();
        table.insert(key.clone(), node);
        last_key = Some((key, indent));
    }
    close_section(&mut root, section);
    Ok(ConfigNode::new(1, NodeValue::Table(root)))
}

fn close_section(root: &mut IndexMap<String, ConfigNode>, section: Option<(String, ConfigNode)>) {
    root.extend(section);
}

fn continue_value(table: &mut IndexMap<String, ConfigNode>, key: &str, line: &str) {
    if let Some(NodeValue::Scalar(scalar)) = table.get_mut(key).map(|node| &mut node.value) {
        if !scalar.text.is_empty() {
            scalar.text.push('\n');
        }
        scalar.text.push_str(line);
        scalar.kind = ScalarKind::Text;
    }
}
