//! JSON with its loose forms, and HCL: maps in braces, lists in brackets.
//!
//! Not recursive, and never at a loss: whatever does not fit is passed over and said to be broken.

mod strings;

use std::borrow::Cow;
use std::ops::Range;

use super::lines;
use crate::mask::mask_length;
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// Which of the two it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BraceDialect {
    Json,
    Hcl,
}

/// Functions of HCL whose arguments say where a value is.
const LOOKUPS: &[&str] =
    &["file", "env", "get_env", "lookup", "templatefile", "find_in_parent_folders", "filebase64"];

/// Reports the keys and values of `text`.
pub(super) fn scan<'t>(text: &'t str, dialect: BraceDialect, walk: &mut Walk<'t, '_>) -> Fit {
    if dialect == BraceDialect::Json {
        // A document opens its own root.
        walk.close();
    }
    let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let reader = BraceReader {
        text,
        at,
        dialect,
        walk,
        open: Vec::new(),
        words: Vec::new(),
        is_value_next: false,
        last_word: "",
        fit: Fit::Whole,
    };
    reader.run()
}

struct BraceReader<'t, 'w, 'j> {
    text: &'t str,
    at: usize,
    dialect: BraceDialect,
    walk: &'w mut Walk<'t, 'j>,
    /// The closing byte of each open bracket, and how many maps it opened.
    open: Vec<(u8, u32)>,
    /// Words that may be a key, or the type and labels of a block.
    words: Vec<Cow<'t, str>>,
    is_value_next: bool,
    last_word: &'t str,
    fit: Fit,
}

