//! Size limit layer: caps the number of bytes of every read.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Context, Facets, Page, PageRequest, Provider, ReadRequest, Reading, Resource, Result, Template,
    Uri, Window,
};

use super::Layer;

/// Caps reads at this many bytes: a larger whole fails, a larger window is shortened.
pub struct Bounded(pub u64);

impl Layer for Bounded {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(BoundedProvider { inner, limit: self.0 })
    }
}

struct BoundedProvider {
    inner: Arc<dyn Provider>,
    limit: u64,
}

#[async_trait]
impl Provider for BoundedProvider {
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

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.inner.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let window = match &request.window {
            Window::Whole { limit } => Window::Whole { limit: self.limit.min(*limit) },
            Window::Part { offset, length, etag } => Window::Part {
                offset: *offset,
                length: self.limit.min(*length),
                etag: etag.clone(),
            },
        };
        self.inner.read(ctx, uri, &request.with_window(window)).await
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { watch, complete, health, relay, mounts, search, skills } = self.inner.facets();
        // The limit is on content that is read. Tool results have the limit of the client that
        // fetches them, and passages of a search are short.
        Facets { watch, complete, health, relay, mounts, search, skills }
    }
}
