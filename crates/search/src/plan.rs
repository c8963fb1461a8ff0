//! Query plan: what a parsed query asks of the index.

mod conditions;

use std::ops::Bound;

use analysis::{
    Clause, Comparison, Condition, Query, QueryTerm, TermAlternative, TermField, Token,
    parse_query, phrase_tokens, prefix_term, query_terms,
};
use resource::{Error, Filter, Result};
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, Occur, PhraseQuery, Query as IndexQuery, RangeQuery,
    TermQuery, TermSetQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, Term};

use crate::index::fields::Fields;
use crate::weights;
use conditions::{comparison_query, condition_clause, filter_clauses, mount_query, unscored};

type Clauses = Vec<(Occur, Box<dyn IndexQuery>)>;

/// The most terms of one query.
const MAX_TERMS: usize = 64;

/// A query, ready to be run.
pub(crate) struct QueryPlan {
    /// The terms of its free words.
    pub(crate) terms: Vec<QueryTerm>,
    /// What the words of the text look like, for snippets.
    pub(crate) marked: Vec<String>,
    clauses: Vec<Clause>,
    conditions: Vec<Condition>,
    neighbours: Vec<[String; 2]>,
}

impl QueryPlan {
    /// Plans the query `text`.
    pub(crate) fn new(text: &str) -> Result<Self> {
        let parsed = parse_query(text).map_err(|error| Error::invalid(error.to_string()))?;
        let Query { clauses, conditions } = parsed;
        let (mut terms, mut marked) = (Vec::new(), Vec::new());
        for clause in &clauses {
            collect_words(clause, &mut terms, &mut marked);
        }
        terms.truncate(MAX_TERMS);
        let of_terms = terms.iter().flat_map(|term| &term.alternatives);
        marked.extend(of_terms.map(|alternative| alternative.text.clone()));
        let mut pairs = Vec::new();
        for clause in &clauses {
            if let Clause::Words(text) = clause {
                pairs.extend(neighbours(text));
            }
        }
        pairs.truncate(MAX_TERMS);
        Ok(Self { terms, marked, clauses, conditions, neighbours: pairs })
    }

    /// The query for passages, best first by the score of the index: a union of terms alone can
    /// skip most passages unseen.
    pub(crate) fn passages(
        &self,
        searcher: &Searcher,
        fields: &Fields,
        filter: Option<&Filter>,
        mounts: Option<&[String]>,
    ) -> Box<dyn IndexQuery> {
        let words = self.terms.iter().flat_map(|term| term_clauses(searcher, fields, term));
        let words: Clauses = words.collect();
        let mut required = self.restrictions(searcher, fields, (filter, mounts));
        // Words that occur nowhere find nothing, unlike a query without words.
        let words: Option<Box<dyn IndexQuery>> =
            (!self.terms.is_empty()).then(|| Box::new(BooleanQuery::new(words)) as _);
        match (words, required.is_empty()) {
            (Some(words), true) => words,
            (Some(words), false) => {
                required.push((Occur::Must, words));
                Box::new(BooleanQuery::new(required))
            }
            (None, _) => {
                let is_positive = |(occur, _): &(Occur, _)| *occur == Occur::Must;
                if !required.iter().any(is_positive) {
                    required.push((Occur::Must, Box::new(AllQuery)));
                }
                Box::new(BooleanQuery::new(required))
            }
        }
    }

    /// The query for those of the passages with these keys that meet all but the free words.
    pub(crate) fn among(
        &self,
        searcher: &Searcher,
        fields: &Fields,
        keys: impl Iterator<Item = Term>,
        limits: (Option<&Filter>, Option<&[String]>),
    ) -> Box<dyn IndexQuery> {
        let mut required = self.restrictions(searcher, fields, limits);
        required.push((Occur::Must, Box::new(TermSetQuery::new(keys))));
        Box::new(BooleanQuery::new(required))
    }

    /// What every passage must meet, whatever its free words: phrases, what is excluded, conditions.
    fn restrictions(
        &self,
        searcher: &Searcher,
        fields: &Fields,
        (filter, mounts): (Option<&Filter>, Option<&[String]>),
    ) -> Clauses {
        let conditions = self.conditions.iter().map(|one| condition_clause(fields, one));
        let mut required: Clauses = conditions.collect();
        for clause in &self.clauses {
            match clause {
                Clause::Words(_) => {}
                Clause::Not(clause) => {
                    required.push((Occur::MustNot, clause_query(searcher, fields, clause)));
                }
                clause => required.push((Occur::Must, clause_query(searcher, fields, clause))),
            }
        }
        if let Some(filter) = filter {
            required.extend(filter_clauses(fields, filter));
        }
        if let Some(mounts) = mounts {
            let any = mounts.iter().map(|mount| (Occur::Should, mount_query(fields, mount)));
            required.push((Occur::Must, unscored(Box::new(BooleanQuery::new(any.collect())))));
        }
        required
    }

