//! Tokens: the words, parts of identifiers and bigrams that a text is indexed by.

use std::ops::Range;

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

/// The tokens of the main field.
pub fn tokenize(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (position, word) in
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).enumerate()
    {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        tokens.push(Token {
            text: crate::fold(word),
            position,
            range: start..start + word.len(),
            kind: TokenKind::Word,
        });
    }
    tokens
}

/// The tokens that a quoted phrase requires at their relative positions: parts instead of whole
/// identifiers, so that "read resource" and `readResource` find each other.
pub fn phrase_tokens(text: &str) -> Vec<Token> {
    tokenize(text)
}

/// The folded, unstemmed words of a text, for spelling suggestions.
pub fn spelling_words(text: &str) -> impl Iterator<Item = String> {
    tokenize(text).into_iter().map(|token| token.text)
}
