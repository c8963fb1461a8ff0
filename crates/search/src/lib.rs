//! Search over every mount: an index of passages, kept up to date, and the queries it answers.
//!
//! [`SearchIndex`] holds the passages; an [`IndexKeeper`] for each mount keeps them up to date;
//! [`SearchService`] answers queries under the context of whoever asks.

mod asked_along;
mod find;
mod hit;
mod index;
mod keeper;
mod meaning;
mod pack;
mod plan;
mod provider;
mod rank;
mod service;
mod snippet;
mod spelling;
mod term_matches;
mod text;
mod weights;

pub use hit::PassageHit;
pub use index::coverage::{Coverage, MountCoverage};
pub use index::entry::PassagePlace;
pub use index::store::{IndexHome, IndexSummary, clear_index, remove_unused};
pub use index::{IndexOptions, SearchIndex};
pub use keeper::{IndexKeeper, IndexedMount};
pub use pack::{ContextPack, LeftOutItem, PackItem, PackRequest};
pub use provider::{SEARCH_TEMPLATES, SearchProvider, ServiceSlot};
pub use rank::ScoreReasons;
pub use service::{SearchMode, SearchQuery, SearchResults, SearchService};
