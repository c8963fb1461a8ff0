//! The page as it is set: text in fonts becomes paragraphs, items, code and tables.

mod blocks;

use std::rc::Rc;

use super::escape::{RoffEscape, parse_escape};
use crate::rich_text::{RichBlock, RichSpan, SpanContent, SpanStyle, is_blank};

/// How deep items stand in each other; deeper ones stand at this depth.
const MAX_DEPTH: u8 = 8;

/// How many indents may be open; a page that opens more is broken.
const MAX_INDENTS: usize = 1_000;

/// A block of a page, and where it stands.
#[derive(Debug, PartialEq)]
pub(super) struct ManBlock {
    /// How many items are around it.
    pub(super) depth: u8,
    /// What stands before it, if it begins an item.
    pub(super) marker: Option<ManMarker>,
    pub(super) block: RichBlock,
}

/// What begins an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ManMarker {
    Bullet,
    /// A number with its mark: `1.`
    Number(u32),
}

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageSink {
    /// Into a paragraph.
    Paragraph,
    /// Into the tag of an item.
    Tag,
    /// Into a heading of this level.
    Heading(u8),
    /// Into a cell of a table.
    Cell,
}

/// A page that is being set.
#[derive(Debug)]
pub(super) struct ManPage {
    pub(super) blocks: Vec<ManBlock>,
    spans: Vec<RichSpan>,
    /// Lines that are not filled.
    code: String,
    pub(super) is_filled: bool,
    sink: PageSink,
    pub(super) font: SpanStyle,
    previous_font: SpanStyle,
    pub(super) link: Option<Rc<str>>,
    marker: Option<ManMarker>,
    /// The depth of paragraphs, and whether an item is open there.
    depth: u8,
    is_in_item: bool,
    indents: Vec<(u8, bool)>,
    /// Whether a space or a line break stands before the next text.
    has_space: bool,
    has_break: bool,
    /// Whether the next text joins what stands before it.
    pub(super) is_joined: bool,
    /// Whether a tag goes on although its line ends.
    pub(super) is_tag_held: bool,
    /// Whether the line shows anything yet.
    has_text: bool,
    last: char,
    /// How many letters were set in all.
    pub(super) letters_set: usize,
}

impl Default for ManPage {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            spans: Vec::new(),
            code: String::new(),
            is_filled: true,
            sink: PageSink::Paragraph,
            font: SpanStyle::default(),
            previous_font: SpanStyle::default(),
            link: None,
            marker: None,
            depth: 0,
            is_in_item: false,
            indents: Vec::new(),
            has_space: false,
            has_break: false,
            is_joined: false,
            is_tag_held: false,
            has_text: false,
            last: ' ',
            letters_set: 0,
        }
    }
}

impl ManPage {
    /// Sets a line of text.
    pub(super) fn line(&mut self, text: &str) {
        if self.is_filled && text.starts_with([' ', '\t']) {
            self.line_break();
        }
        self.start_word();
        self.text(text);
        self.end_line();
    }

    /// Puts a space before the next text, unless it joins what stands before it.
    pub(super) fn start_word(&mut self) {
        if self.is_joined {
            self.is_joined = false;
        } else if self.has_text || !self.is_code() {
            self.has_space = true;
        }
    }

    /// Takes the space away that would stand before the next text.
    pub(super) fn cancel_space(&mut self) {
        (self.is_joined, self.has_space) = (false, false);
    }

    /// Ends a line of input.
    pub(super) fn end_line(&mut self) {
        if self.is_joined {
            return;
        }
        match self.sink {
            PageSink::Tag if self.has_text && !self.is_tag_held => self.end_tag(),
            PageSink::Heading(level) if self.has_text => self.end_heading(level),
            PageSink::Paragraph if !self.is_filled => self.code.push('\n'),
            _ => {}
        }
        if self.is_code() {
            self.has_text = false;
            self.has_space = false;
        }
    }

    /// Sets text with escapes.
    pub(super) fn text(&mut self, text: &str) {
        let mut rest = text;
        let mut is_overstruck = false;
        while let Some(at) = rest.find('\\') {
            self.letters(&rest[..at], &mut is_overstruck);
            let (escape, taken) = parse_escape(&rest[at + 1..]);
            rest = &rest[at + 1 + taken..];
            match escape {
                RoffEscape::Text(letters) => self.letters(&letters, &mut is_overstruck),
                RoffEscape::Letter(letter) => {
                    self.letters(letter.encode_utf8(&mut [0; 4]), &mut is_overstruck);
                }
                RoffEscape::Font(name) => self.set_font(name),
                RoffEscape::Space => self.letters(" ", &mut is_overstruck),
                RoffEscape::Continuation => self.is_joined = true,
                RoffEscape::Break => self.line_break(),
                RoffEscape::Overstrike => is_overstruck = true,
                RoffEscape::Nothing => {}
            }
        }
        self.letters(rest, &mut is_overstruck);
    }

    fn letters(&mut self, text: &str, is_overstruck: &mut bool) {
        for letter in text.chars() {
            if !std::mem::take(is_overstruck) {
                self.letter(letter);
            }
        }
    }

