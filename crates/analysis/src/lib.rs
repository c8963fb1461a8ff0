//! Text analysis for search: words of every language, the query language, synonyms and passages.
//!
//! Pure functions over texts. The index and its callers use them.

mod dictionary;
mod fold;
mod identifier;
mod language;
mod lead;
mod passages;
mod query;
mod scanner;
mod stem;
mod summary;
mod synonyms;
mod terms;
mod token;

pub use dictionary::dictionary_words;
pub use fold::fold;
pub use language::detect_language;
pub use lead::lead;
pub use passages::{PassageSpan, TextKind, split_passages};
pub use query::{Audience, Clause, Comparison, Condition, Query, QueryError, parse_query};
pub use summary::summary;
pub use terms::{QueryTerm, TermAlternative, TermField, prefix_term, query_terms};
pub use token::{Token, TokenKind, phrase_tokens, spelling_words, tokenize};
