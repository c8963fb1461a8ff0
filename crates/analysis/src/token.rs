//! Tokens: the words, parts of identifiers and bigrams that a text is indexed by.

use std::ops::Range;

use crate::fold::{RunChar, Script, fold_letter, fold_run};
use crate::identifier::{IdentifierParts, divide};
use crate::scanner::{ScanPiece, Scanner, WordChar, WordJoint};
use crate::stem::stem;

/// The shortest word that a spelling suggestion is made of.
const MIN_SPELLING: usize = 3;
/// The longest identifier that is a token as a whole.
const MAX_WHOLE: usize = 64;

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The folded text, as the index holds it.
    pub text: String,
    /// The position, for phrases. Parts of an identifier have consecutive positions.
    pub position: usize,
    /// The bytes of the original text.
    pub range: Range<usize>,
    /// The kind of the token.
    pub kind: TokenKind,
}

/// The kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A whole word or identifier, stemmed and folded.
    Word,
    /// A part of an identifier: `read` of `readResource`.
    Part,
    /// Two neighbouring characters of a script without spaces, or the only character of a run.
    Bigram,
}

/// The tokens of the main field, in the order of their positions.
pub fn tokenize(text: &str) -> Vec<Token> {
    let mut tokens = TokenList { list: Vec::new(), position: 0, parts: IdentifierParts::default() };
    let mut scanner = Scanner::new(text);
    while let Some(piece) = scanner.next_piece() {
        match piece {
            ScanPiece::Word => tokens.add_word(&scanner.word),
            ScanPiece::Run => {
                fold_run(&mut scanner.run);
                tokens.add_bigrams(&scanner.run);
            }
            ScanPiece::Symbol(range) => {
                let text = text[range.clone()].to_owned();
                tokens.push(text, range, TokenKind::Word);
                tokens.position += 1;
            }
        }
    }
    tokens.list
}

/// The tokens that a quoted phrase requires at their relative positions.
///
/// Parts stand for an identifier if they spell all of it, so that "read resource" and
/// `readResource` find each other.
pub fn phrase_tokens(text: &str) -> Vec<Token> {
    let mut tokens = tokenize(text).into_iter().peekable();
    let mut required = Vec::new();
    while let Some(token) = tokens.next() {
        let mut parts = Vec::new();
        while let Some(part) = tokens.next_if(|next| next.kind == TokenKind::Part) {
            parts.push(part);
        }
        let letters = |range: &Range<usize>| {
            text[range.clone()].chars().filter(|c| c.is_alphanumeric()).count()
        };
        let spelt: usize = parts.iter().map(|part| letters(&part.range)).sum();
        if parts.is_empty() || spelt < letters(&token.range) {
            required.push(token);
        } else {
            required.extend(parts);
        }
    }
    required
}

/// The folded, unstemmed words of a text, for spelling suggestions: words of letters, parts of
/// identifiers, and katakana words.
pub fn spelling_words(text: &str) -> impl Iterator<Item = String> {
    let mut scanner = Scanner::new(text);
    let mut parts = IdentifierParts::default();
    let mut words = Vec::new();
    while let Some(piece) = scanner.next_piece() {
        match piece {
            ScanPiece::Word => {
                divide(&scanner.word, &mut parts);
                let all = 0..scanner.word.len();
                let ranges = parts.ranges.iter().cloned().chain(std::iter::once(all));
                let letters = |range: &Range<usize>| {
                    let mut chars = scanner.word[range.clone()].iter();
                    range.len() >= MIN_SPELLING && chars.all(|c| c.ch.is_alphabetic())
                };
                words.extend(ranges.filter(letters).map(|range| spell(&scanner.word[range])));
            }
            ScanPiece::Run => {
                fold_run(&mut scanner.run);
                let kana = scanner.run.chunk_by(|a, b| a.script == b.script);
                let katakana = kana.filter(|word| {
                    word.len() >= MIN_SPELLING && word[0].script == Script::Katakana
                });
                words.extend(katakana.map(|word| word.iter().map(|c| c.ch).collect()));
            }
            ScanPiece::Symbol(_) => {}
        }
    }
    words.into_iter()
}

/// An acronym without the `s` of its plural.
fn singular(word: &[WordChar]) -> &[WordChar] {
    match word {
        [acronym @ .., last] if last.ch == 's' && acronym.len() > 1 => {
            if acronym.iter().all(|c| c.ch.is_uppercase()) { acronym } else { word }
        }
        _ => word,
    }
}

/// The folded spelling of a word.
fn spell(word: &[WordChar]) -> String {
    let mut spelling = String::with_capacity(word.len() + 2);
    for (at, c) in word.iter().enumerate() {
        if at > 0 && c.joint == WordJoint::Dot {
            spelling.push('.');
        }
        fold_letter(c.ch, &mut spelling);
    }
    spelling
}

struct TokenList {
    list: Vec<Token>,
    position: usize,
    parts: IdentifierParts,
}

impl TokenList {
    fn push(&mut self, text: String, range: Range<usize>, kind: TokenKind) {
        if !text.is_empty() {
            self.list.push(Token { text, position: self.position, range, kind });
        }
    }

    fn add_word(&mut self, word: &[WordChar]) {
        let (Some(first), Some(last)) = (word.first(), word.last()) else { return };
        divide(word, &mut self.parts);
        let whole = stem(spell(singular(word)));
        let parts = std::mem::take(&mut self.parts);
        if word.len() <= MAX_WHOLE || parts.ranges.is_empty() {
            self.push(whole, first.start..last.end, TokenKind::Word);
        }
        let start = self.position;
        for part in &parts.ranges {
            let part = &word[part.clone()];
            let range = part[0].start..part[part.len() - 1].end;
            self.push(stem(spell(part)), range, TokenKind::Part);
            self.position += 1;
        }
        self.position = self.position.max(start + 1);
        self.parts = parts;
    }

    fn add_bigrams(&mut self, run: &[RunChar]) {
        if let [only] = run {
            self.push(only.ch.to_string(), only.start..only.end, TokenKind::Bigram);
            self.position += 1;
        }
        for pair in run.windows(2) {
            let mut text = String::with_capacity(pair[0].ch.len_utf8() + pair[1].ch.len_utf8());
            text.push(pair[0].ch);
            text.push(pair[1].ch);
            let range = pair[0].start..pair[1].end.max(pair[0].end);
            self.push(text, range, TokenKind::Bigram);
            self.position += 1;
        }
    }
}
