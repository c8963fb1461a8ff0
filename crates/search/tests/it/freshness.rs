//! The index follows its source.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use resource::{
    Context, Error, Facets, Page, PageRequest, Provider, ReadRequest, Reading, Resource, Result,
    Template, Uri,
};
use search::{IndexedMount, SearchMode, SearchQuery, SearchService};
use subscriptions::DebounceConfig;
use testkit::{MemoryProvider, local_context};

use crate::{Indexed, open_index};

#[tokio::test]
async fn changes_additions_and_removals_arrive() {
    let provider =
        MemoryProvider::new().text("a:/1", "alpha words").text("a:/2", "beta words").with_watches();
    let index = Indexed::new(provider, None).await;
    assert_eq!(index.uris("alpha").await, ["a:/1"]);
    index.provider.write("a:/1", "gamma words");
    index.settles("gamma", &["a:/1"]).await;
    assert!(index.uris("alpha").await.is_empty());
    index.provider.write("a:/3", "delta words");
    index.settles("delta", &["a:/3"]).await;
    index.provider.remove("a:/2");
    index.settles("beta", &[]).await;
}

#[tokio::test]
async fn after_a_restart_only_what_changed_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut provider = MemoryProvider::new();
    for letter in 'a'..='t' {
        provider = provider.text(&format!("a:/{letter}"), &format!("words of {letter}onyx"));
    }
    let provider = Arc::new(provider);
    let first = Indexed::shared(Arc::clone(&provider), Some(folder.path())).await;
    assert_eq!(first.provider.counts().reads(), 20);
    drop(first);
    provider.write("a:/g", "changed meanwhile");
    provider.remove("a:/h");
    let reads = provider.counts().reads();
    let second = reopened(&provider, folder.path()).await;
    assert_eq!(provider.counts().reads() - reads, 1);
    assert_eq!(second.uris("meanwhile").await, ["a:/g"]);
    assert!(second.uris("gonyx").await.is_empty());
    assert!(second.uris("honyx").await.is_empty());
    assert_eq!(second.uris("ionyx").await, ["a:/i"]);
}

/// Opens the index once the thread of the first one has let go of it.
pub(crate) async fn reopened(provider: &Arc<MemoryProvider>, folder: &std::path::Path) -> Indexed {
    let lock = std::fs::File::open(folder.join("lock")).unwrap();
    tokio::task::spawn_blocking(move || lock.lock().unwrap()).await.unwrap();
    Indexed::shared(Arc::clone(provider), Some(folder)).await
}

#[tokio::test]
async fn a_mount_that_is_gone_leaves_the_index() {
    let index = Indexed::new(MemoryProvider::new().text("a:/1", "alpha"), None).await;
    assert_eq!(index.uris("alpha").await, ["a:/1"]);
    index.index.retain_mounts(&["other"]).await;
    assert!(index.uris("alpha").await.is_empty());
    assert!(index.index.mount_coverage("m").is_none());
}

/// A source whose texts cannot be read for a while.
struct Flaky {
    inner: MemoryProvider,
    is_away: AtomicBool,
}

#[async_trait]
impl Provider for Flaky {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.inner.list(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.inner.templates(ctx, paging).await
    }

    fn facets(&self) -> Facets<'_> {
        Facets::default()
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.inner.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        match self.is_away.load(Ordering::Relaxed) {
            true => Err(Error::unavailable("the disk is away")),
            false => self.inner.read(ctx, uri, request).await,
        }
    }
}

#[tokio::test]
async fn what_could_not_be_read_is_read_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let inner = MemoryProvider::new().text("a:/page", "alpha");
    let flaky = Arc::new(Flaky { inner, is_away: AtomicBool::new(true) });
    for (is_away, found) in [(true, 0), (false, 1)] {
        flaky.is_away.store(is_away, Ordering::Relaxed);
        let index = open_index(Some(folder.path()));
        let provider = Arc::clone(&flaky) as Arc<dyn Provider>;
        let name = "m".to_owned();
        let mount = IndexedMount { name, provider: Arc::clone(&provider), roots: Vec::new() };
        let keeper = index.keep(mount, DebounceConfig::default());
        let mut progress = index.progress();
        while !index.coverage().is_complete() {
            progress.changed().await.unwrap();
        }
        let service = SearchService::new(index, provider);
        let query = SearchQuery {
            text: "alpha".to_owned(),
            filter: None,
            mode: SearchMode::Words,
            skip: 0,
            limit: 10,
        };
        let results = service.search(&local_context(), &query).await.unwrap();
        assert_eq!(results.hits.len(), found, "away: {is_away}");
        drop((keeper, service));
        let lock = std::fs::File::open(folder.path().join("lock")).unwrap();
        tokio::task::spawn_blocking(move || lock.lock().unwrap()).await.unwrap();
    }
}
