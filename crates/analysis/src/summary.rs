//! Summary of a text: the words at its beginning that say what it is about.

use crate::TextKind;
use crate::passages::{is_front_matter_mark, lines};

/// The most characters of a summary.
const MAX_CHARS: usize = 300;
/// The most lines that are looked at.
const MAX_LINES: usize = 200;
/// Words of comments that speak of rights, not of the text.
const LEGAL: [&str; 3] = ["copyright", "spdx-license", "licensed under"];
/// What begins a line of a comment, the longest first.
const COMMENT_MARKS: [&str; 14] =
    ["//!", "///", "//", "/**", "/*", "*/", "* ", "*", "\"\"\"", "# ", "--", ";;", ";", "%"];

/// What a text says of itself at its beginning: the leading comment of source code, the first
/// heading and paragraph of other texts. `None` if there are no such words.
pub fn summary(text: &str, kind: TextKind) -> Option<String> {
    let found = match kind {
        TextKind::Code => leading_comment(text),
        TextKind::Markdown | TextKind::Plain => first_paragraphs(text, kind),
    };
    let words: Vec<&str> = found.iter().flat_map(|line| line.split_whitespace()).collect();
    let joined: String = words.join(" ").chars().take(MAX_CHARS).collect();
    joined.chars().any(char::is_alphanumeric).then_some(joined)
}

/// The lines of the first comment that is not about rights, without its marks.
fn leading_comment(text: &str) -> Vec<&str> {
    let mut comment: Vec<&str> = Vec::new();
    let mut is_docstring = false;
    for line in lines(text).take(MAX_LINES) {
        let code = line.head.trim();
        let quotes = code.matches("\"\"\"").count();
        let is_inside = is_docstring || is_comment(code);
        is_docstring ^= quotes == 1;
        if is_inside {
            comment.push(without_marks(code));
        } else if !comment.is_empty() {
            if !is_legal(&comment) {
                break;
            }
            comment.clear();
        } else if !code.is_empty() && !code.starts_with('#') && !code.starts_with('<') {
            // What follows the first statement speaks of a part.
            break;
        }
    }
    if is_legal(&comment) { Vec::new() } else { comment }
}

/// Whether a line of code begins a comment, or goes on with one.
pub(crate) fn is_comment(code: &str) -> bool {
    code == "#" || COMMENT_MARKS.iter().any(|mark| code.starts_with(mark))
}

fn without_marks(line: &str) -> &str {
    let mark = COMMENT_MARKS.iter().find_map(|mark| line.strip_prefix(mark));
    mark.unwrap_or(line.trim_matches('#'))
        .trim()
        .trim_end_matches("*/")
        .trim_end_matches("\"\"\"")
        .trim_end()
}

fn is_legal(comment: &[&str]) -> bool {
    comment.iter().any(|line| is_legal_line(line))
}

/// Whether a line of a comment speaks of rights.
pub(crate) fn is_legal_line(line: &str) -> bool {
    let line = line.to_lowercase();
    LEGAL.iter().any(|word| line.contains(word))
}

/// The first heading, and the first paragraph of words.
fn first_paragraphs(text: &str, kind: TextKind) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut is_front_matter = false;
    let (mut is_heading, mut is_paragraph) = (false, false);
    for (number, line) in lines(text).take(MAX_LINES).enumerate() {
        let words = line.head.trim();
        let is_mark = is_front_matter_mark(words);
        if kind == TextKind::Markdown && (is_front_matter || number == 0 && is_mark) {
            is_front_matter = !is_mark || number == 0;
            continue;
        }
        if words.is_empty() || words.starts_with("<!--") || is_decoration(words) {
            if is_paragraph {
                break;
            }
        } else if words.starts_with('#') && kind == TextKind::Markdown {
            if is_heading || is_paragraph {
                break;
            }
            is_heading = true;
            found.push(words.trim_start_matches('#').trim());
        } else {
            is_paragraph = true;
            found.push(words);
        }
    }
    found
}

/// A line without words of its own: a rule, an image, a badge, a fence.
pub(crate) fn is_decoration(line: &str) -> bool {
    !line.chars().any(char::is_alphanumeric)
        || ["![", "[![", "<", "```", "~~~", "|"].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::summary;
    use crate::TextKind::{self, Code, Markdown, Plain};

    #[test]
    fn the_beginning_says_what_a_text_is_about() {
        let cases: [(&str, TextKind, Option<&str>); 14] = [
            (
                "//! Rate limit of the log.\n//!\n//! Per site.\n\nuse x;\n// later",
                Code,
                Some("Rate limit of the log. Per site."),
            ),
            (
                "// Copyright 2026 A\n// SPDX-License-Identifier: MIT\n\n/* Reads\n * files. */\nint x;",
                Code,
                Some("Reads files."),
            ),
            (
                "#!/usr/bin/env python3\n\"\"\"Judges packs.\n\nAnd budgets.\n\"\"\"\nimport x\n",
                Code,
                Some("Judges packs. And budgets."),
            ),
            ("\"\"\"One line.\"\"\"\nx = 1\n", Code, Some("One line.")),
            (
                "#!/bin/sh\n# Every check of the project.\nset -e\n",
                Code,
                Some("Every check of the project."),
            ),
            ("fn main() {}\n// not the file\n", Code, None),
            ("#include <x.h>\n#\n# Not C.\n", Code, Some("Not C.")),
            ("#[derive(Debug)]\nstruct X;\n", Code, None),
            (
                "---\ntitle: x\n---\n# Guide\n\n![logo](a.png)\n\nHow to\nbegin.\n\nMore.",
                Markdown,
                Some("Guide How to begin."),
            ),
            ("# One\n\n## Two\n\nText", Markdown, Some("One")),
            ("\n\n共有メモリの概要。\n使い方。\n\n次", Plain, Some("共有メモリの概要。 使い方。")),
            ("", Plain, None),
            ("----\n====\n", Markdown, None),
            ("// Copyright A\n", Code, None),
        ];
        for (text, kind, wanted) in cases {
            assert_eq!(summary(text, kind).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn a_summary_is_short_whatever_the_text() {
        for kind in [Code, Markdown, Plain] {
            let long = summary(&"// 共有メモリ ".repeat(10_000), kind).unwrap_or_default();
            assert!(long.chars().count() <= 300, "{kind:?}");
            assert!(summary(&"\n".repeat(100_000), kind).is_none());
        }
    }
}
