//! Suggestions: another spelling of a query, by words that the principal can find.

use std::collections::HashSet;

use resource::Context;

use super::{SearchQuery, SearchService};
use crate::plan::QueryPlan;
use crate::spelling::similar_words;

/// How many words of a query get a suggestion.
const MAX_SUGGESTED_WORDS: usize = 4;

impl SearchService {
    /// Another spelling of a query: of words that find nothing, if another spelling does. Where the
    /// query finds something, only words that the index does not have are tried.
    pub(super) async fn suggest(
        &self,
        ctx: &Context,
        query: &SearchQuery,
        plan: &QueryPlan,
        is_empty: bool,
    ) -> Option<String> {
        let store = self.index.state.store();
        let unknown = plan.unknown_words(&store.reader.searcher(), &store.fields);
        if !is_empty && unknown.is_empty() {
            return None;
        }
        let mut words: Vec<String> = query.text.split_whitespace().map(str::to_owned).collect();
        let mut is_changed = false;
        for word in words.iter_mut().take(MAX_SUGGESTED_WORDS) {
            let folded = analysis::fold(word);
            let is_tried = is_empty || unknown.iter().any(|one| analysis::fold(one) == folded);
            if !is_tried || self.finds(ctx, query, &folded).await {
                continue;
            }
            let store = self.index.state.store();
            let similar = {
                let folded = folded.clone();
                tokio::task::spawn_blocking(move || similar_words(&store, &folded)).await
            };
            for other in similar.ok().and_then(std::result::Result::ok).unwrap_or_default() {
                if self.finds(ctx, query, &other).await {
                    (*word, is_changed) = (other, true);
                    break;
                }
            }
        }
        is_changed.then(|| words.join(" "))
    }

    /// Whether `text` alone finds something that the principal may see.
    async fn finds(&self, ctx: &Context, query: &SearchQuery, text: &str) -> bool {
        let query = SearchQuery { text: text.to_owned(), limit: 3, skip: 0, ..query.clone() };
        let Ok(found) = self.find_visible(ctx, &query).await else { return false };
        for (resource, found) in found {
            // What may be listed and not read tells none of its words.
            if self.hit(ctx, resource, found, &HashSet::new()).await.is_some() {
                return true;
            }
        }
        false
    }
}
