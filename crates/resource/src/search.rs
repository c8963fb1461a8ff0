//! The search interface: how a provider answers full-text queries over its resources.

use std::sync::Arc;

use async_trait::async_trait;

use crate::context::Context;
use crate::error::Result;
use crate::filter::Filter;
use crate::page::{Cursor, Page};
use crate::reading::Slice;
use crate::uri::Uri;

/// Searches the content of resources.
#[async_trait]
pub trait Search: Send + Sync {
    /// Returns one page of hits, the best first.
    ///
    /// - At most the requested number of hits; a page may be empty and still have a next one.
    /// - Pages of any size join without gaps or repeats. Unknown cursor: `Invalid`.
    /// - Every hit meets the filter, and the principal of `ctx` can read it.
    /// - A query without words: `Invalid`.
    async fn search(&self, ctx: &Context, request: &SearchRequest) -> Result<Page<SearchHit>>;
}

/// A full-text query.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The query, as the user wrote it.
    pub query: String,
    /// Conditions on the resources.
    pub filter: Option<Arc<Filter>>,
    /// The cursor from the previous page; `None` for the first page.
    pub cursor: Option<Cursor>,
    /// The maximum number of hits.
    pub limit: usize,
}

/// One hit of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// The resource.
    pub uri: Uri,
    /// The title, if the source tells it with the hit.
    pub title: Option<String>,
    /// The passage that matched, if the source tells.
    pub passage: Option<Passage>,
    /// The relevance: higher is better. Comparable within one source only.
    pub score: f64,
}

/// A passage of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The text.
    pub text: String,
    /// Where it stands, so that a reader can ask for the window around it; `None` if the source does
    /// not tell.
    pub slice: Option<Slice>,
}
