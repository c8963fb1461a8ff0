//! Size-limit layer: caps the bytes of every read.

use async_trait::async_trait;
use resource::{
    Context, Facets, Page, PageRequest, Provider, Reading, Resource, Result, Template, Uri, Window,
};

/// Caps every read at the mount's limit.
pub struct Bounded<P> {
    inner: P,
    limit: u64,
}

impl<P> Bounded<P> {
    /// Wraps `inner`; asks it for at most `limit` bytes per read.
    pub fn new(inner: P, limit: u64) -> Self {
        Self { inner, limit }
    }
}

#[async_trait]
impl<P: Provider> Provider for Bounded<P> {
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

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Resource> {
        self.inner.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        let window = match window {
            Window::Whole { limit } => Window::Whole { limit: self.limit.min(*limit) },
            Window::Part { offset, length, etag } => Window::Part {
                offset: *offset,
                length: self.limit.min(*length),
                etag: etag.clone(),
            },
        };
        self.inner.read(ctx, uri, &window).await
    }

    fn facets(&self) -> Facets<'_> {
        self.inner.facets()
    }
}
