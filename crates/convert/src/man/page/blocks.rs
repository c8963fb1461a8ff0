//! Blocks of a page: headings, items with their tags, indents and cells.

use super::{MAX_DEPTH, MAX_INDENTS, ManBlock, ManMarker, ManPage, PageSink, span_text};
use crate::rich_text::{RichBlock, RichSpan, SpanStyle, is_blank};

impl ManPage {
    /// Begins a paragraph outside of items.
    pub(in crate::man) fn start_paragraph(&mut self) {
        if self.is_code() && !self.is_in_item && self.marker.is_none() {
            return self.space();
        }
        self.end_paragraph();
        self.is_in_item = false;
    }

    /// Begins a heading, whose text is set next.
    pub(in crate::man) fn start_heading(&mut self, level: u8) {
        self.end_paragraph();
        (self.depth, self.is_in_item, self.is_filled) = (0, false, true);
        self.indents.clear();
        self.marker = None;
        self.font = SpanStyle::default();
        self.sink = PageSink::Heading(level);
    }

    pub(super) fn end_heading(&mut self, level: u8) {
        self.sink = PageSink::Paragraph;
        let spans = std::mem::take(&mut self.spans);
        if !is_blank(&spans) {
            let block = RichBlock::Heading { level, spans };
            self.blocks.push(ManBlock { depth: 0, marker: None, block });
        }
        (self.has_space, self.has_break, self.has_text) = (false, false, false);
        self.font = SpanStyle::default();
    }

    /// Begins an item, whose tag is set next.
    pub(in crate::man) fn start_tag(&mut self) {
        self.end_paragraph();
        self.start_item(ManMarker::Bullet);
        self.sink = PageSink::Tag;
    }

    /// Adds a further tag to an item.
    pub(in crate::man) fn continue_tag(&mut self) {
        if self.sink == PageSink::Paragraph && self.marker.is_some() && !self.spans.is_empty() {
            self.has_break = true;
            self.sink = PageSink::Tag;
        } else {
            self.start_tag();
        }
        self.has_text = false;
    }

    /// Begins an item without a tag.
    pub(in crate::man) fn start_item(&mut self, marker: ManMarker) {
        self.end_paragraph();
        self.marker = Some(marker);
        self.is_in_item = true;
    }

    /// Ends the tag of an item: the next text stands below it.
    pub(in crate::man) fn end_tag(&mut self) {
        if self.sink != PageSink::Tag {
            return;
        }
        self.sink = PageSink::Paragraph;
        // A tag of several pieces is no mark of a list.
        let tag = match self.spans.as_slice() {
            [span] => span_text(span).unwrap_or("").trim().to_owned(),
            _ => String::new(),
        };
        let tag = tag.as_str();
        let number = tag.strip_suffix(['.', ')']).unwrap_or("");
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_plain = self.spans.first().is_some_and(|span| span.style == SpanStyle::default());
        let is_mark = matches!(tag, "*" | "-" | "–" | "—" | "o" | "+" | "−") && is_plain;
        if is_mark || matches!(tag, "•" | "·" | "○") {
            self.spans.clear();
        } else if let Some(number) = number.parse().ok().filter(|_| is_number) {
            (self.marker, self.spans) = (Some(ManMarker::Number(number)), Vec::new());
        }
        self.has_break = !self.spans.is_empty();
        (self.has_space, self.has_text) = (false, false);
    }

    /// Indents what comes next, under the item that is open.
    pub(in crate::man) fn indent(&mut self) {
        self.end_paragraph();
        if self.indents.len() >= MAX_INDENTS {
            return;
        }
        self.indents.push((self.depth, self.is_in_item));
        self.depth = (self.depth + u8::from(self.is_in_item)).min(MAX_DEPTH);
        self.is_in_item = false;
    }

    /// Ends an indent.
    pub(in crate::man) fn outdent(&mut self) {
        self.end_paragraph();
        if let Some((depth, is_in_item)) = self.indents.pop() {
            (self.depth, self.is_in_item) = (depth, is_in_item);
        }
    }

    /// Begins a cell of a table.
    pub(in crate::man) fn start_cell(&mut self) {
        self.sink = PageSink::Cell;
        self.spans.clear();
        (self.has_space, self.has_break, self.has_text) = (false, false, false);
    }

    /// Ends a cell of a table, and returns what it shows.
    pub(in crate::man) fn end_cell(&mut self) -> Vec<RichSpan> {
        self.sink = PageSink::Paragraph;
        self.font = SpanStyle::default();
        (self.has_space, self.has_break, self.is_joined) = (false, false, false);
        self.has_text = false;
        std::mem::take(&mut self.spans)
    }
}
