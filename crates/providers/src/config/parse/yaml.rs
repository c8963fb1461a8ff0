//! Parser for YAML, with the core schema, aliases and merge keys.
//!
//! It builds the tree from events. An alias repeats its anchor's values, which count each time.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, Tag};
use indexmap::IndexMap;

use super::super::tree::{ConfigNode, NodeValue, ScalarKind, json_number};
use super::{NodeBudget, ParseFailure};
use crate::repeated_text::text_count;

const SYNTAX: &str = "YAML";

/// The key that merges other tables into its own.
const MERGE_KEY: &str = "<<";

/// A collection whose end has not come yet.
struct OpenNode {
    line: usize,
    anchor: usize,
    items: OpenItems,
}

enum OpenItems {
    List(Vec<ConfigNode>),
    Table {
        entries: IndexMap<String, ConfigNode>,
        /// The key whose value comes next.
        key: Option<String>,
        merged: Vec<ConfigNode>,
    },
}

struct YamlReader {
    open: Vec<OpenNode>,
    documents: Vec<ConfigNode>,
    anchors: HashMap<usize, (ConfigNode, usize)>,
    budget: NodeBudget,
}

/// A file of several documents is a list, one without any is null.
pub(super) fn parse(text: &str, budget: NodeBudget) -> Result<ConfigNode, ParseFailure> {
    let (open, documents, anchors) = Default::default();
    let mut reader = YamlReader { open, documents, anchors, budget };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let marker = error.marker();
            ParseFailure::syntax(SYNTAX, (marker.line().max(1), marker.col() + 1))
        })?;
        let at = (span.start.line().max(1), span.start.col() + 1);
        reader.take_event(event, at)?;
    }
    let mut documents = reader.documents;
    Ok(match documents.len() {
        0 => ConfigNode::scalar(1, ScalarKind::Null, ""),
        1 => documents.remove(0),
        _ => ConfigNode::new(1, NodeValue::List(documents)),
    })
}

impl YamlReader {
    fn take_event(&mut self, event: Event<'_>, at: (usize, usize)) -> Result<(), ParseFailure> {
        let line = at.0;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.budget.take(1, line)?;
                self.finish_node(scalar(line, text, style, tag.as_deref()), anchor, at)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(line, anchor, OpenItems::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, _) => {
                let (entries, key, merged) = (IndexMap::new(), None, Vec::new());
                self.begin(line, anchor, OpenItems::Table { entries, key, merged })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else { return Ok(()) };
                let anchor = open.anchor;
                let node = open.close(&mut self.budget)?;
                self.finish_node(node, anchor, at)
            }
            Event::Alias(anchor) => {
                let unknown = ParseFailure::syntax(SYNTAX, at);
                let (node, count) = self.anchors.get(&anchor).ok_or(unknown)?;
                self.budget.take(*count, line)?;
                let node = node.clone();
                self.finish_node(node, 0, at)
            }
            Event::DocumentStart(..) => {
                self.anchors.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, line: usize, anchor: usize, items: OpenItems) -> Result<(), ParseFailure> {
        self.budget.take(1, line)?;
        NodeBudget::check_depth(self.open.len() + 1, line)?;
        self.open.push(OpenNode { line, anchor, items });
        Ok(())
    }

    /// Adds a finished node to the collection that is open, or to the documents.
    fn finish_node(
        &mut self,
        node: ConfigNode,
        anchor: usize,
        at: (usize, usize),
    ) -> Result<(), ParseFailure> {
        if anchor != 0 {
            let count = node.count();
            // The copy takes memory as the node itself does.
            self.budget.take(count, at.0)?;
            self.anchors.insert(anchor, (node.clone(), count));
        }
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.documents.push(node),
            Some(OpenItems::List(items)) => items.push(node),
            Some(OpenItems::Table { entries, key, merged }) => match key.take() {
                None => {
                    let is_made = !node.is_scalar();
                    let text = key_text(node);
                    // Each key in a key doubles its backslashes.
                    self.budget.take(if is_made { text_count(&text) } else { 0 }, at.0)?;
                    *key = Some(text);
                }
                Some(name) if name == MERGE_KEY && !node.is_scalar() => merged.push(node),
                Some(name) => {
                    entries.insert(name, node);
                }
            },
        }
        Ok(())
    }
}

impl OpenNode {
    fn close(self, budget: &mut NodeBudget) -> Result<ConfigNode, ParseFailure> {
        let line = self.line;
        Ok(match self.items {
            OpenItems::List(items) => ConfigNode::new(line, NodeValue::List(items)),
            OpenItems::Table { mut entries, merged, .. } => {
                for node in merged {
                    merge_into(&mut entries, node, budget)?;
                }
                ConfigNode::new(line, NodeValue::Table(entries))
            }
        })
    }
}

/// Adds the entries of a merged table, or of a list of them, that are not there yet.
fn merge_into(
    entries: &mut IndexMap<String, ConfigNode>,
    merged: ConfigNode,
    budget: &mut NodeBudget,
) -> Result<(), ParseFailure> {
    budget.take(1, merged.line as usize)?;
    match merged.value {
        NodeValue::Table(table) => {
            for (key, node) in table {
                entries.entry(key).or_insert(node);
            }
            Ok(())
        }
        NodeValue::List(items) => {
            items.into_iter().try_for_each(|item| merge_into(entries, item, budget))
        }
        NodeValue::Scalar(_) => Ok(()),
    }
}

/// The text of a key; a collection as a key is its JSON.
fn key_text(node: ConfigNode) -> String {
    match node.value {
        NodeValue::Scalar(scalar) => scalar.text,
        NodeValue::List(_) | NodeValue::Table(_) => node.to_json(),
    }
}

fn scalar(line: usize, text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> ConfigNode {
    let is_text = style != ScalarStyle::Plain || tag.is_some();
    let kind = if is_text { ScalarKind::Text } else { plain_kind(&text) };
    ConfigNode::scalar(line, kind, text)
}

/// The kind of a plain scalar, by the core schema.
fn plain_kind(text: &str) -> ScalarKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => ScalarKind::Null,
        "true" | "True" | "TRUE" => ScalarKind::Bool(true),
        "false" | "False" | "FALSE" => ScalarKind::Bool(false),
        _ if text.contains('_') || text.starts_with(['0', '+', '-']) && is_odd_number(text) => {
            ScalarKind::Text
        }
        _ => json_number(text).map_or(ScalarKind::Text, ScalarKind::Number),
    }
}

/// Notations of numbers that the core schema does not have.
fn is_odd_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    let has_prefix = digits.starts_with("0b") || digits.starts_with("0X");
    let is_signed = digits.len() < text.len();
    has_prefix || is_signed && (digits.starts_with("0x") || digits.starts_with("0o"))
}
