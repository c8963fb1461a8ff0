//! Synonyms of technical vocabulary, data only: groups of words that documentation uses alike.
//!
//! Words of a group stand between spaces; an underscore joins the words of an expression. Words
//! before ` > ` are asked for and never found: plain speech for what stands behind it.

mod bridges;
mod english;
mod japanese;

/// The groups of one list. Where a word has too many synonyms, those of the first lists stay.
pub(crate) const SYNONYMS: [&[&str]; 13] = [
    english::GENERAL,
    english::PHRASAL,
    english::SYSTEM,
    english::NETWORK,
    english::TEXT,
    english::CODE,
    english::EVERYDAY,
    japanese::GENERAL,
    japanese::SYSTEM,
    japanese::PLAIN,
    japanese::COMPOUNDS,
    japanese::EVERYDAY,
    bridges::BRIDGES,
];
