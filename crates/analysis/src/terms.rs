//! Query terms: what a free-text query asks for, with synonyms as alternatives.

/// One thing that a free-text query asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// Index terms that answer it. The best one counts.
    pub alternatives: Vec<TermAlternative>,
    /// The weight of the term among the terms of the query, 0 to 1.
    pub weight: f32,
    /// What the user wrote.
    pub source: String,
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
}

/// The fields of the index that hold body text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TermField {
    /// Tokens of [`tokenize`](crate::tokenize).
    Main,
    /// Tokens of [`dictionary_words`](crate::dictionary_words).
    Dictionary,
}

/// The terms of the free words of a query.
pub fn query_terms(text: &str) -> Vec<QueryTerm> {
    let tokens = crate::tokenize(text).into_iter();
    let term = |token: crate::Token| QueryTerm {
        alternatives: vec![TermAlternative {
            field: TermField::Main,
            text: token.text,
            weight: 1.0,
            is_prefix: false,
        }],
        weight: 1.0,
        source: text[token.range].to_owned(),
    };
    tokens.map(term).collect()
}
