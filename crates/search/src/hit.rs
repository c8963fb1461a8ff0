//! A hit of a search: a resource and its best passage.

use std::sync::Arc;

use resource::Resource;

use crate::index::entry::PassagePlace;
use crate::rank::ScoreReasons;

/// One hit: a resource and its best passage.
#[derive(Debug, Clone)]
pub struct PassageHit {
    /// The resource, as the principal sees it.
    pub resource: Arc<Resource>,
    /// Where the passage stands.
    pub place: PassagePlace,
    /// A line of the passage, with the matches marked by `**`.
    pub snippet: String,
    /// The relevance: higher is better.
    pub score: f32,
    /// How the score came about.
    pub reasons: ScoreReasons,
    /// How many passages of the resource match.
    pub passages: usize,
    /// The mount whose own search found it, and its rank there; `None` if the index did.
    pub from: Option<(String, usize)>,
}

impl PassageHit {
    /// Whether the passage is all there is of the resource.
    pub fn is_whole(&self) -> bool {
        let is_original = self.resource.text_form().is_none();
        let size = self.resource.size.filter(|_| is_original);
        self.place.length == 0
            || self.place.offset == 0 && size.is_some_and(|size| size <= self.place.length)
    }

    /// How the score came about, in words. It tells parts of the score and no amounts: those count the
    /// words of all resources, also of those that the principal may not see.
    pub fn explanation(&self) -> String {
        if let Some((mount, rank)) = &self.from {
            return format!("number {rank} of the search of {mount}");
        }
        let ScoreReasons { words, phrases, further, priority, recency, found_by } = self.reasons;
        if found_by.contains(&true) {
            let lists = ["by words", "by what it is about", "by a passage's meaning"];
            let known =
                lists.iter().zip(found_by).filter_map(|(list, is_found)| is_found.then_some(*list));
            return format!("found {}", known.collect::<Vec<&str>>().join(", "));
        }
        let share =
            |part: f32| (100.0 * part / (words + phrases + further).max(f32::MIN_POSITIVE)).round();
        format!(
            "words {} %, neighbours {} %, {} further passages {} %; times priority {priority:.2}, \
             times age {recency:.2}",
            share(words),
            share(phrases),
            self.passages.saturating_sub(1),
            share(further)
        )
    }
}
