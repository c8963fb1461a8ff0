//! Parser for Java properties. Dots in keys do not nest.

use indexmap::IndexMap;

use super::super::tree::{ConfigNode, NodeValue};
use super::{NodeBudget, ParseFailure};

pub(super) fn parse(text: &str, mut budget: NodeBudget) -> Result<ConfigNode, ParseFailure> {
    let mut table = IndexMap::new();
    budget.take(1, 1)?;
    let mut lines = text.lines().enumerate();
    while let Some((at, first)) = lines.next() {
        let number = at + 1;
        let mut line = first.trim_start().to_owned();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        while ends_escaped(&line) {
            line.pop();
            let Some((_, next)) = lines.next() else { break };
            line.push_str(next.trim_start());
        }
        budget.take(1, number)?;
        let (key, value) = split_key(&line);
        let bad = || ParseFailure::syntax("Java properties", (number, 1));
        let key = unescape(key).ok_or_else(bad)?;
        table.insert(key, ConfigNode::text(number, unescape(value).ok_or_else(bad)?));
    }
    Ok(ConfigNode::new(1, NodeValue::Table(table)))
}

/// Whether the line ends in an odd number of backslashes, so that the next one continues it.
fn ends_escaped(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Splits at the first `=`, `:` or white space that no backslash precedes.
fn split_key(line: &str) -> (&str, &str) {
    let mut is_escaped = false;
    let end = line.find(|letter: char| {
        let is_end = !is_escaped && (matches!(letter, '=' | ':') || letter.is_whitespace());
        is_escaped = !is_escaped && letter == '\\';
        is_end
    });
    let Some(end) = end else { return (line, "") };
    let rest = line[end..].trim_start();
    (&line[..end], rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start())
}

fn unescape(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    // UTF-16, since an escape may be half a character.
    let mut units: Vec<u16> = Vec::new();
    loop {
        let letter = letters.next();
        let is_unit = letter == Some('\\') && letters.as_str().starts_with('u');
        if !is_unit && !units.is_empty() {
            plain.push_str(&String::from_utf16(&units).ok()?);
            units.clear();
        }
        match letter {
            None => return Some(plain),
            Some('\\') if is_unit => {
                letters.next();
                let digits = letters.as_str().get(..4)?;
                units.push(u16::from_str_radix(digits, 16).ok()?);
                letters = letters.as_str()[4..].chars();
            }
            Some('\\') => match letters.next() {
                Some('n') => plain.push('\n'),
                Some('r') => plain.push('\r'),
                Some('t') => plain.push('\t'),
                Some('f') => plain.push('\u{c}'),
                Some(other) => plain.push(other),
                None => {}
            },
            Some(letter) => plain.push(letter),
        }
    }
}
