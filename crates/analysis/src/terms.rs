//! Query terms: what a free-text query asks for, with synonyms as alternatives.

mod prefix;
mod spaced;
mod stop_words;
mod synonym_table;
mod unspaced;

pub use prefix::prefix_term;

use std::collections::HashMap;

/// The most terms of a query. The lightest ones are left out.
const MAX_TERMS: usize = 256;
/// The most alternatives of a term.
const MAX_ALTERNATIVES: usize = 24;

/// One thing that a free-text query asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// Index terms that answer it. Each that a passage has counts, by its own weight.
    pub alternatives: Vec<TermAlternative>,
    /// The weight of the term among the terms of the query, 0 to 1.
    pub weight: f32,
    /// What the user wrote.
    pub source: String,
    /// True if it is a part of a dictionary word that is a term too.
    pub is_part: bool,
}

/// An index term that answers a query term.
#[derive(Debug, Clone, PartialEq)]
pub struct TermAlternative {
    /// The field that holds it.
    pub field: TermField,
    /// The folded text, as the index holds it.
    pub text: String,
    /// The weight among the alternatives, 0 to 1.
    pub weight: f32,
    /// True if every index term that starts with `text` answers: one character of a script
    /// that the index holds in bigrams.
    pub is_prefix: bool,
    /// True if the user wrote another word.
    pub is_synonym: bool,
}

/// The fields of the index that hold body text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TermField {
    /// Tokens of [`tokenize`](crate::tokenize).
    Main,
    /// Tokens of [`dictionary_words`](crate::dictionary_words).
    Dictionary,
}

/// The weights of terms and alternatives, 0 to 1.
mod weights {
    /// A word, or a dictionary word.
    pub(super) const WORD: f32 = 1.0;
    /// A part of an identifier beside the whole.
    pub(super) const PART: f32 = 0.6;
    /// Two words written as one: `file system` as `filesystem`.
    pub(super) const JOINED: f32 = 0.5;
    /// Synonyms of an expression of several words.
    pub(super) const EXPRESSION: f32 = 0.7;
    /// A synonym beside the word.
    pub(super) const SYNONYM: f32 = 0.4;
    /// A synonym beside the stem of a Japanese verb.
    pub(super) const SYNONYM_OF_VERB: f32 = 0.6;
    /// A word that nearly every text has, if the query has no other.
    pub(super) const STOP_WORD: f32 = 0.1;
    /// A word that says little: 方法.
    pub(super) const GENERAL: f32 = 0.3;
    /// A dictionary word of one character.
    pub(super) const ONE_CHARACTER: f32 = 0.6;
    /// A bigram across two words.
    pub(super) const ACROSS: f32 = 0.5;
    /// A bigram of a stem and its ending: 消す.
    pub(super) const ENDING: f32 = 0.3;
    /// A bigram of a particle and what follows.
    pub(super) const PARTICLE: f32 = 0.1;
}

impl QueryTerm {
    fn new(source: &str, weight: f32, alternatives: Vec<TermAlternative>) -> Self {
        Self { alternatives, weight, source: source.to_owned(), is_part: false }
    }

    /// Adds an alternative unless the term has it.
    fn add(&mut self, alternative: TermAlternative) {
        let is_known = self
            .alternatives
            .iter()
            .any(|known| known.field == alternative.field && known.text == alternative.text);
        if !is_known && self.alternatives.len() < MAX_ALTERNATIVES {
            self.alternatives.push(alternative);
        }
    }
}

impl TermAlternative {
    fn new(field: TermField, text: String, weight: f32) -> Self {
        Self { field, text, weight, is_prefix: false, is_synonym: false }
    }
}

/// The terms of the free words of a query.
///
/// Stop words of English, and bigrams of hiragana alone, count only if the query has nothing else.
/// An unspaced sentence becomes many terms.
pub fn query_terms(text: &str) -> Vec<QueryTerm> {
    let tokens = crate::tokenize(text);
    let mut terms = spaced::terms(text, &tokens);
    terms.extend(unspaced::terms(text, &tokens));
    let has_content = terms.iter().any(|term| !term.is_weak);
    let terms = terms.into_iter().filter(|term| !term.is_weak || !has_content);
    bounded(without_repeats(terms.map(|term| term.term).collect()))
}

/// A term, and whether it counts only if the query has nothing else.
struct TermCandidate {
    term: QueryTerm,
    is_weak: bool,
}

impl TermCandidate {
    fn strong(term: QueryTerm) -> Self {
        Self { term, is_weak: false }
    }

    fn weak(term: QueryTerm) -> Self {
        Self { term, is_weak: true }
    }
}

/// Keeps one of several terms that ask for the same, with the highest weight.
fn without_repeats(terms: Vec<QueryTerm>) -> Vec<QueryTerm> {
    let mut kept: Vec<QueryTerm> = Vec::with_capacity(terms.len());
    let mut known: HashMap<(TermField, String), usize> = HashMap::new();
    for term in terms {
        let Some(first) = term.alternatives.first() else { continue };
        let key = (first.field, first.text.clone());
        match known.get(&key) {
            Some(at) => {
                let before = &mut kept[*at];
                before.weight = before.weight.max(term.weight);
                term.alternatives.into_iter().for_each(|alternative| before.add(alternative));
            }
            None => {
                known.insert(key, kept.len());
                kept.push(term);
            }
        }
    }
    kept
}

fn bounded(mut terms: Vec<QueryTerm>) -> Vec<QueryTerm> {
    if terms.len() > MAX_TERMS {
        let mut weights: Vec<f32> = terms.iter().map(|term| term.weight).collect();
        weights.sort_by(|a, b| b.total_cmp(a));
        let least = weights[MAX_TERMS - 1];
        terms.retain(|term| term.weight >= least);
        terms.truncate(MAX_TERMS);
    }
    terms
}
