//! Timeout layer: limits the time of every provider call.

use std::time::Duration;

use async_trait::async_trait;
use resource::{
    Ask, Blank, Calling, Complete, Completion, Context, Error, Facets, Interest, Json, Names,
    Offer, Offered, Page, Provider, Question, Reading, Relay, Resource, Result, Template, Uri,
    Watch, Window,
};
use tokio::time;

use crate::changes::{Changes, silent};

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

    async fn within<T>(&self, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        time::timeout(self.limit, call).await.unwrap_or_else(|_| {
            let limit = self.limit;
            Err(Error::unavailable(format!("no answer from the source within {limit:?}")))
        })
    }
}

#[async_trait]
impl<P: Provider> Provider for Timed<P> {
    async fn list(&self, ctx: &Context, parent: Option<&Uri>, ask: &Ask) -> Result<Page<Resource>> {
        self.within(self.inner.list(ctx, parent, ask)).await
    }

    async fn templates(&self, ctx: &Context, ask: &Ask) -> Result<Page<Template>> {
        self.within(self.inner.templates(ctx, ask)).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Resource> {
        self.within(self.inner.stat(ctx, uri)).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        self.within(self.inner.read(ctx, uri, window)).await
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
    async fn complete(&self, ctx: &Context, question: &Question<'_>) -> Result<Completion> {
        match self.inner.facets().complete {
            Some(inner) => self.within(inner.complete(ctx, question)).await,
            None => Ok(Completion::default()),
        }
    }
}

#[async_trait]
impl<P: Provider> Watch for Timed<P> {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<Changes> {
        match self.inner.facets().watch {
            Some(inner) => self.within(inner.watch(ctx, interest)).await,
            None => Err(silent()),
        }
    }
}

#[async_trait]
impl<P: Provider> Relay for Timed<P> {
    fn has(&self, offer: Offer) -> bool {
        self.inner.facets().relay.is_some_and(|relay| relay.has(offer))
    }

    fn logs(&self) -> bool {
        self.inner.facets().relay.is_some_and(Relay::logs)
    }

    async fn offers(
        &self,
        ctx: &Context,
        offer: Offer,
        names: &dyn Names,
        ask: &Ask,
    ) -> Result<Page<Offered>> {
        match self.inner.facets().relay {
            Some(inner) => self.within(inner.offers(ctx, offer, names, ask)).await,
            None => Ok(Page::empty()),
        }
    }

    /// Not limited here: the client times tool calls out by silence, and progress resets that
    /// timer.
    async fn call(&self, ctx: &Context, calling: &Calling<'_>) -> Result<Json> {
        match self.inner.facets().relay {
            Some(inner) => inner.call(ctx, calling).await,
            None => Err(Error::invalid("this source has no tools or prompts")),
        }
    }

    async fn suggest(&self, ctx: &Context, blank: &Blank<'_>) -> Result<Completion> {
        match self.inner.facets().relay {
            Some(inner) => self.within(inner.suggest(ctx, blank)).await,
            None => Ok(Completion::default()),
        }
    }
}
