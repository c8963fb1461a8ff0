//! Conditions of a query and filters of a request, as queries of the index.

use std::ops::Bound;

use analysis::{Audience, Comparison, Condition, phrase_tokens};
use resource::Filter;
use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, Occur, Query as IndexQuery, RangeQuery, RegexQuery,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::{Clauses, MAX_TERMS, prefix_query, term_query};
use crate::index::entry::{essence, role_word, seconds};
use crate::index::fields::Fields;
use crate::index::keys::text_key;

pub(super) fn condition_clause(
    fields: &Fields,
    condition: &Condition,
) -> (Occur, Box<dyn IndexQuery>) {
    match condition {
        Condition::Not(condition) => (Occur::MustNot, unscored(condition_query(fields, condition))),
        condition => (Occur::Must, unscored(condition_query(fields, condition))),
    }
}

fn condition_query(fields: &Fields, condition: &Condition) -> Box<dyn IndexQuery> {
    match condition {
        Condition::Name(text) => all_tokens(fields.title, text),
        Condition::Path(text) => all_tokens(fields.path, text),
        Condition::Mime(mime) => mime_query(fields, mime),
        Condition::Mount(mount) => mount_query(fields, mount),
        Condition::Language(tag) => {
            let tag = tag.to_ascii_lowercase();
            let primary = tag.split('-').next().unwrap_or(&tag);
            term_query(fields.language, primary)
        }
        Condition::Audience(audience) => audience_query(
            fields,
            match audience {
                Audience::User => "user",
                Audience::Assistant => "assistant",
            },
        ),
        Condition::Priority(comparison, value) => {
            let term = Term::from_field_f64(fields.priority, *value);
            comparison_query(*comparison, term)
        }
        Condition::Modified(comparison, time) => {
            let term = Term::from_field_i64(fields.modified, seconds(*time));
            comparison_query(*comparison, term)
        }
        Condition::ModifiedWithin(range) => {
            let [start, end] = [range.start, range.end]
                .map(|time| Term::from_field_i64(fields.modified, seconds(time)));
            Box::new(RangeQuery::new(Bound::Included(start), Bound::Excluded(end)))
        }
        Condition::Not(condition) => Box::new(BooleanQuery::new(vec![
            (Occur::Must, Box::new(AllQuery) as _),
            (Occur::MustNot, condition_query(fields, condition)),
        ])),
        Condition::Any(conditions) => {
            let any = conditions.iter().map(|one| (Occur::Should, condition_query(fields, one)));
            Box::new(BooleanQuery::new(any.collect()))
        }
    }
}

pub(super) fn comparison_query(comparison: Comparison, term: Term) -> Box<dyn IndexQuery> {
    let (lower, upper) = match comparison {
        Comparison::Less => (Bound::Unbounded, Bound::Excluded(term)),
        Comparison::LessOrEqual => (Bound::Unbounded, Bound::Included(term)),
        Comparison::Equal => (Bound::Included(term.clone()), Bound::Included(term)),
        Comparison::GreaterOrEqual => (Bound::Included(term), Bound::Unbounded),
        Comparison::Greater => (Bound::Excluded(term), Bound::Unbounded),
    };
    Box::new(RangeQuery::new(lower, upper))
}

/// All tokens of `text` in `field`.
fn all_tokens(field: Field, text: &str) -> Box<dyn IndexQuery> {
    let tokens = phrase_tokens(text).into_iter().take(MAX_TERMS);
    let all = tokens.map(|token| (Occur::Must, prefix_query(field, &token.text)));
    Box::new(BooleanQuery::new(all.collect()))
}

fn mime_query(fields: &Fields, mime: &str) -> Box<dyn IndexQuery> {
    let mime = essence(mime);
    let start = mime.trim_end_matches('*');
    match start.ends_with('/') || start != mime || !mime.contains('/') {
        true => prefix_query(fields.mime, start),
        false => term_query(fields.mime, &mime),
    }
}

pub(super) fn mount_query(fields: &Fields, mount: &str) -> Box<dyn IndexQuery> {
    let term = Term::from_field_u64(fields.mount_key, text_key(mount));
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

/// What is for this audience, or does not say for whom it is.
fn audience_query(fields: &Fields, word: &str) -> Box<dyn IndexQuery> {
    let others = ["user", "assistant"].into_iter().filter(|other| *other != word);
    let mut clauses: Clauses = vec![(Occur::Should, term_query(fields.audience, word))];
    let mut unsaid: Clauses = vec![(Occur::Must, Box::new(AllQuery))];
    unsaid.extend(others.map(|other| (Occur::MustNot, term_query(fields.audience, other))));
    clauses.push((Occur::Should, Box::new(BooleanQuery::new(unsaid))));
    Box::new(BooleanQuery::new(clauses))
}

/// The conditions of a filter that the index knows; the rest is checked on the resource.
pub(super) fn filter_clauses(fields: &Fields, filter: &Filter) -> Clauses {
    let mut clauses: Clauses = Vec::new();
    let mut require = |query| clauses.push((Occur::Must, unscored(query)));
    if let Some(path) = filter.path.as_ref().filter(|path| !path.prefix().is_empty()) {
        require(prefix_query(fields.address, path.prefix()));
    }
    if let Some(query) = filter.name.as_ref().and_then(|part| name_query(fields, part)) {
        require(query);
    }
    if let Some(mime) = &filter.mime {
        require(mime_query(fields, mime));
    }
    if let Some(role) = filter.audience {
        require(audience_query(fields, role_word(role)));
    }
    if let Some(mount) = &filter.mount {
        require(mount_query(fields, mount));
    }
    if let Some(least) = filter.min_priority {
        let term = Term::from_field_f64(fields.priority, least);
        require(comparison_query(Comparison::GreaterOrEqual, term));
    }
    if let Some(since) = filter.modified_since {
        let term = Term::from_field_i64(fields.modified, seconds(since));
        require(comparison_query(Comparison::GreaterOrEqual, term));
    }
    clauses
}

/// What has `part` in its name or title; `None` if the index cannot tell.
fn name_query(fields: &Fields, part: &str) -> Option<Box<dyn IndexQuery>> {
    let mut pattern = String::from(".*");
    for letter in part.chars() {
        if !letter.is_alphanumeric() {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push_str(".*");
    let query = RegexQuery::from_pattern(&pattern, fields.names).ok()?;
    Some(Box::new(query))
}

/// A condition that adds nothing to the score.
pub(super) fn unscored(query: Box<dyn IndexQuery>) -> Box<dyn IndexQuery> {
    Box::new(ConstScoreQuery::new(query, 0.0))
}
