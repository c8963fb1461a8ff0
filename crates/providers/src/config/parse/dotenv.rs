//! Parser for `.env` files: assignments with quotes, escapes and `export`.

use indexmap::IndexMap;

use super::super::tree::{ConfigNode, NodeValue, ScalarKind};
use super::{NodeBudget, ParseFailure};

pub(super) fn parse(text: &str, mut budget: NodeBudget) -> Result<ConfigNode, ParseFailure> {
    let mut table = IndexMap::new();
    let (mut rest, mut number) = (text, 1);
    budget.take(1, 1)?;
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let (full, after) = rest.split_at(end);
        let line = full.trim();
        if line.is_empty() || line.starts_with('#') {
            (rest, number) = (after, number + 1);
            continue;
        }
        let bare = line.strip_prefix("export ").map_or(line, str::trim_start);
        budget.take(1, number)?;
        let Some((key, value)) = bare.split_once('=') else {
            let is_name = |letter: char| letter.is_alphanumeric() || "_.-".contains(letter);
            let is_export = bare.len() < line.len() && bare.chars().all(is_name);
            if !is_export {
                return Err(ParseFailure::syntax(".env", (number, 1)));
            }
            table.insert(bare.to_owned(), ConfigNode::scalar(number, ScalarKind::Null, ""));
            (rest, number) = (after, number + 1);
            continue;
        };
        let key = key.trim().to_owned();
        let value = value.trim_start();
        let Some(quote) = value.chars().next().filter(|first| "\"'`".contains(*first)) else {
            let plain = value.find(" #").map_or(value, |comment| &value[..comment]);
            let plain = if plain.starts_with('#') { "" } else { plain };
            table.insert(key, ConfigNode::text(number, plain.trim_end()));
            (rest, number) = (after, number + 1);
            continue;
        };
        // A quoted value may go on over lines: read it from the text, not from the line.
        let start = text.len() - rest.len() + full.find('=').unwrap_or(0) + 1;
        let blank = text[start..].find(quote).unwrap_or(0);
        let inside = &text[start + blank + 1..];
        let column = full.len() - full.trim_start().len() + 1;
        let unclosed = ParseFailure::syntax(".env", (number, column));
        let (value, used) = quoted_value(inside, quote).ok_or(unclosed)?;
        table.insert(key, ConfigNode::text(number, value));
        let tail = &inside[used..];
        number += inside[..used].matches('\n').count() + 1;
        rest = tail.find('\n').map_or("", |end| &tail[end + 1..]);
    }
    Ok(ConfigNode::new(1, NodeValue::Table(table)))
}

/// The value up to the closing quote, and how many bytes it takes with the quote. Only double
/// quotes have escapes.
fn quoted_value(inside: &str, quote: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut letters = inside.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter == quote {
            return Some((value, at + quote.len_utf8()));
        }
        if letter != '\\' || quote != '"' {
            value.push(letter);
            continue;
        }
        match letters.next()?.1 {
            'n' => value.push('\n'),
            'r' => value.push('\r'),
            't' => value.push('\t'),
            plain @ ('"' | '\\' | '$' | '`' | '\'') => value.push(plain),
            other => value.extend(['\\', other]),
        }
    }
    None
}
