//! Terms of a prefix: the index terms that start with it, and the stem that it may be longer than.

use super::{QueryTerm, TermAlternative, TermField, weights};
use crate::fold::script_of;
use crate::{Token, TokenKind, dictionary_words, fold, tokenize};

/// The term of a [`Clause::Prefix`](crate::Clause::Prefix). It has no alternatives if the prefix
/// has no letters.
pub fn prefix_term(prefix: &str) -> QueryTerm {
    let folded: String = fold(prefix).chars().filter(|c| !matches!(c, '_' | '-')).collect();
    let mut term = QueryTerm::new(prefix, weights::WORD, Vec::new());
    if !folded.chars().any(char::is_alphanumeric) {
        return term;
    }
    let chars = folded.chars().count();
    if folded.chars().any(|c| script_of(c).is_some()) {
        let dictionary = dictionary_words(prefix);
        let word = if let [Token { text, .. }] = dictionary.as_slice() { text } else { &folded };
        term.add(starting_with(TermField::Dictionary, word));
        // A bigram holds no more than two characters.
        if chars <= 2 {
            term.add(starting_with(TermField::Main, &folded));
        }
        return term;
    }
    term.add(starting_with(TermField::Main, &folded));
    // The index holds stems: `changes` is longer than that of `changes`.
    let whole = tokenize(prefix).into_iter().find(|token| token.kind == TokenKind::Word);
    if let Some(whole) = whole.filter(|whole| folded.starts_with(&whole.text)) {
        term.add(TermAlternative::new(TermField::Main, whole.text, 1.0));
    }
    term
}

fn starting_with(field: TermField, text: &str) -> TermAlternative {
    TermAlternative { is_prefix: true, ..TermAlternative::new(field, text.to_owned(), 1.0) }
}