    fn letter(&mut self, letter: char) {
        if letter.is_control() && letter != '\t' {
            return;
        }
        self.letters_set += 1;
        if self.is_code() {
            if std::mem::take(&mut self.has_space) && self.has_text {
                self.code.push(' ');
            }
            self.has_text |= !letter.is_whitespace();
            return self.code.push(letter);
        }
        if letter == ' ' || letter == '\t' || letter == '\u{a0}' {
            self.has_space = true;
            return;
        }
        self.has_text = true;
        if std::mem::take(&mut self.has_break) {
            if !self.spans.is_empty() {
                self.spans.push(RichSpan::plain(SpanContent::Break));
            }
            self.has_space = false;
        }
        let needs_space = std::mem::take(&mut self.has_space) && !self.spans.is_empty();
        // Japanese and Chinese have no spaces at the ends of lines.
        if needs_space && !(is_wide(self.last) && is_wide(letter)) {
            self.push_letter(' ', self.font);
        }
        self.push_letter(letter, self.font);
        self.last = letter;
    }

    fn push_letter(&mut self, letter: char, style: SpanStyle) {
        if let Some(RichSpan { content: SpanContent::Text(text), style: before, link }) =
            self.spans.last_mut()
            && *link == self.link
            && (*before == style || letter == ' ')
        {
            return text.push(letter);
        }
        let link = self.link.clone();
        self.spans.push(RichSpan { link, ..RichSpan::text(letter, style) });
    }

    /// Sets the font of what comes next; `P` and nothing are the one before.
    pub(super) fn set_font(&mut self, name: &str) {
        let plain = SpanStyle::default();
        let both = SpanStyle::BOLD.with(SpanStyle::ITALIC, true);
        let font = match name {
            "P" | "" => self.previous_font,
            "B" | "3" | "CB" | "VB" | "HB" | "TB" => SpanStyle::BOLD,
            "I" | "2" | "CI" | "VI" | "HI" | "TI" => SpanStyle::ITALIC,
            "BI" | "4" | "CBI" | "VBI" | "HBI" | "TBI" => both,
            "CW" | "C" | "CR" | "CO" => SpanStyle::CODE,
            _ => plain,
        };
        self.previous_font = std::mem::replace(&mut self.font, font);
    }

    /// Sets a text in a font of its own.
    pub(super) fn styled(&mut self, text: &str, font: SpanStyle) {
        let before = (self.font, self.previous_font);
        (self.font, self.previous_font) = (font, SpanStyle::default());
        self.text(text);
        (self.font, self.previous_font) = before;
    }

    fn is_code(&self) -> bool {
        !self.is_filled && self.sink == PageSink::Paragraph
    }

    /// Begins a new line in the paragraph.
    pub(super) fn line_break(&mut self) {
        self.is_joined = false;
        if self.is_code() {
            if self.has_text {
                self.code.push('\n');
            }
            (self.has_text, self.has_space) = (false, false);
        } else {
            self.has_break = true;
        }
    }

    /// Leaves a blank line: a new paragraph, or a line of code.
    pub(super) fn space(&mut self) {
        if self.is_code() {
            self.line_break();
            self.code.push('\n');
        } else if self.sink == PageSink::Paragraph {
            self.end_paragraph();
        } else {
            self.has_break = true;
        }
    }

    /// Ends the paragraph, and the code that stands after it.
    pub(super) fn end_paragraph(&mut self) {
        match self.sink {
            PageSink::Paragraph => {}
            PageSink::Tag => self.end_tag(),
            PageSink::Heading(level) => self.end_heading(level),
            PageSink::Cell => return self.has_break = true,
        }
        let spans = std::mem::take(&mut self.spans);
        if !is_blank(&spans) {
            self.push_block(RichBlock::Paragraph(spans));
        }
        let code = std::mem::take(&mut self.code);
        if !code.trim().is_empty() {
            self.push_block(RichBlock::Code(outdented(&code)));
        }
        (self.has_space, self.has_break, self.is_joined) = (false, false, false);
        (self.has_text, self.last) = (false, ' ');
    }

    /// Adds a block where the page stands.
    pub(super) fn push_block(&mut self, mut block: RichBlock) {
        if let RichBlock::Paragraph(spans) = &mut block
            && self.marker.is_none()
            && let Some(RichSpan { content: SpanContent::Text(first), .. }) = spans.first_mut()
            && let Some(rest) = first.strip_prefix('•')
        {
            // Pages that were made from DocBook draw the marks of their lists.
            *first = rest.trim_start().to_owned();
            let block = ManBlock { depth: self.depth, marker: Some(ManMarker::Bullet), block };
            return self.blocks.push(block);
        }
        let marker = self.marker.take();
        let is_inside = self.is_in_item && marker.is_none();
        let depth = (self.depth + u8::from(is_inside)).min(MAX_DEPTH);
        self.blocks.push(ManBlock { depth, marker, block });
    }

    /// Switches between text that is filled and text that is not.
    pub(super) fn fill(&mut self, is_filled: bool) {
        if self.sink == PageSink::Paragraph {
            self.end_paragraph();
        }
        self.is_filled = is_filled;
    }

    /// The text of the paragraph that is being set.
    pub(super) fn plain_text(&self) -> String {
        self.spans.iter().filter_map(span_text).collect()
    }
}

/// Lines without blank ones around them, and without the indent that all of them have.
fn outdented(code: &str) -> String {
    let code = code.trim_matches('\n').trim_end();
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let lines = code.split('\n').filter(|line| !line.trim().is_empty());
    let least = lines.map(indent).min().unwrap_or(0);
    let lines: Vec<_> = code.split('\n').map(|line| line.get(least..).unwrap_or("")).collect();
    lines.join("\n")
}

/// The text of a span.
pub(super) fn span_text(span: &RichSpan) -> Option<&str> {
    match &span.content {
        SpanContent::Text(text) => Some(text),
        _ => None,
    }
}

/// Whether a letter belongs to a script without spaces between words.
fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}
