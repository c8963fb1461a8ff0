//! Query parser: from lexemes to clauses and conditions.

use super::lexer::{QueryField, QueryLexeme, lex};
use super::{Clause, Condition, Query, QueryError, values};
use crate::fold::fold;
use crate::token::tokenize;

/// The most characters of a query.
const MAX_LENGTH: usize = 2_000;
/// The most clauses and conditions of a query. Free words in a row count as one.
const MAX_CLAUSES: usize = 64;

/// Parses a query.
///
/// Text that is no operator, field or phrase is words: the only errors are a query without
/// anything to search for, one that is too long, and a value of a known field that cannot be read.
pub fn parse_query(text: &str) -> Result<Query, QueryError> {
    let length = text.chars().count();
    if length > MAX_LENGTH {
        return Err(QueryError::TooLong { length, limit: MAX_LENGTH });
    }
    let items = join_alternatives(items(&lex(text))?);
    let mut query = Query::default();
    for item in items {
        match item {
            QueryItem::Clause(clause) => query.clauses.push(clause),
            QueryItem::Condition(condition) => query.conditions.push(condition),
            QueryItem::Or => {}
        }
    }
    query.clauses = join_words(query.clauses);
    query.clauses.retain(is_searchable);
    let clauses: usize = query.clauses.iter().map(weigh_clause).sum();
    let conditions: usize = query.conditions.iter().map(weigh_condition).sum();
    if clauses + conditions > MAX_CLAUSES {
        return Err(QueryError::TooManyClauses { limit: MAX_CLAUSES });
    }
    let is_positive = |clause: &Clause| !matches!(clause, Clause::Not(_));
    if query.conditions.is_empty() && !query.clauses.iter().any(is_positive) {
        return Err(QueryError::Empty);
    }
    Ok(query)
}

fn weigh_clause(clause: &Clause) -> usize {
    if let Clause::Any(all) = clause { all.len() } else { 1 }
}

fn weigh_condition(condition: &Condition) -> usize {
    if let Condition::Any(all) = condition { all.len() } else { 1 }
}

/// A piece of a query before OR joins it with its neighbours.
#[derive(Debug)]
enum QueryItem {
    Clause(Clause),
    Condition(Condition),
    Or,
}

fn items(lexemes: &[QueryLexeme<'_>]) -> Result<Vec<QueryItem>, QueryError> {
    let mut items = Vec::new();
    let mut is_negated = false;
    for lexeme in lexemes {
        let item = match lexeme {
            QueryLexeme::Not => {
                is_negated = true;
                continue;
            }
            QueryLexeme::And => continue,
            QueryLexeme::Or => QueryItem::Or,
            QueryLexeme::Word(word) => QueryItem::Clause(Clause::Words((*word).to_owned())),
            QueryLexeme::Prefix(prefix) => QueryItem::Clause(Clause::Prefix(fold(prefix))),
            QueryLexeme::Phrase(phrase) => QueryItem::Clause(Clause::Phrase((*phrase).to_owned())),
            QueryLexeme::Field(field, value) => QueryItem::Condition(condition(*field, value)?),
        };
        items.push(if is_negated { negate(item) } else { item });
        is_negated = false;
    }
    Ok(items)
}

fn negate(item: QueryItem) -> QueryItem {
    match item {
        QueryItem::Clause(clause) => QueryItem::Clause(Clause::Not(Box::new(clause))),
        QueryItem::Condition(condition) => {
            QueryItem::Condition(Condition::Not(Box::new(condition)))
        }
        QueryItem::Or => QueryItem::Or,
    }
}

fn condition(field: QueryField, value: &str) -> Result<Condition, QueryError> {
    let text = value.to_owned();
    Ok(match field {
        QueryField::Name => Condition::Name(text),
        QueryField::Path => Condition::Path(text),
        QueryField::Mime => Condition::Mime(text),
        QueryField::Mount => Condition::Mount(text),
        QueryField::Language => Condition::Language(text),
        QueryField::Audience => return values::audience(value),
        QueryField::Priority => return values::priority(value),
        QueryField::Modified => return values::modified(value),
    })
}

/// Joins neighbours of OR. An OR without a neighbour of the same kind on each side is left out.
fn join_alternatives(items: Vec<QueryItem>) -> Vec<QueryItem> {
    let mut joined: Vec<QueryItem> = Vec::new();
    let mut is_alternative = false;
    for item in items {
        if matches!(item, QueryItem::Or) {
            is_alternative = true;
            continue;
        }
        let item = match (is_alternative.then(|| joined.pop()).flatten(), item) {
            (Some(QueryItem::Clause(Clause::Any(mut all))), QueryItem::Clause(clause)) => {
                all.push(clause);
                QueryItem::Clause(Clause::Any(all))
            }
            (Some(QueryItem::Clause(before)), QueryItem::Clause(clause)) => {
                QueryItem::Clause(Clause::Any(vec![before, clause]))
            }
            (
                Some(QueryItem::Condition(Condition::Any(mut all))),
                QueryItem::Condition(condition),
            ) => {
                all.push(condition);
                QueryItem::Condition(Condition::Any(all))
            }
            (Some(QueryItem::Condition(before)), QueryItem::Condition(condition)) => {
                QueryItem::Condition(Condition::Any(vec![before, condition]))
            }
            (before, item) => {
                joined.extend(before);
                item
            }
        };
        joined.push(item);
        is_alternative = false;
    }
    joined
}

/// Joins consecutive free words to one clause.
fn join_words(clauses: Vec<Clause>) -> Vec<Clause> {
    let mut joined: Vec<Clause> = Vec::new();
    for clause in clauses {
        match (joined.last_mut(), clause) {
            (Some(Clause::Words(before)), Clause::Words(words)) => {
                before.push(' ');
                before.push_str(&words);
            }
            (_, clause) => joined.push(clause),
        }
    }
    joined
}

/// True if a clause has a token that an index can hold.
fn is_searchable(clause: &Clause) -> bool {
    match clause {
        Clause::Words(text) | Clause::Phrase(text) | Clause::Prefix(text) => {
            !tokenize(text).is_empty()
        }
        Clause::Not(clause) => is_searchable(clause),
        Clause::Any(clauses) => clauses.iter().any(is_searchable),
    }
}
