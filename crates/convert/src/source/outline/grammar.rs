//! Symbols of the languages that have a parser: a walk over the syntax tree.

use tree_sitter::{Language, Parser, TreeCursor};

use super::symbols::{is_container, symbol_of};
use super::{OutlineSymbol, OutlineSymbols};

/// The symbols of a text in the language with this ending; `None` if there is no parser for it.
pub(super) fn symbols(text: &str, key: &str) -> Option<OutlineSymbols> {
    let mut parser = Parser::new();
    parser.set_language(&language(key)?).ok()?;
    let tree = parser.parse(text, None)?;
    let mut symbols = OutlineSymbols::default();
    walk(&mut tree.walk(), text, &mut symbols);
    Some(symbols)
}

fn language(key: &str) -> Option<Language> {
    Some(match key {
        "rs" => tree_sitter_rust::LANGUAGE.into(),
        "py" | "pyi" | "pyw" => tree_sitter_python::LANGUAGE.into(),
        "js" | "mjs" | "cjs" | "jsx" => tree_sitter_javascript::LANGUAGE.into(),
        "ts" | "mts" | "cts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        "tsx" => tree_sitter_typescript::LANGUAGE_TSX.into(),
        "go" => tree_sitter_go::LANGUAGE.into(),
        "java" => tree_sitter_java::LANGUAGE.into(),
        "c" => tree_sitter_c::LANGUAGE.into(),
        // Headers of C are headers of C++, as good as always.
        "h" | "hh" | "hpp" | "hxx" | "h++" | "cc" | "cpp" | "cxx" | "c++" | "cu" | "cuh"
        | "ino" | "ipp" | "inl" => tree_sitter_cpp::LANGUAGE.into(),
        "rb" | "rake" | "gemspec" | "rakefile" | "gemfile" => tree_sitter_ruby::LANGUAGE.into(),
        "sh" | "bash" | "zsh" | ".bashrc" | ".bash_profile" | ".profile" | ".zshrc" => {
            tree_sitter_bash::LANGUAGE.into()
        }
        _ => return None,
    })
}

/// Visits every node without recursion: trees of hostile texts are deep.
fn walk(cursor: &mut TreeCursor<'_>, text: &str, symbols: &mut OutlineSymbols) {
    // The kinds of the symbols around the cursor, with their levels in the tree.
    let mut around: Vec<(usize, &'static str)> = Vec::new();
    let mut level = 0;
    loop {
        while around.last().is_some_and(|(inner, _)| *inner >= level) {
            around.pop();
        }
        let node = cursor.node();
        let parent = around.last().map(|(_, kind)| *kind);
        if let Some((name, kind)) = symbol_of(node, text, parent) {
            let is_method = kind == "function" && parent.is_some_and(is_container);
            let kind = if is_method { "method" } else { kind };
            let start_line = node.start_position().row + 1;
            // A node that ends with a line feed does not reach into the next line.
            let end = node.end_position();
            let end_line = (end.row + usize::from(end.column > 0)).max(start_line);
            let depth = around.len();
            symbols.push(OutlineSymbol { name, kind, start_line, end_line, depth });
            around.push((level, kind));
        }
        if cursor.goto_first_child() {
            level += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            level -= 1;
        }
    }
}
