//! The weights of the ranking, in one table. docs/search.md shows them to users.

/// How much a match counts by its field.
pub(crate) const BODY: f32 = 1.0;
pub(crate) const DICTIONARY: f32 = 1.5;
pub(crate) const TITLE: f32 = 1.2;
pub(crate) const HEADING: f32 = 0.35;
pub(crate) const PATH: f32 = 0.6;

/// How much a phrase of neighbouring words counts beside the words themselves.
pub(crate) const PHRASE: f32 = 0.3;
/// How much more a passage counts that has all terms of the query, instead of none.
pub(crate) const TERM_COVERAGE: f32 = 1.5;
/// How much the further passages of a resource add to its best one.
pub(crate) const FURTHER_PASSAGES: f32 = 0.03;

/// How much a rank by meaning counts beside a rank by words: of what a resource is about as a whole,
/// and of its passages.
pub(crate) const MEANING_SUMMARY: f32 = 0.7;
pub(crate) const MEANING_PASSAGE: f32 = 0.4;

/// A priority of 1 adds this part of the score, a priority of 0 takes it away.
pub(crate) const PRIORITY: f32 = 0.2;
/// A resource that changed just now gains this part of its score, one that changed a year ago
/// half of it.
pub(crate) const RECENCY: f32 = 0.05;
pub(crate) const RECENCY_HALF_LIFE_SECONDS: f32 = 365.0 * 86_400.0;
