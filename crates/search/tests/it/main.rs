//! Tests of the search index over an in-memory provider and real folders.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod coverage;
mod finding;
mod freshness;
mod meaning;
mod packs;
mod privacy;
mod resources;
mod storage;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use resource::{Context, Provider};
use search::{
    IndexKeeper, IndexOptions, IndexedMount, PassageHit, SearchIndex, SearchMode, SearchQuery,
    SearchResults, SearchService,
};
use subscriptions::DebounceConfig;
use testkit::{MemoryProvider, local_context};

const MEMORY: usize = 16 << 20;

fn open_index(folder: Option<&Path>) -> SearchIndex {
    let options = IndexOptions { folder: folder.map(Path::to_owned), memory: MEMORY };
    SearchIndex::open(options).unwrap()
}

/// An index over one provider.
struct Indexed {
    provider: Arc<MemoryProvider>,
    index: SearchIndex,
    service: SearchService,
    _keeper: IndexKeeper,
}

impl Indexed {
    /// Indexes `provider` in memory, or in `folder`.
    async fn new(provider: MemoryProvider, folder: Option<&Path>) -> Self {
        Self::shared(Arc::new(provider), folder).await
    }

    async fn shared(provider: Arc<MemoryProvider>, folder: Option<&Path>) -> Self {
        Self::keeping(open_index(folder), provider).await
    }

    /// Keeps `index` up to date with `provider`, and waits until it is.
    async fn keeping(index: SearchIndex, provider: Arc<MemoryProvider>) -> Self {
        let shared = Arc::clone(&provider) as Arc<dyn Provider>;
        let mount =
            IndexedMount { name: "m".to_owned(), provider: Arc::clone(&shared), roots: Vec::new() };
        let debounce =
            DebounceConfig { quiet: Duration::from_millis(1), max_delay: Duration::from_millis(5) };
        let keeper = index.keep(mount, debounce);
        let service = SearchService::new(index.clone(), shared);
        let indexed = Self { provider, index, service, _keeper: keeper };
        indexed.complete().await;
        indexed
    }

    /// Waits until everything is indexed.
    async fn complete(&self) {
        let mut progress = self.index.progress();
        let covered = async {
            while !self.index.coverage().is_complete() {
                progress.changed().await.unwrap();
            }
        };
        tokio::time::timeout(Duration::from_secs(60), covered).await.unwrap();
    }

    async fn search_as(&self, ctx: &Context, text: &str) -> SearchResults {
        let query = SearchQuery {
            text: text.to_owned(),
            filter: None,
            mode: SearchMode::Words,
            skip: 0,
            limit: 10,
        };
        self.service.search(ctx, &query).await.unwrap()
    }

    async fn hits(&self, text: &str) -> Vec<PassageHit> {
        self.search_as(&local_context(), text).await.hits
    }

    /// The URIs of the hits, the best first.
    async fn uris(&self, text: &str) -> Vec<String> {
        self.hits(text).await.iter().map(|hit| hit.resource.uri.to_string()).collect()
    }

    /// Waits until a search gives these URIs.
    async fn settles(&self, text: &str, wanted: &[&str]) {
        let mut progress = self.index.progress();
        let settled = async {
            while self.uris(text).await != wanted {
                progress.changed().await.unwrap();
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(60), settled).await;
        assert!(found.is_ok(), "{text}: {:?} instead of {wanted:?}", self.uris(text).await);
    }
}
