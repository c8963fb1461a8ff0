//! Symbols of languages without a parser: by keywords at the beginning of lines, and by indents.

use super::{OutlineSymbol, OutlineSymbols};

/// Words before a keyword.
const MODIFIERS: &[&str] = &[
    "abstract",
    "actor",
    "async",
    "create",
    "data",
    "export",
    "extern",
    "external",
    "final",
    "fileprivate",
    "inline",
    "internal",
    "local",
    "open",
    "or",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "replace",
    "sealed",
    "static",
    "suspend",
    "unsafe",
    "virtual",
];

/// Keywords, and the kind of symbol that they begin.
const KEYWORDS: &[(&str, &str)] = &[
    ("class", "class"),
    ("contract", "class"),
    ("def", "function"),
    ("defmodule", "module"),
    ("defp", "function"),
    ("defun", "function"),
    ("enum", "enum"),
    ("fn", "function"),
    ("fun", "function"),
    ("func", "function"),
    ("function", "function"),
    ("input", "type"),
    ("interface", "interface"),
    ("library", "module"),
    ("message", "struct"),
    ("module", "module"),
    ("namespace", "module"),
    ("object", "class"),
    ("package", "module"),
    ("procedure", "function"),
    ("proc", "function"),
    ("protocol", "interface"),
    ("record", "class"),
    ("resource", "type"),
    ("rpc", "method"),
    ("service", "interface"),
    ("struct", "struct"),
    ("sub", "function"),
    ("table", "struct"),
    ("trait", "trait"),
    ("type", "type"),
    ("union", "struct"),
    ("variable", "constant"),
    ("view", "struct"),
];

/// The longest line that is looked at.
const MAX_LINE_BYTES: usize = 1_000;

/// The symbols of a text: a symbol ends before the next line that is indented no deeper.
pub(super) fn symbols(text: &str) -> OutlineSymbols {
    let mut symbols = OutlineSymbols::default();
    // The symbols that have not ended: their indents, and where they are in the list.
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    let mut last_line = 0;
    for (at, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if code.is_empty() || line.len() > MAX_LINE_BYTES {
            continue;
        }
        let indent = line.len() - code.len();
        let closes = code.starts_with(['}', ')', ']']) || code.starts_with("end");
        while let Some((inner, place)) = open.last().copied() {
            if inner < indent {
                break;
            }
            let end_line = if closes && inner == indent { at + 1 } else { last_line };
            set_end(&mut symbols, place, end_line);
            open.pop();
        }
        last_line = at + 1;
        if let Some((name, kind)) = symbol_in_line(code) {
            let depth = open.len();
            let parent_holds_methods = open.last().is_some_and(|(_, place)| {
                place.is_some_and(|place| super::symbols::is_container(symbols.list[place].kind))
            });
            let kind = if kind == "function" && parent_holds_methods { "method" } else { kind };
            let (start_line, end_line) = (at + 1, at + 1);
            let symbol = OutlineSymbol { name, kind, start_line, end_line, depth };
            open.push((indent, symbols.push(symbol)));
        }
    }
    for (_, place) in open {
        set_end(&mut symbols, place, last_line);
    }
    symbols
}

fn set_end(symbols: &mut OutlineSymbols, place: Option<usize>, end_line: usize) {
    if let Some(symbol) = place.and_then(|place| symbols.list.get_mut(place)) {
        symbol.end_line = symbol.end_line.max(end_line);
    }
}

fn symbol_in_line(code: &str) -> Option<(String, &'static str)> {
    let mut words = code.split_whitespace().take(8).skip_while(|word| {
        let word = word.split('(').next().unwrap_or(word);
        MODIFIERS.contains(&word.to_ascii_lowercase().as_str())
    });
    let keyword = words.next()?.to_ascii_lowercase();
    let (_, kind) = KEYWORDS.iter().find(|(word, _)| *word == keyword)?;
    let name = words.next()?;
    let name = match keyword.as_str() {
        // Blocks of Terraform are named by two texts.
        "resource" => format!("{}.{}", name.trim_matches('"'), words.next()?.trim_matches('"')),
        _ => {
            let ends = |letter: char| "({<:;=,[".contains(letter);
            name.split(ends).next().unwrap_or(name).trim_matches(['"', '`']).to_owned()
        }
    };
    let is_name = name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    is_name.then_some((name, *kind))
}
