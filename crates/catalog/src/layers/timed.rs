//! Timeout layer: limits the time of every provider call.

use std::time::Duration;

use async_trait::async_trait;
use resource::{
    Complete, Completion, CompletionRequest, Component, ComponentCall, ComponentKind, Context,
    Error, Facets, Interest, Json, Page, PageRequest, PromptCompletionRequest, Provider, Reading,
    Relay, Resource, Result, Template, Uri, UriRewrite, Watch, Window,
};
use tokio::time;

use crate::changes::{ChangeStream, watch_unsupported};

/// Cancels a call that takes too long. It does not interrupt a stream that has begun.
pub struct Timed<P> {
    inner: P,
    limit: Duration,
}

impl<P> Timed<P> {
    /// Wraps `inner`; calls fail as `Unavailable` after `limit`.
    pub fn new(inner: P, limit: Duration) -> Self {
        Self { inner, limit }
    }

    async fn with_timeout<T>(&self, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        time::timeout(self.limit, call).await.unwrap_or_else(|_| {
            let limit = self.limit;
            Err(Error::unavailable(format!("no answer from the source within {limit:?}")))
        })
    }
}

#[async_trait]
impl<P: Provider> Provider for Timed<P> {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.with_timeout(self.inner.list(ctx, parent, paging)).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.with_timeout(self.inner.templates(ctx, paging)).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Resource> {
        self.with_timeout(self.inner.stat(ctx, uri)).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        self.with_timeout(self.inner.read(ctx, uri, window)).await
    }

    fn facets(&self) -> Facets<'_> {
        let inner = self.inner.facets();
        Facets {
            complete: inner.complete.map(|_| self as &dyn Complete),
            watch: inner.watch.map(|_| self as &dyn Watch),
            relay: inner.relay.map(|_| self as &dyn Relay),
            ..inner
        }
    }
}

#[async_trait]
impl<P: Provider> Complete for Timed<P> {
    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        match self.inner.facets().complete {
            Some(inner) => self.with_timeout(inner.complete(ctx, request)).await,
            None => Ok(Completion::default()),
        }
    }
}

#[async_trait]
impl<P: Provider> Watch for Timed<P> {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<ChangeStream> {
        match self.inner.facets().watch {
            Some(inner) => self.with_timeout(inner.watch(ctx, interest)).await,
            None => Err(watch_unsupported()),
        }
    }
}

#[async_trait]
impl<P: Provider> Relay for Timed<P> {
    fn may_have(&self, kind: ComponentKind) -> bool {
        self.inner.facets().relay.is_some_and(|relay| relay.may_have(kind))
    }

    fn emits_logs(&self) -> bool {
        self.inner.facets().relay.is_some_and(Relay::emits_logs)
    }

    async fn list_components(
        &self,
        ctx: &Context,
        kind: ComponentKind,
        rewrite: &dyn UriRewrite,
        paging: &PageRequest,
    ) -> Result<Page<Component>> {
        match self.inner.facets().relay {
            Some(inner) => {
                self.with_timeout(inner.list_components(ctx, kind, rewrite, paging)).await
            }
            None => Ok(Page::empty()),
        }
    }

    /// Not limited here: the client times tool calls out by silence, and progress resets that
    /// timer.
    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        match self.inner.facets().relay {
            Some(inner) => inner.call_component(ctx, call).await,
            None => Err(Error::invalid("this source has no tools or prompts")),
        }
    }

    async fn complete_prompt(
        &self,
        ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        match self.inner.facets().relay {
            Some(inner) => self.with_timeout(inner.complete_prompt(ctx, request)).await,
            None => Ok(Completion::default()),
        }
    }
}
