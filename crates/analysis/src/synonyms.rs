//! Synonyms of technical vocabulary, data only: groups of words that documentation uses alike.
//!
//! Words of a group stand between spaces; an underscore joins the words of an expression.

mod english;
mod japanese;

pub(crate) use english::ENGLISH;
pub(crate) use japanese::JAPANESE;
