//! Outline of source code: definitions at the top level, and within classes and the like.

use super::outline::{TextOutline, lines, page_mark};

/// The most open definitions.
const MAX_DEPTH: usize = 3;

const MODIFIERS: [&str; 32] = [
    "pub",
    "pub(crate)",
    "pub(super)",
    "export",
    "default",
    "async",
    "static",
    "public",
    "private",
    "protected",
    "internal",
    "abstract",
    "final",
    "override",
    "unsafe",
    "extern",
    "\"C\"",
    "const",
    "inline",
    "virtual",
    "declare",
    "readonly",
    "sealed",
    "partial",
    "open",
    "data",
    "suspend",
    "external",
    "constexpr",
    "synchronized",
    "local",
    "template",
];
/// Keywords of definitions that hold definitions.
const CONTAINERS: [&str; 13] = [
    "class",
    "impl",
    "trait",
    "interface",
    "mod",
    "module",
    "namespace",
    "struct",
    "object",
    "protocol",
    "extension",
    "union",
    "enum",
];
const DEFINITIONS: [&str; 15] = [
    "fn",
    "def",
    "function",
    "func",
    "fun",
    "type",
    "macro_rules!",
    "record",
    "sub",
    "package",
    "const",
    "static",
    "typedef",
    "defmodule",
    "method",
];
const STATEMENTS: [&str; 16] = [
    "if", "for", "while", "return", "switch", "else", "case", "do", "match", "catch", "with",
    "new", "await", "assert", "throw", "use",
];

/// A definition.
#[derive(Debug, PartialEq, Eq)]
struct CodeDefinition<'t> {
    title: &'t str,
    holds_definitions: bool,
}

pub(super) fn outline(text: &str) -> TextOutline {
    let mut outline = TextOutline::default();
    // Indents of the open definitions that hold others.
    let mut containers: Vec<usize> = Vec::new();
    let mut attached: Option<usize> = None;
    // The end of the comment or attribute that the line is in.
    let mut open: Option<&str> = None;
    for line in lines(text) {
        let code = line.head.trim();
        if let Some(page) = page_mark(line.head) {
            outline.page(line.start, page);
            attached = None;
            continue;
        }
        if open.is_some() || is_comment_or_attribute(code) {
            attached.get_or_insert(line.start);
            open = open.or_else(|| end_mark(code)).filter(|end| !code.contains(end));
            continue;
        }
        let indent = line.indent();
        if !code.is_empty() && indent == 0 && code.starts_with(['}', ')', ']']) {
            containers.clear();
            outline.leave(1);
        }
        while !code.is_empty() && containers.last().is_some_and(|open| *open >= indent) {
            containers.pop();
        }
        let is_place = containers.last().map_or(indent == 0, |open| indent > *open);
        if is_place
            && containers.len() < MAX_DEPTH
            && let Some(found) = definition(code, indent)
            && is_child(&outline, &containers, indent)
        {
            outline.heading(attached.unwrap_or(line.start), indent + 1, found.title);
            if found.holds_definitions && !code.ends_with(';') {
                containers.push(indent);
            }
        }
        attached = None;
    }
    outline
}

/// True if a line at `indent` is not inside of a function: the definitions beside it have the same
/// indent.
fn is_child(outline: &TextOutline, containers: &[usize], indent: usize) -> bool {
    match outline.level() {
        Some(level) if outline.depth() > containers.len() => indent < level,
        _ => true,
    }
}

fn is_comment_or_attribute(code: &str) -> bool {
    let marks =
        ["//", "/*", "*", "#[", "#!", "# ", "@", "--", ";;", "\"\"\"", "template <", "template<"];
    code == "#" || marks.iter().any(|mark| code.starts_with(mark))
}

/// What ends a comment or attribute that may have more lines.
fn end_mark(code: &str) -> Option<&'static str> {
    let marks = [("/*", "*/"), ("#[", "]")];
    marks.iter().find(|(start, _)| code.starts_with(start)).map(|(_, end)| *end)
}

fn definition(code: &str, indent: usize) -> Option<CodeDefinition<'_>> {
    let rest = without_modifiers(code);
    let keyword = rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '!').next()?;
    let has_modifiers = rest.len() < code.len();
    if STATEMENTS.contains(&keyword) {
        return None;
    }
    let holds_definitions = CONTAINERS.contains(&keyword);
    let after = &rest[keyword.len()..];
    let is_named = after.starts_with([' ', '<', '\t']);
    if (holds_definitions || DEFINITIONS.contains(&keyword)) && is_named {
        let is_declaration = keyword == "mod" && rest.ends_with(';');
        let found = CodeDefinition { title: title(rest, keyword), holds_definitions };
        return (!is_declaration).then_some(found);
    }
    if indent == 0
        && let Some(constant) = constant(code)
    {
        return Some(CodeDefinition { title: title(constant, ""), holds_definitions: false });
    }
    let open = rest.find('(')?;
    let name = rest[..open].trim_end();
    let is_name = name.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || " _:*&<>,~$[]".contains(c))
        && rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let has_type = name.contains(' ') || has_modifiers;
    let has_body = rest.ends_with('{') || (indent == 0 && !rest.ends_with(';') && has_type);
    let is_function = is_name && has_body && (indent > 0 || has_type || rest.ends_with("() {"));
    is_function.then_some(CodeDefinition { title: name, holds_definitions: false })
}

/// The constant that a line defines, from its keyword.
fn constant(code: &str) -> Option<&str> {
    let at = ["const ", "static "].iter().filter_map(|word| code.find(word)).min()?;
    let is_start = code[..at].split_whitespace().all(|before| MODIFIERS.contains(&before));
    let name = code[at..].split_whitespace().nth(1)?;
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (is_start && is_name && !code.contains('(')).then(|| &code[at..])
}

fn without_modifiers(code: &str) -> &str {
    let mut rest = code;
    while let Some((word, after)) = rest.split_once(' ') {
        if !MODIFIERS.contains(&word) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// The keyword and name of a definition.
fn title<'t>(code: &'t str, keyword: &str) -> &'t str {
    let is_impl = keyword == "impl";
    // The receiver of a Go method stands in parentheses before its name.
    let skipped = match code.strip_prefix("func (").and_then(|rest| rest.find(')')) {
        Some(at) => "func (".len() + at + 1,
        None => 0,
    };
    let marks: &[char] = if is_impl { &['{', ';'] } else { &['(', '{', ';', '=', '<'] };
    let end = code[skipped..].find(marks).map_or(code.len(), |at| skipped + at);
    let end = match code[..end].find(" where ") {
        Some(at) => at,
        None => end,
    };
    let text = code[..end].trim_end();
    // The colon of a Python block or a type, not that of a path.
    match text.find(": ").or_else(|| text.strip_suffix(':').map(str::len)) {
        Some(at) if !is_impl => text[..at].trim_end(),
        _ => text.trim_end_matches(':'),
    }
}
