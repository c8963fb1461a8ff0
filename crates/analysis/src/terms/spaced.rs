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
        let known = synonyms(TermField::Main, &[&token.text]);
        known.into_iter().for_each(|synonym| term.add(synonym));
        terms.push(TermCandidate::strong(term));
    }
    let words: Vec<&Token> = tokens.iter().filter(|token| token.kind == TokenKind::Word).collect();
    for start in 0..words.len() {
        for length in 2..=MAX_EXPRESSION {
            let Some(expression) = words.get(start..start + length) else { break };
            if expression.windows(2).any(|pair| !is_pair(text, pair[0], pair[1])) {
                break;
            }
            terms.extend(expression_terms(text, expression).map(TermCandidate::strong));
        }
    }
    terms
}

fn main(text: &str, weight: f32) -> TermAlternative {
    TermAlternative::new(TermField::Main, text.to_owned(), weight)
}

/// True if nothing but white space stands between two words.
fn is_pair(text: &str, one: &Token, other: &Token) -> bool {
    text.get(one.range.end..other.range.start).is_some_and(|gap| gap.trim().is_empty())
}

/// The words of an expression written as one, and its synonyms.
fn expression_terms(text: &str, words: &[&Token]) -> impl Iterator<Item = QueryTerm> {
    let source = &text[words[0].range.start..words[words.len() - 1].range.end];
    let spellings: Vec<String> = words.iter().map(|word| fold(&text[word.range.clone()])).collect();
    let is_plain = |word: &String| {
        word.len() > 1 && !is_stop_word(word) && word.chars().all(char::is_alphanumeric)
    };
    let joined = (words.len() == 2 && spellings.iter().all(is_plain))
        .then(|| vec![main(&stem(spellings.concat()), 1.0)]);
    let joined = joined.map(|alternatives| QueryTerm::new(source, weights::JOINED, alternatives));
    let stems: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let known = synonyms(TermField::Main, &stems);
    let others = (!known.is_empty()).then(|| {
        let mut term = QueryTerm::new(source, weights::EXPRESSION, Vec::new());
        for synonym in known {
            term.add(TermAlternative { weight: synonym.weight / weights::SYNONYM, ..synonym });
        }
        term
    });
    joined.into_iter().chain(others)
}
