//! Terms of words between spaces: words, identifiers, words that are written as one, synonyms.

use super::stop_words::is_stop_word;
use super::synonym_table::{MAX_EXPRESSION, synonyms};
use super::{QueryTerm, TermAlternative, TermCandidate, TermField, weights};
use crate::fold::fold;
use crate::stem::stem;
use crate::{Token, TokenKind};

pub(super) fn terms(text: &str, tokens: &[Token]) -> Vec<TermCandidate> {
    let mut terms = Vec::new();
    let spaced = |token: &&Token| token.kind != TokenKind::Bigram;
    for token in tokens.iter().filter(spaced) {
        let source = &text[token.range.clone()];
        let is_stop = is_stop_word(&fold(source));
        let weight = match token.kind {
            _ if is_stop => weights::STOP_WORD,
            TokenKind::Part => weights::PART,
            TokenKind::Word | TokenKind::Bigram => weights::WORD,
        };
        let mut term = QueryTerm::new(source, weight, vec![main(&token.text, 1.0)]);
        if is_stop {
            terms.push(TermCandidate::weak(term));
            continue;
        }
        let known = synonyms(&[&token.text]);
        known.into_iter().for_each(|synonym| term.add(synonym));
        terms.push(TermCandidate::strong(term));
    }
    let words: Vec<&Token> = tokens.iter().filter(|token| token.kind == TokenKind::Word).collect();
    for expression in expressions(&words, |one, other| is_pair(text, one, other)) {
        terms.extend(joined_term(text, expression).map(TermCandidate::strong));
        terms.extend(expression_term(text, expression).map(TermCandidate::strong));
    }
    // "change the owner" is "change owner".
    let is_content = |word: &&&Token| !is_stop_word(&fold(&text[word.range.clone()]));
    let content: Vec<&Token> = words.iter().filter(is_content).copied().collect();
    for expression in expressions(&content, |one, other| is_sentence(text, one, other)) {
        terms.extend(expression_term(text, expression).map(TermCandidate::strong));
    }
    terms
}

/// The runs of two and more words of which each two neighbours belong together.
fn expressions<'w, 't>(
    words: &'w [&'t Token],
    belong: impl Fn(&Token, &Token) -> bool,
) -> Vec<&'w [&'t Token]> {
    let mut runs = Vec::new();
    for start in 0..words.len() {
        for length in 2..=MAX_EXPRESSION {
            let Some(run) = words.get(start..start + length) else { break };
            if !belong(run[length - 2], run[length - 1]) {
                break;
            }
            runs.push(run);
        }
    }
    runs
}

fn main(text: &str, weight: f32) -> TermAlternative {
    TermAlternative::new(TermField::Main, text.to_owned(), weight)
}

/// True if nothing but white space stands between two words.
fn is_pair(text: &str, one: &Token, other: &Token) -> bool {
    text.get(one.range.end..other.range.start).is_some_and(|gap| gap.trim().is_empty())
}

/// True if nothing but words and white space stands between two words.
fn is_sentence(text: &str, one: &Token, other: &Token) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || c.is_whitespace() || c == '\'';
    text.get(one.range.end..other.range.start).is_some_and(|gap| gap.chars().all(is_plain))
}

/// Two words written as one.
fn joined_term(text: &str, words: &[&Token]) -> Option<QueryTerm> {
    let spellings: Vec<String> = words.iter().map(|word| fold(&text[word.range.clone()])).collect();
    let is_plain = |word: &String| {
        word.len() > 1 && !is_stop_word(word) && word.chars().all(char::is_alphanumeric)
    };
    let joined = (words.len() == 2 && spellings.iter().all(is_plain))
        .then(|| vec![main(&stem(spellings.concat()), 1.0)]);
    joined.map(|alternatives| QueryTerm::new(source(text, words), weights::JOINED, alternatives))
}

/// The synonyms of an expression.
fn expression_term(text: &str, words: &[&Token]) -> Option<QueryTerm> {
    let stems: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let mut term = QueryTerm::new(source(text, words), weights::EXPRESSION, Vec::new());
    for synonym in synonyms(&stems) {
        term.add(TermAlternative { weight: synonym.weight / weights::SYNONYM, ..synonym });
    }
    (!term.alternatives.is_empty()).then_some(term)
}

fn source<'t>(text: &'t str, words: &[&Token]) -> &'t str {
    &text[words[0].range.start..words[words.len() - 1].range.end]
}