impl<'t> BraceReader<'t, '_, '_> {
    fn run(mut self) -> Fit {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at).copied() {
            match byte {
                b'\n' if self.dialect == BraceDialect::Hcl => self.end_statement(),
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'/' | b'#' if self.is_comment() => self.comment(),
                b'"' | b'\'' => self.string(byte),
                b'<' if self.text[self.at..].starts_with("<<")
                    && self.dialect == BraceDialect::Hcl =>
                {
                    self.heredoc()
                }
                // A mask that a broken text got without quotes.
                b'[' if mask_length(&self.text[self.at..]).is_some() => self.mask(),
                b'{' => self.open_map(),
                b'[' => self.open_list(b']'),
                b'(' => self.open_list(b')'),
                b'}' | b']' | b')' => self.close(byte),
                b',' => self.end_statement(),
                b':' | b'=' => self.separator(),
                _ => self.word(),
            }
        }
        if !self.open.is_empty() {
            self.fit = Fit::Broken;
        }
        self.fit
    }

    fn end_statement(&mut self) {
        self.at += 1;
        self.words.clear();
        self.is_value_next = false;
    }

    fn is_comment(&self) -> bool {
        let rest = &self.text[self.at..];
        rest.starts_with("//")
            || rest.starts_with("/*")
            || (rest.starts_with('#') && self.dialect == BraceDialect::Hcl)
    }

    fn comment(&mut self) {
        let rest = &self.text[self.at..];
        let length = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            rest.find('\n').unwrap_or(rest.len())
        };
        lines::scan_comment(self.text, self.at..self.at + length, self.walk);
        self.at += length;
    }

    fn open_map(&mut self) {
        self.at += 1;
        let words = std::mem::take(&mut self.words);
        let mut maps = 0;
        if !self.is_value_next && self.dialect == BraceDialect::Hcl {
            // A block: its type and its labels are keys.
            for word in words.into_iter().take(8) {
                self.walk.key(word);
                self.walk.open_block();
                maps += 1;
            }
        }
        if maps == 0 {
            self.walk.open_map();
            maps = 1;
        }
        self.open.push((b'}', maps));
        self.is_value_next = false;
    }

    fn mask(&mut self) {
        self.at += mask_length(&self.text[self.at..]).unwrap_or(1);
        self.is_value_next = false;
    }

    fn open_list(&mut self, closing: u8) {
        self.at += 1;
        if closing == b')' && LOOKUPS.contains(&self.last_word) {
            self.walk.key(Cow::Borrowed("ref"));
        }
        self.walk.open_list();
        self.open.push((closing, 1));
        self.words.clear();
        self.is_value_next = false;
    }

    fn close(&mut self, closing: u8) {
        self.at += 1;
        match self.open.pop() {
            Some((expected, maps)) => {
                if expected != closing {
                    self.fit = Fit::Broken;
                }
                for _ in 0..maps {
                    self.walk.close();
                }
            }
            None => self.fit = Fit::Broken,
        }
        self.words.clear();
        self.is_value_next = false;
    }

    fn separator(&mut self) {
        let rest = &self.text[self.at..];
        let length = if rest.starts_with("==") || rest.starts_with("=>") { 2 } else { 1 };
        self.at += length;
        if self.is_value_next || rest.starts_with("==") {
            return;
        }
        match self.words.pop() {
            Some(key) if self.is_in_map() => self.walk.key(key),
            _ => self.fit = Fit::Broken,
        }
        self.words.clear();
        self.is_value_next = true;
    }

    fn is_in_map(&self) -> bool {
        self.open.last().map_or(self.dialect == BraceDialect::Hcl, |(closing, _)| *closing == b'}')
    }

    /// Whether the next text is a key, or a part of one.
    fn is_key_next(&self) -> bool {
        self.is_in_map() && !self.is_value_next
    }

    fn string(&mut self, quote: u8) {
        let start = self.at + 1;
        let (end, is_closed) = match self.dialect {
            BraceDialect::Json => strings::end_of_json(self.text, start, quote),
            BraceDialect::Hcl => strings::end_of_hcl(self.text, start, quote),
        };
        if !is_closed {
            self.fit = Fit::Broken;
        }
        self.at = if is_closed { end + 1 } else { end };
        let value = strings::decode(&self.text[start..end]);
        let is_escaped = matches!(value, Cow::Owned(_)) && self.dialect == BraceDialect::Json;
        let quoting = match quote {
            b'\'' if is_escaped => Quoting::AddQuotes,
            _ if is_escaped => Quoting::Escaped,
            _ => Quoting::Verbatim,
        };
        // A string in single quotes is written anew with its quotes.
        let range = if quoting == Quoting::AddQuotes { start - 1..self.at } else { start..end };
        if self.is_key_next() {
            self.walk.key_text(&ScalarToken { range, value: value.clone(), quoting });
            self.words.push(value);
        } else {
            self.value(range, value, quoting);
        }
    }

    fn heredoc(&mut self) {
        let rest = &self.text[self.at..];
        let line_end = rest.find('\n').unwrap_or(rest.len());
        let name = rest[2..line_end].trim_start_matches('-').trim();
        let start = self.at + (line_end + 1).min(rest.len());
        let (mut end, mut next) = (start, start);
        let mut is_closed = false;
        for line in self.text[start..].split_inclusive('\n') {
            next += line.len();
            if line.trim() == name {
                is_closed = true;
                next -= line.len() - line.trim_end().len();
                break;
            }
            end = next;
        }
        if !is_closed || name.is_empty() {
            self.fit = Fit::Broken;
        }
        self.at = next;
        let content = self.text[start..end].trim_end_matches(['\n', '\r']);
        let range = start..start + content.len();
        self.value(range, Cow::Borrowed(content), Quoting::Verbatim);
    }

    fn word(&mut self) {
        let is_end =
            |character: char| character.is_whitespace() || "{}[]():=,\"'#".contains(character);
        let rest = &self.text[self.at..];
        let length = rest.find(is_end).unwrap_or(rest.len());
        if length == 0 {
            self.fit = Fit::Broken;
            self.at += rest.chars().next().map_or(1, char::len_utf8);
            return;
        }
        let word = &rest[..length];
        let range = self.at..self.at + length;
        self.at += length;
        self.last_word = word;
        if self.is_key_next() {
            self.words.push(Cow::Borrowed(word));
            return;
        }
        let is_number = word
            .starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
            && word.bytes().any(|byte| byte.is_ascii_digit());
        let is_literal =
            ["true", "false", "null", "NaN", "Infinity", "-Infinity", "undefined"].contains(&word);
        if is_number || is_literal {
            self.value(range, Cow::Borrowed(word), Quoting::AddQuotes);
        } else if self.dialect == BraceDialect::Json {
            self.fit = Fit::Broken;
            self.value(range, Cow::Borrowed(word), Quoting::AddQuotes);
        }
    }

    fn value(&mut self, range: Range<usize>, value: Cow<'t, str>, quoting: Quoting) {
        self.walk.scalar(ScalarToken { range, value, quoting });
        if self.dialect == BraceDialect::Json {
            self.is_value_next = false;
        }
    }
}
