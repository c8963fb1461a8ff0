//! Tests of tools over a source that works on few requests at a time.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use resource::{
    Context, Facets, Page, PageRequest, Provider, ReadRequest, Reading, Resource, Result, Template,
    Uri,
};
use serde_json::json;
use server::{CollectionsMode, Limits, Server};
use testkit::MemoryProvider;
use tokio::sync::Semaphore;

use crate::tool_host::ToolHost;

/// Gives its places to requests in the order in which they come.
struct NarrowSource {
    memory: MemoryProvider,
    places: Semaphore,
}

#[async_trait]
impl Provider for NarrowSource {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let _place = self.places.acquire().await;
        tokio::task::yield_now().await;
        self.memory.list(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.memory.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.memory.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let _place = self.places.acquire().await;
        tokio::task::yield_now().await;
        self.memory.read(ctx, uri, request).await
    }

    fn facets(&self) -> Facets<'_> {
        self.memory.facets()
    }
}

/// The texts that a search opens ahead have all places, and wait for them before its list does.
#[tokio::test(start_paused = true)]
async fn a_search_does_not_stand_still_behind_the_texts_that_it_opens_ahead() {
    let mut memory = MemoryProvider::new();
    for at in 0..2_500 {
        memory = memory.text(&format!("test://{at:04}"), "a line");
    }
    let source = NarrowSource { memory, places: Semaphore::new(2) };
    let limits = Limits::default();
    let server = Server::new(Arc::new(source), limits, [7; 32], CollectionsMode::Always);
    let mut host = ToolHost::modern(Arc::new(server)).await;
    let search = host.structured("resources_grep", json!({ "pattern": "none of these" }));
    let found = tokio::time::timeout(Duration::from_secs(5), search).await.expect("it goes on");
    assert_eq!(found["searched"], 2_500, "{found}");
    assert!(found["absent"].is_null(), "{found}");
}
