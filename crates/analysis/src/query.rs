//! Queries: the clauses and conditions that a query text asks for.

mod lexer;
mod parser;
mod values;

pub use parser::parse_query;

use std::ops::Range;
use std::time::SystemTime;

/// A parsed query. A result satisfies all conditions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// What the text of a result contains.
    pub clauses: Vec<Clause>,
    /// What the resource of a result satisfies.
    pub conditions: Vec<Condition>,
}

/// A clause about the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clause {
    /// Free words; see [`query_terms`](crate::query_terms).
    Words(String),
    /// A quoted phrase; see [`phrase_tokens`](crate::phrase_tokens).
    Phrase(String),
    /// The beginning of a word, without the `*`, folded; see [`prefix_term`](crate::prefix_term).
    Prefix(String),
    /// A clause that the text must not satisfy.
    Not(Box<Self>),
    /// Clauses of which the text satisfies at least one.
    Any(Vec<Self>),
}

/// A condition on the resource.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// `name:`
    Name(String),
    /// `path:`
    Path(String),
    /// `mime:`
    Mime(String),
    /// `mount:`
    Mount(String),
    /// `lang:`
    Language(String),
    /// `audience:`
    Audience(Audience),
    /// `priority:>0.5`
    Priority(Comparison, f64),
    /// `modified:>2026-01-01`
    Modified(Comparison, SystemTime),
    /// `modified:2026-01-01`: within the day, month or year.
    ModifiedWithin(Range<SystemTime>),
    /// A condition that the resource must not satisfy.
    Not(Box<Self>),
    /// Conditions of which the resource satisfies at least one.
    Any(Vec<Self>),
}

/// Whom a resource is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Audience {
    /// The person at the host.
    User,
    /// The model.
    Assistant,
}

/// A comparison of the resource's value (left) with the value of the query (right).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `=` or nothing
    Equal,
    /// `>=`
    GreaterOrEqual,
    /// `>`
    Greater,
}

/// The error of a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The query has no words and no conditions.
    #[error("the query has nothing to search for; give at least one word")]
    Empty,
    /// The query is too long.
    #[error("the query has {length} characters; at most {limit} are accepted")]
    TooLong {
        /// Its characters.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// The query has too many clauses.
    #[error("the query has more than {limit} clauses")]
    TooManyClauses {
        /// The limit.
        limit: usize,
    },
    /// The value of a field cannot be read.
    #[error("cannot read {value:?} as a value of {field}: {accepted}")]
    BadValue {
        /// The field.
        field: &'static str,
        /// The value.
        value: String,
        /// What the field accepts.
        accepted: &'static str,
    },
}
