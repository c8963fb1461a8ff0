//! Scanner: divides a text into words, runs of scripts without spaces, and symbols.

use std::ops::Range;

use crate::fold::{LineBreaks, RunChar, collect_run, is_ignorable, normalize_cluster, script_of};

/// The most characters of a word. A longer word is divided.
const MAX_WORD: usize = 128;
/// The most underscores between two parts of an identifier.
const MAX_UNDERSCORES: usize = 4;
/// Names whose last characters would otherwise be lost.
const NAMES_WITH_SIGNS: [&str; 8] =
    ["c++", "g++", "c#", "f#", "clang++", "libc++", "libstdc++", "notepad++"];

/// What the scanner found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScanPiece {
    /// A word or identifier, in `Scanner::word`.
    Word,
    /// A run of a script without spaces, in `Scanner::run`; not folded.
    Run,
    /// An emoji or another symbol that people search for.
    Symbol(Range<usize>),
}

/// A character of a word, in its original case, NFKC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordChar {
    pub(crate) ch: char,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) joint: WordJoint,
}

/// What stands before a character of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordJoint {
    /// Nothing.
    None,
    /// An underscore or hyphen.
    Seam,
    /// The dot of a number, version or address.
    Dot,
    /// Nothing, and the character is a sign of a name: `+` of `c++`.
    Sign,
}

/// Divides a text.
#[derive(Debug)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    pub(crate) word: Vec<WordChar>,
    pub(crate) run: Vec<RunChar>,
    normal: Vec<char>,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, word: Vec::new(), run: Vec::new(), normal: Vec::new() }
    }

    /// The next piece, or `None` at the end of the text.
    pub(crate) fn next_piece(&mut self) -> Option<ScanPiece> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            if byte.is_ascii_alphanumeric() {
                self.scan_word();
                return Some(ScanPiece::Word);
            }
            if byte.is_ascii() {
                self.at += 1;
                continue;
            }
            let c = self.peek(self.at)?;
            if script_of(c).is_some() {
                self.run.clear();
                self.at = collect_run(self.text, self.at, LineBreaks::Join, &mut self.run);
                return Some(ScanPiece::Run);
            }
            if is_word_char(c) {
                self.scan_word();
                if !self.word.is_empty() {
                    return Some(ScanPiece::Word);
                }
                continue;
            }
            let start = self.at;
            self.at += c.len_utf8();
            if is_symbol(c) {
                return Some(ScanPiece::Symbol(start..self.at));
            }
        }
    }

    fn peek(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    fn scan_word(&mut self) {
        self.word.clear();
        let bytes = self.text.as_bytes();
        let mut joint = WordJoint::None;
        while self.word.len() < MAX_WORD
            && let Some(byte) = bytes.get(self.at).copied()
        {
            if byte.is_ascii_alphanumeric() {
                self.push(char::from(byte), self.at + 1, joint);
                joint = WordJoint::None;
            } else if self.text[self.at..].starts_with(['\'', '\u{2019}']) {
                if !self.skip_apostrophe() {
                    break;
                }
            } else if byte.is_ascii() {
                let Some((next, length)) = self.ascii_joint(byte) else { break };
                self.at += length;
                joint = next;
            } else {
                let Some(c) = self.peek(self.at) else { break };
                match c {
                    '\u{2010}' | '\u{2011}' if self.letter_follows(self.at + 3) => {
                        self.at += 3;
                        joint = WordJoint::Seam;
                    }
                    c if is_ignorable(c) => self.at += c.len_utf8(),
                    c if is_word_char(c) => {
                        self.push_cluster(joint);
                        joint = WordJoint::None;
                    }
                    _ => break,
                }
            }
        }
        self.add_signs();
    }

    fn push(&mut self, ch: char, end: usize, joint: WordJoint) {
        self.word.push(WordChar { ch, start: self.at, end, joint });
        self.at = end;
    }

    fn push_cluster(&mut self, joint: WordJoint) {
        let (start, mut joint) = (self.at, joint);
        self.normal.clear();
        let end = normalize_cluster(self.text, start, &mut self.normal);
        for ch in self.normal.iter().copied().filter(|c| !c.is_whitespace()) {
            self.word.push(WordChar { ch, start, end, joint });
            joint = WordJoint::None;
        }
        self.at = end;
    }

    fn letter_follows(&self, at: usize) -> bool {
        self.peek(at).is_some_and(is_word_char)
    }

    /// Skips an apostrophe within a word, or the end of a possessive; false if the word ends here.
    fn skip_apostrophe(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let length = rest.chars().next().map_or(0, char::len_utf8);
        let mut chars = rest[length..].chars();
        let next = chars.next();
        let is_possessive =
            matches!(next, Some('s' | 'S')) && !chars.next().is_some_and(is_word_char);
        if is_possessive {
            self.at += length + 1;
            return false;
        }
        let is_within = next.is_some_and(is_word_char);
        self.at += if is_within { length } else { 0 };
        is_within
    }

    /// The joint that the ASCII character at the scanner makes within a word, and its bytes.
    fn ascii_joint(&self, byte: u8) -> Option<(WordJoint, usize)> {
        let last = self.word.last()?.ch;
        let bytes = &self.text.as_bytes()[self.at..];
        let length = match byte {
            b'_' => bytes.iter().take(MAX_UNDERSCORES).take_while(|byte| **byte == b'_').count(),
            _ => 1,
        };
        if !self.letter_follows(self.at + length) {
            return None;
        }
        match byte {
            b'_' | b'-' => Some((WordJoint::Seam, length)),
            b'.' if last.is_ascii_digit() && bytes.get(1)?.is_ascii_digit() => {
                Some((WordJoint::Dot, 1))
            }
            _ => None,
        }
    }

    /// Appends the signs of names such as `c++`.
    fn add_signs(&mut self) {
        let rest = &self.text[self.at..];
        let signs = match rest.as_bytes() {
            [b'+', b'+', ..] => &rest[..2],
            [b'#', ..] => &rest[..1],
            _ => return,
        };
        let is_end = rest[signs.len()..].chars().next().is_none_or(|c| !is_word_char(c));
        let letters = || self.word.iter().map(|c| c.ch.to_ascii_lowercase()).chain(signs.chars());
        if is_end && NAMES_WITH_SIGNS.iter().any(|name| name.chars().eq(letters())) {
            for sign in signs.chars() {
                self.push(sign, self.at + 1, WordJoint::Sign);
            }
        }
    }
}

/// True for letters and digits of scripts whose words stand between spaces.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() && !is_symbol(c) && script_of(c).is_none()
}

/// Emoji and pictographs, without the modifiers that follow them.
fn is_symbol(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27BF}' | '\u{1F000}'..='\u{1F3FA}' | '\u{1F400}'..='\u{1FAFF}')
}
