//! Terms of scripts without spaces: dictionary words with synonyms, and bigrams.

use super::stop_words::is_general;
use super::synonym_table::{MAX_EXPRESSION, hiragana_synonyms, synonyms};
use super::{QueryTerm, TermAlternative, TermCandidate, TermField, weights};
use crate::fold::{Script, script_of};
use crate::{Token, TokenKind, dictionary_words};

/// Particles of Japanese of one character.
pub(super) const PARTICLES: [char; 9] = ['を', 'の', 'に', 'は', 'が', 'で', 'と', 'へ', 'も'];

/// The most characters between two words of an expression.
const MAX_GAP: usize = 3;

pub(super) fn terms(text: &str, tokens: &[Token]) -> Vec<TermCandidate> {
    let words = dictionary_words(text);
    let mut terms: Vec<TermCandidate> = words.iter().map(|word| word_term(text, word)).collect();
    for start in 0..words.len() {
        for length in 2..=MAX_EXPRESSION {
            let Some(expression) = words.get(start..start + length) else { break };
            if expression.windows(2).any(|pair| !is_pair(text, &pair[0], &pair[1])) {
                break;
            }
            terms.extend(expression_term(text, expression).map(TermCandidate::strong));
        }
    }
    for (source, synonyms) in hiragana_synonyms(text) {
        let mut term = QueryTerm::new(source, weights::EXPRESSION, Vec::new());
        add_all(&mut term, synonyms);
        term.alternatives.iter_mut().for_each(|synonym| synonym.weight /= weights::SYNONYM);
        terms.push(TermCandidate::strong(term));
    }
    let bigrams = tokens.iter().filter(|token| token.kind == TokenKind::Bigram);
    let mut at = 0;
    for bigram in bigrams {
        while words.get(at).is_some_and(|word| word.range.end <= bigram.range.start) {
            at += 1;
        }
        terms.push(bigram_term(text, bigram, words.get(at)));
    }
    terms
}

/// True if two words stand beside each other, or with an ending or a particle between them.
fn is_pair(text: &str, one: &Token, other: &Token) -> bool {
    let is_hiragana = |c| script_of(c) == Some(Script::Hiragana);
    let gap = text.get(one.range.end..other.range.start);
    gap.is_some_and(|gap| gap.chars().count() <= MAX_GAP && gap.chars().all(is_hiragana))
}

fn word_term(text: &str, word: &Token) -> TermCandidate {
    let is_one = word.text.chars().count() == 1;
    let is_verb = is_one && has_ending(&text[word.range.end..]);
    let weight = match () {
        () if is_general(&word.text) => weights::GENERAL,
        () if is_one && !is_verb => weights::ONE_CHARACTER,
        () => weights::WORD,
    };
    let own = TermAlternative::new(TermField::Dictionary, word.text.clone(), 1.0);
    let mut term = QueryTerm::new(&text[word.range.clone()], weight, vec![own]);
    add_synonyms(&mut term, &[&word.text]);
    if is_verb {
        // Documentation writes 削除する where people ask for 消す.
        let scale = weights::SYNONYM_OF_VERB / weights::SYNONYM;
        term.alternatives[1..].iter_mut().for_each(|synonym| synonym.weight *= scale);
    }
    TermCandidate::strong(term)
}

/// The synonyms of an expression of several dictionary words.
fn expression_term(text: &str, words: &[Token]) -> Option<QueryTerm> {
    let source = &text[words[0].range.start..words[words.len() - 1].range.end];
    let stems: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let mut term = QueryTerm::new(source, weights::EXPRESSION, Vec::new());
    add_synonyms(&mut term, &stems);
    term.alternatives.iter_mut().for_each(|synonym| synonym.weight /= weights::SYNONYM);
    (!term.alternatives.is_empty()).then_some(term)
}

fn add_synonyms(term: &mut QueryTerm, words: &[&str]) {
    add_all(term, synonyms(words));
}

fn add_all(term: &mut QueryTerm, synonyms: Vec<TermAlternative>) {
    for synonym in synonyms {
        // A dictionary word of two characters is a bigram too, which the dictionary cannot miss.
        let is_dictionary = synonym.field == TermField::Dictionary;
        let is_bigram = is_dictionary && synonym.text.chars().count() == 2;
        let bigram =
            is_bigram.then(|| TermAlternative { field: TermField::Main, ..synonym.clone() });
        term.add(synonym);
        bigram.into_iter().for_each(|bigram| term.add(bigram));
    }
}

fn bigram_term(text: &str, bigram: &Token, word: Option<&Token>) -> TermCandidate {
    let source = &text[bigram.range.clone()];
    let mut chars = bigram.text.chars();
    let is_one = chars.next().is_some() && chars.next().is_none();
    let mut scripts = source.chars().filter_map(script_of);
    let is_hiragana = |script: Option<Script>| script == Some(Script::Hiragana);
    let (starts, ends) = (is_hiragana(scripts.next()), is_hiragana(scripts.next_back()));
    let own = TermAlternative {
        is_prefix: is_one,
        ..TermAlternative::new(TermField::Main, bigram.text.clone(), 1.0)
    };
    let is_part = word.is_some();
    let term = |weight| QueryTerm { is_part, ..QueryTerm::new(source, weight, vec![own]) };
    let is_korean = source.starts_with(|c| script_of(c) == Some(Script::Hangul));
    let within = word.filter(|word| {
        word.range.start <= bigram.range.start && bigram.range.end <= word.range.end
    });
    match (starts, ends) {
        (true, _) if is_one => TermCandidate::weak(term(weights::STOP_WORD)),
        (true, true) => TermCandidate::weak(term(weights::STOP_WORD)),
        (true, false) => TermCandidate::strong(term(weights::PARTICLE)),
        (false, true) if is_verb(source, word) => TermCandidate::strong(term(weights::ENDING)),
        (false, true) => TermCandidate::strong(term(weights::PARTICLE)),
        (false, false) => TermCandidate::strong(term(match within {
            Some(word) if is_general(&word.text) => weights::GENERAL,
            Some(word) => {
                let bigrams = word.text.chars().count().saturating_sub(1).max(1);
                weights::WORD / (bigrams as f32).sqrt()
            }
            None if is_korean => weights::PARTICLE,
            None => weights::ACROSS,
        })),
    }
}

/// True if a kanji and the hiragana after it look like a verb: 消す, not 権を or 変更する.
fn is_verb(source: &str, word: Option<&Token>) -> bool {
    let is_kanji = source.starts_with(|c| script_of(c) == Some(Script::Han));
    let is_short = word.is_some_and(|word| word.text.chars().count() == 1);
    let second = source.chars().next().map_or(0, char::len_utf8);
    is_kanji && is_short && has_ending(&source[second..])
}

/// True if a text starts with hiragana that is no particle.
fn has_ending(text: &str) -> bool {
    text.starts_with(|c| script_of(c) == Some(Script::Hiragana) && !PARTICLES.contains(&c))
}