    /// The words of the query, for its meaning; empty if it has none.
    pub(crate) fn words(&self) -> String {
        let words = self.clauses.iter().filter_map(|clause| match clause {
            Clause::Words(text) | Clause::Phrase(text) => Some(text.as_str()),
            _ => None,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The words of the query that the index has in no spelling of their own.
    pub(crate) fn unknown_words(&self, searcher: &Searcher, fields: &Fields) -> Vec<&str> {
        let occurs = |other: &TermAlternative| {
            let term = Term::from_field_text(text_field(fields, other), &other.text);
            other.is_prefix || searcher.doc_freq(&term).is_ok_and(|count| count > 0)
        };
        let is_unknown = |term: &&QueryTerm| {
            let mut own = term.alternatives.iter().filter(|other| !other.is_synonym);
            !own.any(occurs)
        };
        self.terms.iter().filter(is_unknown).map(|term| term.source.as_str()).collect()
    }

    /// The pairs of different words that stand beside each other in the query.
    pub(crate) fn neighbours(&self) -> impl Iterator<Item = [&str; 2]> {
        self.neighbours.iter().map(|pair| pair.each_ref().map(String::as_str))
    }
}

/// The pairs of different words that stand beside each other in `text`.
fn neighbours(text: &str) -> impl Iterator<Item = [String; 2]> {
    let tokens = phrase_tokens(text);
    let is_pair =
        |[one, other]: &[Token; 2]| other.position == one.position + 1 && one.text != other.text;
    let pairs: Vec<[Token; 2]> =
        tokens.array_windows().filter(|pair| is_pair(pair)).cloned().collect();
    pairs.into_iter().map(|pair| pair.map(|token| token.text)).take(MAX_TERMS)
}

/// The free words of a clause, as terms, and what phrases and prefixes look like.
fn collect_words(clause: &Clause, terms: &mut Vec<QueryTerm>, marked: &mut Vec<String>) {
    match clause {
        Clause::Words(text) => terms.extend(query_terms(text)),
        Clause::Phrase(text) => {
            marked.extend(phrase_tokens(text).into_iter().map(|token| token.text));
        }
        Clause::Prefix(start) => marked.push(start.clone()),
        Clause::Any(clauses) => {
            let mut none = Vec::new();
            for clause in clauses {
                if let Clause::Words(text) = clause {
                    marked.extend(query_terms(text).into_iter().flat_map(|term| {
                        term.alternatives.into_iter().map(|alternative| alternative.text)
                    }));
                } else {
                    collect_words(clause, &mut none, marked);
                }
            }
        }
        Clause::Not(_) => {}
    }
}

/// One term, in every field, with every other spelling. No other spelling counts as rarer than the
/// term itself, and no field: a rare synonym or title would otherwise outweigh what was asked for.
fn term_clauses(searcher: &Searcher, fields: &Fields, term: &QueryTerm) -> Clauses {
    let text_weight = |other: &TermAlternative| match other.field {
        TermField::Main => weights::BODY,
        TermField::Dictionary => weights::DICTIONARY,
    };
    let frequency = |field: Field, text: &str| {
        searcher.doc_freq(&Term::from_field_text(field, text)).unwrap_or(0)
    };
    let mut own_rarity = None;
    let mut clauses: Clauses = Vec::new();
    for other in &term.alternatives {
        let own_field = text_field(fields, other);
        let own_count = frequency(own_field, &other.text);
        let rarity = rarity(searcher, own_count);
        let rarity = own_rarity.map_or(rarity, |own: f32| own.min(rarity));
        if own_count > 0 {
            own_rarity.get_or_insert(rarity);
        }
        let places = [
            (own_field, text_weight(other)),
            (fields.title, weights::TITLE),
            (fields.heading, weights::HEADING),
            (fields.path, weights::PATH),
        ];
        for (field, weight) in places {
            let weight = weight * other.weight * term.weight;
            let clause: Box<dyn IndexQuery> = if other.is_prefix {
                Box::new(BoostQuery::new(prefix_query(field, &other.text), weight))
            } else {
                let is_own = field == own_field;
                let count = if is_own { own_count } else { frequency(field, &other.text) };
                if count == 0 {
                    continue;
                }
                let weight = weight * rarity / self::rarity(searcher, count);
                Box::new(BoostQuery::new(term_query(field, &other.text), weight))
            };
            clauses.push((Occur::Should, clause));
        }
    }
    clauses
}

/// How much a match of `term` counts.
pub(crate) fn term_rarity(searcher: &Searcher, term: &Term) -> f32 {
    rarity(searcher, searcher.doc_freq(term).unwrap_or(0))
}

/// How much a match of a term counts that so many passages have: the inverse document frequency of
/// BM25.
fn rarity(searcher: &Searcher, frequency: u64) -> f32 {
    let (all, frequency) = (searcher.num_docs().max(frequency) as f32, frequency as f32);
    (1.0 + (all - frequency + 0.5) / (frequency + 0.5)).ln()
}

/// The field that an alternative stands in.
pub(crate) fn text_field(fields: &Fields, other: &TermAlternative) -> Field {
    match other.field {
        TermField::Main => fields.body,
        TermField::Dictionary => fields.dictionary,
    }
}

fn term_query(field: Field, text: &str) -> Box<dyn IndexQuery> {
    Box::new(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::WithFreqs))
}

/// Everything that begins with `start`, found by its range in the dictionary of terms.
fn prefix_query(field: Field, start: &str) -> Box<dyn IndexQuery> {
    let upper = match start.char_indices().next_back() {
        Some((at, last)) => {
            let next = (last as u32 + 1..=char::MAX as u32).find_map(char::from_u32);
            next.map(|next| format!("{}{next}", &start[..at]))
        }
        None => None,
    };
    let upper = upper
        .map_or(Bound::Unbounded, |upper| Bound::Excluded(Term::from_field_text(field, &upper)));
    let lower = Bound::Included(Term::from_field_text(field, start));
    Box::new(RangeQuery::new(lower, upper))
}

/// A quoted phrase: its tokens at their relative positions.
fn exact_phrase(fields: &Fields, text: &str) -> Box<dyn IndexQuery> {
    let mut terms: Vec<(usize, Term)> = Vec::new();
    for token in phrase_tokens(text).into_iter().take(MAX_TERMS) {
        if terms.last().is_none_or(|(position, _)| *position != token.position) {
            terms.push((token.position, Term::from_field_text(fields.body, &token.text)));
        }
    }
    match terms.len() {
        0 => Box::new(tantivy::query::EmptyQuery),
        1 => Box::new(TermQuery::new(terms.remove(0).1, IndexRecordOption::WithFreqs)),
        _ => Box::new(PhraseQuery::new_with_offset(terms)),
    }
}

fn clause_query(searcher: &Searcher, fields: &Fields, clause: &Clause) -> Box<dyn IndexQuery> {
    match clause {
        Clause::Words(text) => {
            // All of the words, and no synonyms: where they are one side of OR, or excluded.
            let mut terms = query_terms(text);
            terms.iter_mut().for_each(|term| term.alternatives.retain(|other| !other.is_synonym));
            terms.retain(|term| !term.alternatives.is_empty());
            let all = terms.iter().take(MAX_TERMS).map(|term| {
                let any: Box<dyn IndexQuery> =
                    Box::new(BooleanQuery::new(term_clauses(searcher, fields, term)));
                (Occur::Must, any)
            });
            Box::new(BooleanQuery::new(all.collect()))
        }
        Clause::Phrase(text) => exact_phrase(fields, text),
        Clause::Prefix(start) => {
            Box::new(BooleanQuery::new(term_clauses(searcher, fields, &prefix_term(start))))
        }
        Clause::Not(clause) => Box::new(BooleanQuery::new(vec![
            (Occur::Must, Box::new(AllQuery) as _),
            (Occur::MustNot, clause_query(searcher, fields, clause)),
        ])),
        Clause::Any(clauses) => {
            let any = clauses
                .iter()
                .map(|clause| (Occur::Should, clause_query(searcher, fields, clause)));
            Box::new(BooleanQuery::new(any.collect()))
        }
    }
}

/// The first passages of the resources of priority 1.
pub(crate) fn required(fields: &Fields) -> Box<dyn IndexQuery> {
    let priority = Term::from_field_f64(fields.priority, 1.0);
    let first = Term::from_field_u64(fields.ordinal, 0);
    Box::new(BooleanQuery::new(vec![
        (Occur::Must, comparison_query(Comparison::GreaterOrEqual, priority)),
        (Occur::Must, comparison_query(Comparison::Equal, first)),
    ]))
}
