//! Control words of RTF: characters, styles, paragraphs, tables.

use super::RtfReader;
use super::charset::of_page;
use super::state::{RtfDestination, RtfEnd};
use super::story::RtfParagraph;
use super::table::RtfCellEdge;
use crate::rich_text::{SpanContent, SpanStyle};

/// Control words that stand for a character.
const CHARACTERS: &[(&str, &str)] = &[
    ("tab", "\t"),
    ("emdash", "—"),
    ("endash", "–"),
    ("bullet", "•"),
    ("lquote", "‘"),
    ("rquote", "’"),
    ("ldblquote", "“"),
    ("rdblquote", "”"),
    ("emspace", " "),
    ("enspace", " "),
    ("qmspace", " "),
];

/// The most cells of a row.
const MAX_EDGES: usize = 1_000;

impl RtfReader {
    /// Follows a control sign.
    pub(super) fn sign(&mut self, sign: u8) {
        match sign {
            b'\\' | b'{' | b'}' => self.push_bytes(&[sign]),
            b'*' => self.is_optional = true,
            _ if self.skip > 0 => self.skip -= 1,
            b'~' => self.push_character("\u{A0}"),
            b'_' => self.push_character("-"),
            b'\r' | b'\n' => self.word("par", None),
            _ => {}
        }
    }

    fn push_character(&mut self, text: &str) {
        self.flush_bytes();
        self.push_text(text);
    }

    /// Follows a control word.
    pub(super) fn word(&mut self, word: &str, number: Option<i32>) {
        if word == "u" {
            if let Some(number) = number
                && self.state.destination != RtfDestination::Skip
            {
                self.push_unicode(number);
            }
            return;
        }
        self.flush_bytes();
        self.skip = 0;
        if self.start_destination(word) {
            return;
        }
        if let Some((_, text)) = CHARACTERS.iter().find(|(name, _)| *name == word) {
            return self.push_text(text);
        }
        let is_known = self.character_word(word, number)
            || self.paragraph_word(word, number)
            || self.table_word(word, number);
        if !is_known {
            self.definition_word(word, number);
        }
    }

    /// Words about the look and the encoding of text.
    fn character_word(&mut self, word: &str, number: Option<i32>) -> bool {
        let is_on = number != Some(0);
        let style = self.state.style;
        let scripts = |style: SpanStyle| {
            style.with(SpanStyle::SUPERSCRIPT, false).with(SpanStyle::SUBSCRIPT, false)
        };
        match word {
            "b" => self.state.style = style.with(SpanStyle::BOLD, is_on),
            "i" => self.state.style = style.with(SpanStyle::ITALIC, is_on),
            "strike" | "striked" => self.state.style = style.with(SpanStyle::STRIKE, is_on),
            "super" => self.state.style = scripts(style).with(SpanStyle::SUPERSCRIPT, is_on),
            "sub" => self.state.style = scripts(style).with(SpanStyle::SUBSCRIPT, is_on),
            "nosupersub" => self.state.style = scripts(style),
            "plain" => {
                self.state.style = SpanStyle::default();
                self.state.is_deleted = false;
                self.state.is_wide = false;
            }
            "deleted" => self.state.is_deleted = is_on,
            "uc" => self.state.repeated = number.unwrap_or(1).clamp(0, 16) as usize,
            "f" if self.state.destination == RtfDestination::Fonts => {
                self.state.defined = number.unwrap_or(0);
                self.fonts.insert(self.state.defined, super::RtfFont::default());
                self.end = RtfEnd::Font;
            }
            "f" => self.state.font = number.unwrap_or(0),
            "af" if self.state.is_wide => self.state.wide_font = number.unwrap_or(0),
            "dbch" => self.state.is_wide = true,
            "loch" | "hich" => self.state.is_wide = false,
            "ansicpg" => self.encoding = number.and_then(of_page).unwrap_or(self.encoding),
            "mac" => self.encoding = encoding_rs::MACINTOSH,
            _ => return false,
        }
        true
    }

