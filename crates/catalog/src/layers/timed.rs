//! Timeout layer: limits the time of every provider call.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use resource::{
    Complete, Completion, CompletionRequest, Component, ComponentCall, ComponentKind, Context,
    Error, Facets, Freshness, Interest, Json, Page, PageRequest, PromptCompletionRequest, Provider,
    ReadRequest, Reading, Relay, Resource, Result, Search, SearchHit, SearchRequest, Skill,
    SkillIndexEntry, Skills, TaskCall, Template, Uri, UriRewrite, Watch,
};
use tokio::time;

use super::Layer;
use crate::changes::{ChangeStream, watch_unsupported};
use crate::search::search_unsupported;
use crate::skills::inner_skills;

/// Limits calls to this time: a call that takes longer is cancelled and fails as `Unavailable`. A
/// stream that has begun is not interrupted.
pub struct Timed(pub Duration);

impl Layer for Timed {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(TimedProvider { inner, limit: self.0 })
    }
}

struct TimedProvider {
    inner: Arc<dyn Provider>,
    limit: Duration,
}

impl TimedProvider {
    async fn with_timeout<T>(&self, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        time::timeout(self.limit, call).await.unwrap_or_else(|_| {
            let limit = self.limit;
            Err(Error::unavailable(format!("no answer from the source within {limit:?}")))
        })
    }
}

#[async_trait]
impl Provider for TimedProvider {
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

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.with_timeout(self.inner.stat(ctx, uri)).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.with_timeout(self.inner.read(ctx, uri, request)).await
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { watch, complete, health, relay, mounts, search, skills } = self.inner.facets();
        Facets {
            watch: watch.map(|_| self as &dyn Watch),
            complete: complete.map(|_| self as &dyn Complete),
            relay: relay.map(|_| self as &dyn Relay),
            search: search.map(|_| self as &dyn Search),
            skills: skills.map(|_| self as &dyn Skills),
            // Neither waits for anything.
            health,
            mounts,
        }
    }
}

#[async_trait]
impl Search for TimedProvider {
    async fn search(&self, ctx: &Context, request: &SearchRequest) -> Result<Page<SearchHit>> {
        match self.inner.facets().search {
            Some(inner) => self.with_timeout(inner.search(ctx, request)).await,
            None => Err(search_unsupported()),
        }
    }
}

#[async_trait]
impl Skills for TimedProvider {
    fn may_list_skills(&self, ctx: &Context) -> bool {
        self.inner.facets().skills.is_some_and(|skills| skills.may_list_skills(ctx))
    }

    async fn list_skills(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Skill>> {
        self.with_timeout(inner_skills(&self.inner)?.list_skills(ctx, paging)).await
    }

    async fn get_skill(&self, ctx: &Context, uri: &Uri) -> Result<(Arc<Skill>, Freshness)> {
        self.with_timeout(inner_skills(&self.inner)?.get_skill(ctx, uri)).await
    }

    async fn list_skill_index(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> Result<Page<SkillIndexEntry>> {
        self.with_timeout(inner_skills(&self.inner)?.list_skill_index(ctx, paging)).await
    }
}

#[async_trait]
impl Complete for TimedProvider {
    fn may_complete(&self, ctx: &Context) -> bool {
        self.inner.facets().complete.is_some_and(|inner| inner.may_complete(ctx))
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        match self.inner.facets().complete {
            Some(inner) => self.with_timeout(inner.complete(ctx, request)).await,
            None => Ok(Completion::default()),
        }
    }
}

#[async_trait]
impl Watch for TimedProvider {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<ChangeStream> {
        match self.inner.facets().watch {
            Some(inner) => self.with_timeout(inner.watch(ctx, interest)).await,
            None => Err(watch_unsupported()),
        }
    }

    fn is_shared(&self, interest: &Interest) -> bool {
        self.inner.facets().watch.is_some_and(|inner| inner.is_shared(interest))
    }
}

#[async_trait]
impl Relay for TimedProvider {
    fn may_have(&self, ctx: &Context, kind: ComponentKind) -> bool {
        self.inner.facets().relay.is_some_and(|relay| relay.may_have(ctx, kind))
    }

    fn emits_logs(&self, ctx: &Context) -> bool {
        self.inner.facets().relay.is_some_and(|relay| relay.emits_logs(ctx))
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

    fn has_tasks(&self, ctx: &Context) -> bool {
        self.inner.facets().relay.is_some_and(|relay| relay.has_tasks(ctx))
    }

    async fn call_task(&self, ctx: &Context, call: &TaskCall<'_>) -> Result<Json> {
        match self.inner.facets().relay {
            Some(inner) => self.with_timeout(inner.call_task(ctx, call)).await,
            None => Err(Error::invalid("this source has no tasks")),
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
