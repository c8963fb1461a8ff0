//! Writer of a page's content as Markdown or as text: blocks, their prefixes and the lines between.

use super::main_content::MainContent;
use super::notes::HtmlNotes;
use super::tree::HtmlTree;
use crate::markdown::escape_line_start;
use crate::options::Options;

/// The deepest nesting of lists and quotes that is shown.
const MAX_NESTING: usize = 12;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HtmlTextStyle {
    /// Markdown.
    Markdown,
    /// Text without marks.
    Plain,
}

/// Which marks the inline content is in, so that none is written twice.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InlineMarks {
    pub(super) strong: bool,
    pub(super) emphasis: bool,
    pub(super) deleted: bool,
    pub(super) code: bool,
    pub(super) link: bool,
}

/// A writer, and what it has written.
pub(super) struct HtmlWriter<'a> {
    pub(super) tree: &'a HtmlTree,
    pub(super) content: &'a MainContent,
    pub(super) options: &'a Options,
    pub(super) style: HtmlTextStyle,
    pub(super) notes: HtmlNotes<'a>,
    /// The inline content of the block that is being written; `\n` is a line break.
    pub(super) line: String,
    pub(super) marks: InlineMarks,
    /// The target of the link around the blocks that are being written.
    pub(super) block_link: Option<String>,
    /// Whether blocks follow each other without a blank line, as in a list of short items.
    pub(super) is_tight: bool,
    out: String,
    /// What stands before each line: indents and marks of quotes.
    prefix: String,
    /// What stands before the next line instead: the mark of a list item.
    first_prefix: Option<String>,
    /// Whether a block was written that the next one must be set off from.
    needs_gap: bool,
    nesting: usize,
}

impl<'a> HtmlWriter<'a> {
    pub(super) fn new(
        tree: &'a HtmlTree,
        content: &'a MainContent,
        options: &'a Options,
        style: HtmlTextStyle,
    ) -> Self {
        Self {
            tree,
            content,
            options,
            style,
            notes: HtmlNotes::find(tree, content),
            line: String::new(),
            marks: InlineMarks::default(),
            block_link: None,
            is_tight: false,
            out: String::new(),
            prefix: String::new(),
            first_prefix: None,
            needs_gap: false,
            nesting: 0,
        }
    }

    /// The text of the main content; `None` if it is over the limit of bytes.
    pub(super) fn write(mut self) -> Option<String> {
        self.write_title();
        self.write_blocks(self.content.root);
        self.flush();
        let limit = self.options.max_output_bytes;
        let mut text = self.out;
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            text.push('\n');
        }
        (text.len() <= limit).then_some(text)
    }

    pub(super) fn is_markdown(&self) -> bool {
        self.style == HtmlTextStyle::Markdown
    }

    /// Sets the next block off from the one before.
    pub(super) fn write_gap(&mut self) {
        if std::mem::take(&mut self.needs_gap) {
            self.out.push('\n');
            if !self.is_tight {
                self.out.push_str(self.prefix.trim_end());
                self.out.push('\n');
            }
        }
    }

    /// Puts the next block on the next line.
    pub(super) fn write_line_break(&mut self) {
        if std::mem::take(&mut self.needs_gap) {
            self.out.push('\n');
        }
    }

    /// Writes a block of lines.
    pub(super) fn write_lines(&mut self, text: &str) {
        if self.out.len() > self.options.max_output_bytes {
            return;
        }
        self.write_gap();
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.out.push('\n');
            }
            let first = self.first_prefix.take();
            let prefix = first.as_deref().unwrap_or(&self.prefix);
            self.out.push_str(if line.is_empty() { prefix.trim_end() } else { prefix });
            self.out.push_str(line);
        }
        self.needs_gap = true;
    }

    /// Writes what `write` writes with `marker` before its first line and `indent` before the rest.
    pub(super) fn write_nested(
        &mut self,
        (marker, indent): (&str, &str),
        write: impl FnOnce(&mut Self),
    ) {
        self.flush();
        self.write_gap();
        if self.nesting >= MAX_NESTING {
            write(self);
            self.flush();
            return;
        }
        let before = self.first_prefix.clone();
        let mut first = self.first_prefix.take().unwrap_or_else(|| self.prefix.clone());
        first.push_str(marker);
        self.first_prefix = Some(first);
        let length = self.prefix.len();
        self.prefix.push_str(indent);
        self.nesting += 1;
        write(self);
        self.flush();
        self.nesting -= 1;
        self.prefix.truncate(length);
        if self.first_prefix.is_some() {
            self.first_prefix = before;
        }
    }

    /// Ends the paragraph whose inline content was collected.
    pub(super) fn flush(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let content = std::mem::take(&mut self.line);
        let mut paragraph: Vec<&str> = Vec::new();
        for line in content.split('\n').map(str::trim).chain([""]) {
            if !line.is_empty() {
                paragraph.push(line);
            } else if !paragraph.is_empty() {
                self.write_paragraph(&paragraph);
                paragraph.clear();
            }
        }
    }

    fn write_paragraph(&mut self, lines: &[&str]) {
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            if at > 0 {
                text.push_str(if self.is_markdown() { "  \n" } else { "\n" });
            }
            match &self.block_link {
                Some(target) if self.is_markdown() => {
                    text.push_str(&format!("[{line}]({target})"));
                }
                _ if self.is_markdown() => text.push_str(&escape_line_start(line)),
                _ => text.push_str(line),
            }
        }
        self.write_lines(&text);
    }
}