    /// Words about paragraphs.
    fn paragraph_word(&mut self, word: &str, number: Option<i32>) -> bool {
        match word {
            "pard" => self.state.paragraph = RtfParagraph::default(),
            "par" | "sect" => self.end_paragraph(),
            "line" => self.line_break(),
            "s" if self.state.destination == RtfDestination::Styles => {
                self.state.defined = number.unwrap_or(0);
                self.styles.insert(self.state.defined, super::RtfStyle::default());
                self.end = RtfEnd::Style;
            }
            "s" => self.state.paragraph.style = number,
            "outlinelevel" => {
                let level = number.and_then(|level| u8::try_from(level).ok());
                if self.state.destination == RtfDestination::Styles {
                    self.styles.entry(self.state.defined).or_default().outline = level;
                } else {
                    self.state.paragraph.outline = level;
                }
            }
            "ls" => self.state.paragraph.list = number,
            "ilvl" => self.state.paragraph.level = number.unwrap_or(0).clamp(0, 8) as u8,
            "li" | "lin" => self.state.paragraph.indent = number.unwrap_or(0),
            "intbl" => self.state.paragraph.is_in_table = true,
            "itap" => {
                let nesting = number.unwrap_or(1).clamp(0, 64) as usize;
                self.state.paragraph.nesting = nesting;
                self.state.paragraph.is_in_table = nesting > 0;
            }
            _ => return false,
        }
        true
    }

    fn end_paragraph(&mut self) {
        match self.state.destination {
            RtfDestination::Story if self.state.is_deleted => {}
            RtfDestination::Story => {
                let (paragraph, traits) = (self.state.paragraph.clone(), self.current_traits());
                self.story().end_paragraph(&paragraph, &traits);
            }
            RtfDestination::Captured => self.push_text(" "),
            _ => {}
        }
    }

    fn line_break(&mut self) {
        match self.state.destination {
            RtfDestination::Story if !self.state.is_deleted => self.push_span(SpanContent::Break),
            RtfDestination::Captured => self.push_text(" "),
            _ => {}
        }
    }

    /// Words about tables.
    fn table_word(&mut self, word: &str, number: Option<i32>) -> bool {
        match word {
            "trowd" => {
                self.edges.clear();
                self.edge = RtfCellEdge::default();
            }
            "clmrg" => self.edge.continues_left = true,
            "clvmrg" => self.edge.continues_above = true,
            "cellx" => {
                let edge = std::mem::take(&mut self.edge);
                if self.edges.len() < MAX_EDGES {
                    self.edges.push(RtfCellEdge { right: number.unwrap_or(0), ..edge });
                }
            }
            "cell" | "nestcell" if self.state.destination == RtfDestination::Story => {
                let (paragraph, traits) = (self.state.paragraph.clone(), self.current_traits());
                self.story().end_cell(&paragraph, &traits, word == "nestcell");
            }
            "row" | "nestrow" if self.state.destination == RtfDestination::Story => {
                let nesting = match word {
                    "row" => 1,
                    _ => self.state.paragraph.nesting.max(2),
                };
                let edges = std::mem::take(&mut self.edges);
                self.story().end_row(&edges, nesting);
                self.edges = edges;
            }
            _ => return false,
        }
        true
    }

    /// Words about the fonts and styles that are being defined.
    fn definition_word(&mut self, word: &str, number: Option<i32>) {
        match (self.state.destination, word) {
            (RtfDestination::Fonts, "fcharset") => {
                self.fonts.entry(self.state.defined).or_default().charset = number;
            }
            (RtfDestination::Fonts, "cpg") => {
                self.fonts.entry(self.state.defined).or_default().page = number;
            }
            (RtfDestination::Styles, "sbasedon") => {
                self.styles.entry(self.state.defined).or_default().parent = number;
            }
            _ => {}
        }
    }
}
