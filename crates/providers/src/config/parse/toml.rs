//! Parser for TOML.

use indexmap::IndexMap;
use toml_edit::{Document, Item, Table, TableLike, Value};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::super::tree::{ConfigNode, NodeValue, ScalarKind};
use super::{FailureReason, LineStarts, MAX_NODES, NodeBudget, ParseFailure};

/// The most tokens: a value takes at least two, its key and its separators included.
const MAX_TOKENS: usize = 4 * MAX_NODES;

struct TomlReader<'a> {
    text: &'a str,
    lines: LineStarts,
    budget: NodeBudget,
}

pub(super) fn parse(text: &str, budget: NodeBudget) -> Result<ConfigNode, ParseFailure> {
    let lines = LineStarts::of(text);
    let is_blank =
        |kind| matches!(kind, TokenKind::Whitespace | TokenKind::Newline | TokenKind::Comment);
    // The document takes much memory for each value, so the values are counted before.
    let mut tokens = Source::new(text).lex().filter(|token| !is_blank(token.kind()));
    if let Some(token) = tokens.nth(MAX_TOKENS) {
        let (line, column) = lines.position(token.span().start());
        return Err(ParseFailure { line, column, reason: FailureReason::TooManyValues });
    }
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        ParseFailure::syntax("TOML", lines.position(at))
    })?;
    TomlReader { text, lines, budget }.table(document.as_table(), 1)
}

impl TomlReader<'_> {
    fn line(&self, span: Option<std::ops::Range<usize>>) -> Option<usize> {
        span.map(|span| self.lines.line(span.start))
    }

    fn table(&mut self, table: &Table, line: usize) -> Result<ConfigNode, ParseFailure> {
        self.entries(table, self.line(table.span()).unwrap_or(line))
    }

    fn entries(&mut self, table: &dyn TableLike, line: usize) -> Result<ConfigNode, ParseFailure> {
        self.budget.take(1, line)?;
        let mut entries = IndexMap::with_capacity(table.len());
        for (name, item) in table.iter() {
            let key_line = table.key(name).and_then(|key| self.line(key.span()));
            let node = match item {
                Item::None => continue,
                Item::Value(value) => self.value(value, key_line.unwrap_or(line))?,
                Item::Table(table) => self.table(table, key_line.unwrap_or(line))?,
                Item::ArrayOfTables(tables) => {
                    let line = self.line(tables.span()).or(key_line).unwrap_or(line);
                    self.budget.take(1, line)?;
                    let items = tables.iter().map(|table| self.table(table, line));
                    let items = items.collect::<Result<_, _>>()?;
                    ConfigNode::new(line, NodeValue::List(items))
                }
            };
            entries.insert(name.to_owned(), node);
        }
        Ok(ConfigNode::new(line, NodeValue::Table(entries)))
    }

    fn value(&mut self, value: &Value, line: usize) -> Result<ConfigNode, ParseFailure> {
        let line = self.line(value.span()).unwrap_or(line);
        if let Value::InlineTable(table) = value {
            return self.entries(table, line);
        }
        self.budget.take(1, line)?;
        let written = value.span().and_then(|span| self.text.get(span)).unwrap_or_default();
        Ok(match value {
            Value::String(text) => ConfigNode::text(line, text.value().as_str()),
            Value::Integer(_) | Value::Float(_) => ConfigNode::number(line, written),
            Value::Boolean(value) => {
                ConfigNode::scalar(line, ScalarKind::Bool(*value.value()), written)
            }
            Value::Datetime(_) => ConfigNode::text(line, written),
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(item, line));
                let items = items.collect::<Result<_, _>>()?;
                ConfigNode::new(line, NodeValue::List(items))
            }
            Value::InlineTable(_) => return Err(ParseFailure::syntax("TOML", (line, 1))),
        })
    }
}
