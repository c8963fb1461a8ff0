//! Outline: the symbols of source code, the keys of data, the files of a diff, with their lines.

mod data;
mod diff;
mod grammar;
mod headings;
mod keywords;
mod symbols;

#[cfg(test)]
mod tests;

use std::iter::Peekable;
use std::vec::IntoIter;

use serde_json::Value;

use super::names::language_key;
use crate::conversion::{Conversion, counted};
use crate::error::ConvertError;

/// The deepest nesting of an outline.
const MAX_DEPTH: usize = 8;

/// The most symbols of an outline.
const MAX_SYMBOLS: usize = 10_000;

/// The longest name of a symbol, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// The most bytes that are read for an outline: a syntax tree has 190 times the size of its text.
const MAX_TEXT_BYTES: usize = 2 << 20;

/// A symbol, before it is nested.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OutlineSymbol {
    name: String,
    kind: &'static str,
    /// Its first and last line, counted from 1.
    start_line: usize,
    end_line: usize,
    /// How many symbols it is in.
    depth: usize,
}

/// The symbols that were found, in the order of their lines.
#[derive(Debug, Default)]
struct OutlineSymbols {
    list: Vec<OutlineSymbol>,
    left_out: usize,
}

impl OutlineSymbols {
    /// Adds a symbol, and gives the place where its last line can be set.
    fn push(&mut self, symbol: OutlineSymbol) -> Option<usize> {
        if symbol.depth >= MAX_DEPTH || self.list.len() >= MAX_SYMBOLS {
            self.left_out += 1;
            return None;
        }
        let mut symbol = symbol;
        let name = symbol.name.split_whitespace().collect::<Vec<_>>().join(" ");
        symbol.name = name[..name.floor_char_boundary(MAX_NAME_BYTES)].to_owned();
        self.list.push(symbol);
        Some(self.list.len() - 1)
    }
}

/// The outline of a file as JSON.
pub(super) fn outline(text: &str, name: &str) -> Result<Conversion, ConvertError> {
    let mut losses = Vec::new();
    let read = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    if read.len() < text.len() {
        losses.push(format!("only the first {} MiB are read", MAX_TEXT_BYTES >> 20));
    }
    let symbols = find_symbols(read, &language_key(name));
    if symbols.left_out > 0 {
        losses.push(counted(
            symbols.left_out,
            "more symbol is left out",
            "more symbols are left out",
        ));
    }
    let mut json = String::new();
    push_level(&mut json, &mut symbols.list.into_iter().peekable(), 0);
    json.push('\n');
    Ok(Conversion { losses, ..Conversion::text(json) })
}

fn find_symbols(text: &str, key: &str) -> OutlineSymbols {
    match key {
        "json" | "jsonc" | "json5" | "jsonl" | "ndjson" => data::json_keys(text),
        "yaml" | "yml" => data::yaml_keys(text),
        "toml" | "ini" | "cfg" | "conf" | "properties" | "editorconfig" | "service" | "lock" => {
            data::table_keys(text)
        }
        "diff" | "patch" => diff::files_and_hunks(text),
        "rst" | "adoc" | "asciidoc" | "org" | "mdx" => headings::headings(text, key),
        _ => grammar::symbols(text, key).unwrap_or_else(|| keywords::symbols(text)),
    }
}

/// Appends the symbols from `depth` on as JSON, each with those in it.
fn push_level(json: &mut String, symbols: &mut Peekable<IntoIter<OutlineSymbol>>, depth: usize) {
    json.push('[');
    let mut is_first = true;
    while let Some(symbol) = symbols.next_if(|symbol| symbol.depth >= depth) {
        json.push_str(if is_first { "" } else { "," });
        is_first = false;
        let OutlineSymbol { name, kind, start_line, end_line, depth } = symbol;
        let name = Value::String(name);
        json.push_str(&format!(r#"{{"name":{name},"kind":"{kind}","#));
        json.push_str(&format!(r#""start_line":{start_line},"end_line":{end_line},"children":"#));
        push_level(json, symbols, depth + 1);
        json.push('}');
    }
    json.push(']');
}
