//! Prepared queries: a query that is parsed, with the meaning of its words.

use resource::{Error, Result};

use super::{SearchMode, SearchQuery};
use crate::index::SearchIndex;
use crate::meaning::MeaningQuery;
use crate::plan::QueryPlan;

/// A query, ready to be run.
pub(super) struct PreparedQuery {
    pub(super) plan: QueryPlan,
    pub(super) mode: SearchMode,
    pub(super) meaning: Option<MeaningQuery>,
    /// Why the meaning does not count, though a model is configured.
    pub(super) without_meaning: Option<String>,
}

impl PreparedQuery {
    /// Parses a query, and asks the model for the meaning of its words.
    pub(super) async fn prepare(index: &SearchIndex, query: &SearchQuery) -> Result<Self> {
        let (plan, mode) = (QueryPlan::new(&query.text)?, query.mode);
        let words = plan.words();
        let (mut meaning, mut without_meaning) = (None, None);
        if mode != SearchMode::Words && !words.is_empty() {
            match index.meaning() {
                Ok(Some(model)) => match model.query(&words).await {
                    Ok(query) => meaning = Some(query),
                    Err(error) if mode == SearchMode::Meaning => return Err(error),
                    Err(error) => {
                        tracing::warn!("a search went without meaning: {}", error.with_causes());
                        without_meaning = Some(error.message.into_owned());
                    }
                },
                Ok(None) if mode == SearchMode::Meaning => return Err(no_model()),
                Ok(None) => {}
                Err(reason) if mode == SearchMode::Meaning => {
                    return Err(Error::unavailable(reason));
                }
                Err(reason) => without_meaning = Some(reason),
            }
        }
        Ok(Self { plan, mode, meaning, without_meaning })
    }
}

fn no_model() -> Error {
    Error::invalid(
        "no model for meaning is configured here; search by words, or set `model` in [search]",
    )
}
