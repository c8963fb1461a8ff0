//! Renderer of manual pages: from roff to Markdown, in one pass over the lines.
//!
//! It runs no macros of the page, and reads no other file. Fonts are left out: the words matter.

use super::control_line;
use super::escapes::{plain_line, split_arguments};
use super::mdoc;

/// What is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ManualBlock {
    Paragraph,
    /// The body of a list item.
    Item,
    /// Literal lines.
    Literal,
}

/// Writes the Markdown of a manual page.
pub(super) struct ManualWriter {
    text: String,
    block: ManualBlock,
    /// What the next line of text is.
    pending: Option<PendingLine>,
    /// The block to go back to after a literal text.
    outer: ManualBlock,
}

/// What a line of text becomes, where a macro takes its text from the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingLine {
    Heading(usize),
    Tag,
}

/// Whether a macro writes its arguments in a font.
pub(super) fn is_font(name: &str) -> bool {
    matches!(
        name,
        "B" | "I" | "R" | "SM" | "SB" | "BI" | "BR" | "IB" | "IR" | "RB" | "RI" | "CW" | "C"
    )
}

/// The text of a manual page in Markdown.
pub(in crate::docs) fn render_manual(title: &str, text: &str) -> String {
    let mut writer = ManualWriter::new(title);
    let mut lines = text.lines();
    let is_mdoc = text.lines().any(|line| line.starts_with(".Dd") || line.starts_with(".Dt"));
    while let Some(line) = lines.next() {
        let (name, rest) = control_line(line);
        match name {
            Some("de" | "de1" | "am" | "ig") => {
                lines.by_ref().find(|line| line.starts_with(".."));
            }
            Some("if" | "ie" | "el" | "while") => {
                // Both branches of a condition are for a printer: neither is text.
                let mut depth = brace_balance(rest);
                while depth > 0 {
                    let Some(line) = lines.next() else { break };
                    depth += brace_balance(line);
                }
            }
            Some(name) if is_mdoc && mdoc::take_macro(&mut writer, name, rest) => {}
            Some(name) => writer.take_macro(name, rest),
            None => writer.push_text(&plain_line(line)),
        }
    }
    writer.finish()
}

fn brace_balance(line: &str) -> isize {
    let count = |mark: &str| isize::try_from(line.matches(mark).count()).unwrap_or(0);
    count("\\{") - count("\\}")
}

impl ManualWriter {
    fn new(title: &str) -> Self {
        let block = ManualBlock::Paragraph;
        Self { text: format!("# {title}\n"), block, pending: None, outer: block }
    }

    fn take_macro(&mut self, name: &str, rest: &str) {
        let arguments = || split_arguments(rest);
        match name {
            "SH" => self.push_heading(2, &arguments().join(" ")),
            "SS" => self.push_heading(3, &arguments().join(" ")),
            "PP" | "LP" | "P" | "HP" | "sp" => self.end_paragraph(),
            "TP" | "TQ" => {
                self.end_paragraph();
                self.pending = Some(PendingLine::Tag);
            }
            "IP" => {
                let tag = arguments().into_iter().next().unwrap_or_default();
                self.begin_item(&tag);
            }
            "br" => self.break_line(),
            "nf" | "EX" | "TS" | "Vb" => self.begin_literal(),
            "fi" | "EE" | "TE" | "Ve" => self.end_literal(),
            "RE" if self.block == ManualBlock::Item => self.end_paragraph(),
            "UR" | "MT" => self.push_text(&arguments().join(" ")),
            "so" => {
                let target = arguments().join(" ");
                self.push_text(&format!("See {target}."));
            }
            "OP" => {
                let words = arguments().join(" ");
                self.push_text(&format!("[{words}]"));
            }
            "SY" => self.push_text(&arguments().join(" ")),
            name if is_font(name) => {
                let words = arguments();
                let glue = if name.len() == 2 && !name.starts_with('S') { "" } else { " " };
                self.push_text(&words.join(glue));
            }
            _ => {}
        }
    }

    /// Writes a heading; one without text takes the next line.
    pub(super) fn push_heading(&mut self, level: usize, heading: &str) {
        self.end_literal();
        self.block = ManualBlock::Paragraph;
        if heading.trim().is_empty() {
            self.pending = Some(PendingLine::Heading(level));
            return;
        }
        self.pending = None;
        self.end_line();
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n('#', level));
        self.text.push(' ');
        self.text.push_str(heading.trim());
        self.text.push_str("\n\n");
    }

    /// Writes one line of running text.
    pub(super) fn push_text(&mut self, line: &str) {
        match self.pending.take() {
            Some(PendingLine::Heading(level)) => return self.push_heading(level, line),
            Some(PendingLine::Tag) => return self.begin_item(line),
            None => {}
        }
        if self.block == ManualBlock::Literal {
            self.text.push_str(line);
            self.text.push('\n');
            return;
        }
        if line.trim().is_empty() {
            return self.end_paragraph();
        }
        if self.block == ManualBlock::Item && self.text.ends_with('\n') {
            self.text.push_str("  ");
        }
        for (at, word) in line.split_ascii_whitespace().enumerate() {
            self.text.push_str(if at > 0 { " " } else { "" });
            self.text.push_str(word);
        }
        self.text.push('\n');
    }

    /// Ends the paragraph or the item; a literal text gets an empty line.
    pub(super) fn end_paragraph(&mut self) {
        if self.block != ManualBlock::Literal {
            self.block = ManualBlock::Paragraph;
        }
        self.end_line();
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Begins an item with its tag.
    pub(super) fn begin_item(&mut self, tag: &str) {
        self.end_literal();
        self.end_line();
        let tag = tag.trim();
        let is_bullet = matches!(tag, "•" | "*" | "-" | "o" | "—");
        self.text.push_str("- ");
        if !is_bullet && !tag.is_empty() {
            self.text.push_str(tag);
            self.text.push('\n');
        }
        self.block = ManualBlock::Item;
    }

    pub(super) fn break_line(&mut self) {
        self.end_line();
    }

    pub(super) fn begin_literal(&mut self) {
        if self.block != ManualBlock::Literal {
            self.end_line();
            self.outer = self.block;
            self.block = ManualBlock::Literal;
            self.text.push_str("\n```\n");
        }
    }

    pub(super) fn end_literal(&mut self) {
        if self.block == ManualBlock::Literal {
            self.end_line();
            self.text.push_str("```\n");
            self.block = self.outer;
        }
    }

    fn end_line(&mut self) {
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn finish(mut self) -> String {
        self.end_literal();
        while self.text.ends_with("\n\n") {
            self.text.pop();
        }
        self.text
    }
}
