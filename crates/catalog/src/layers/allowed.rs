//! Access layer: what the rules deny to a principal does not exist for it.

mod completion;
mod skills;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use resource::{
    CacheScope, Change, Complete, Completion, Component, ComponentCall, ComponentKind, Content,
    Context, Error, Facets, Freshness, Interest, Json, Page, PageRequest, PromptCompletionRequest,
    Provider, ReadRequest, Reading, Relay, Resource, Result, Search, SearchHit, SearchRequest,
    Skills, TaskCall, Template, Uri, UriRewrite, UriTemplate, Watch,
};

use super::Layer;
use super::unpacked::member_uri::archive_splits;
use crate::access::{AccessRules, MethodClass, Subject};
use crate::address::Address;
use crate::changes::{ChangeStream, watch_unsupported};
use crate::components::unknown_component;
use crate::search::search_unsupported;

/// The maximum number of calls that fill one page with what a principal may see.
const MAX_CALLS_PER_PAGE: usize = 256;

/// The access rules of a mount, and the address that makes its URIs public.
pub struct Allowed {
    /// The rules.
    pub rules: Arc<AccessRules>,
    /// The mount's address.
    pub address: Arc<Address>,
    /// Whether the mount shows members of archives: who may not have an archive, may not have them.
    pub unpacks: bool,
}

impl Layer for Allowed {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        let (rules, address) = (Arc::clone(&self.rules), Arc::clone(&self.address));
        let gate = AccessGate { rules, address, unpacks: self.unpacks };
        Arc::new(AllowedProvider { inner, gate })
    }
}

struct AllowedProvider {
    inner: Arc<dyn Provider>,
    gate: AccessGate,
}

/// Judges URIs and names of one mount.
#[derive(Clone)]
struct AccessGate {
    rules: Arc<AccessRules>,
    address: Arc<Address>,
    unpacks: bool,
}

impl AccessGate {
    /// Whether the rules allow `uri`, and the archives that it may lie in.
    fn allows(&self, ctx: &Context, class: MethodClass, uri: &Uri) -> bool {
        let mut archives = archive_splits(uri).filter(|split| split.rest.is_some());
        self.allows_alone(ctx, class, uri)
            && (!self.unpacks
                || archives.all(|split| self.allows_alone(ctx, class, &split.archive)))
    }

    fn allows_alone(&self, ctx: &Context, class: MethodClass, uri: &Uri) -> bool {
        let subject = Subject::resource(uri, self.address.to_public(uri.as_str()).as_deref());
        self.rules.allow(ctx.principal(), class, &subject)
    }

    /// Whether a template may expand to something allowed, judged by its text before the first
    /// variable.
    fn allows_template(&self, ctx: &Context, class: MethodClass, template: &str) -> bool {
        let start = template.split('{').next().unwrap_or_default();
        let public = UriTemplate::parse(template).and_then(|one| self.address.join_template(&one));
        let public = public.ok().map(|one| one.as_str().split('{').next().map(str::to_owned));
        let subject = Subject::start(start, public.flatten().as_deref());
        self.rules.may_reach_from(ctx.principal(), class, &subject)
    }

    /// `NotFound` for what is denied.
    fn check(&self, ctx: &Context, class: MethodClass, uri: &Uri) -> Result<()> {
        let allowed = self.allows(ctx, class, uri);
        allowed.then_some(()).ok_or_else(|| Error::not_found(uri))
    }

    fn allows_component(&self, ctx: &Context, kind: ComponentKind, name: &str) -> bool {
        self.rules.allow(ctx.principal(), class_of(kind), &Subject::component(name))
    }
}

/// The rewriting of a result that tells nothing of what is denied.
struct GatedRewrite<'a> {
    inner: &'a dyn UriRewrite,
    gate: &'a AccessGate,
    ctx: &'a Context,
}

impl UriRewrite for GatedRewrite<'_> {
    fn to_public(&self, local: &str) -> Option<String> {
        self.inner.to_public(local)
    }

    fn to_local(&self, public: &str) -> Option<String> {
        self.inner.to_local(public)
    }

    fn shows(&self, local: &str) -> bool {
        Uri::parse(local).is_ok_and(|uri| self.gate.allows(self.ctx, MethodClass::Read, &uri))
            && self.inner.shows(local)
    }
}

fn class_of(kind: ComponentKind) -> MethodClass {
    match kind {
        ComponentKind::Tool => MethodClass::Tool,
        ComponentKind::Prompt => MethodClass::Prompt,
    }
}

impl AllowedProvider {
    /// Fills a page with what `shows` keeps, so that its length tells nothing of the rest. Looks
    /// one item ahead for the same reason: the next page has something to show.
    async fn fill_page<T, F: Future<Output = Result<Page<T>>> + Send>(
        paging: &PageRequest,
        fetch: impl Fn(PageRequest) -> F + Send,
        shows: impl Fn(&T) -> bool + Send,
    ) -> Result<Page<T>> {
        let limit = paging.limit.max(1);
        let mut filled = Page { next: paging.cursor.clone(), ..Page::empty() };
        // What one principal may see is not for the caches of others.
        filled.freshness = Freshness { ttl: Duration::MAX, scope: CacheScope::Private };
        for _ in 0..MAX_CALLS_PER_PAGE {
            let left = limit - filled.items.len();
            let request = PageRequest { limit: left.max(1), ..paging.clone() };
            let page = fetch(PageRequest { cursor: filled.next.clone(), ..request }).await?;
            filled.freshness = filled.freshness.combine(page.freshness);
            filled.extra.absorb(&page.extra);
            let shown = page.items.into_iter().filter(|item| shows(item));
            if left > 0 {
                filled.items.extend(shown);
                filled.absent.extend(page.absent);
            } else if shown.count() > 0 {
                break;
            }
            filled.next = page.next;
            if filled.next.is_none() {
                break;
            }
        }
        Ok(filled)
    }

    /// Whether `principal` may use methods of `class` on anything.
    fn may_reach(&self, ctx: &Context, class: MethodClass) -> bool {
        self.gate.rules.may_reach(ctx.principal(), class)
    }
}

#[async_trait]
impl Provider for AllowedProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        match parent {
            Some(parent) => self.gate.check(ctx, MethodClass::List, parent)?,
            None if !self.may_reach(ctx, MethodClass::List) => return Ok(Page::empty()),
            None => {}
        }
        let fetch =
            move |request: PageRequest| async move { self.inner.list(ctx, parent, &request).await };
        let shows = |item: &Resource| self.gate.allows(ctx, MethodClass::List, &item.uri);
        Self::fill_page(paging, fetch, |item| shows(item)).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if !self.may_reach(ctx, MethodClass::List) {
            return Ok(Page::empty());
        }
        let fetch =
            move |request: PageRequest| async move { self.inner.templates(ctx, &request).await };
        let shows =
            |one: &Template| self.gate.allows_template(ctx, MethodClass::List, one.uri.as_str());
        Self::fill_page(paging, fetch, |one| shows(one)).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.gate.check(ctx, MethodClass::List, uri)?;
        self.inner.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.gate.check(ctx, MethodClass::Read, uri)?;
        let mut reading = self.inner.read(ctx, uri, request).await?;
        reading.freshness.scope = CacheScope::Private;
        if let Content::Parts(parts) = &mut reading.content {
            // The reading of a collection may hold members, each with a URI of its own.
            let found = parts.len();
            parts.retain(|part| self.gate.allows(ctx, MethodClass::Read, &part.resource.uri));
            reading.total_parts -= found - parts.len();
            if parts.is_empty() {
                return Err(Error::not_found(uri));
            }
        }
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { watch, complete, health, relay, mounts, search, skills } = self.inner.facets();
        Facets {
            watch: watch.map(|_| self as &dyn Watch),
            complete: complete.map(|_| self as &dyn Complete),
            relay: relay.map(|_| self as &dyn Relay),
            search: search.map(|_| self as &dyn Search),
            skills: skills.map(|_| self as &dyn Skills),
            // The catalog asks no mount that does not exist for the principal.
            health,
            mounts,
        }
    }
}

#[async_trait]
impl Search for AllowedProvider {
    async fn search(&self, ctx: &Context, request: &SearchRequest) -> Result<Page<SearchHit>> {
        let inner = self.inner.facets().search.ok_or_else(search_unsupported)?;
        if !self.may_reach(ctx, MethodClass::Read) {
            return Ok(Page::empty());
        }
        let paging = PageRequest::new(request.cursor.clone(), request.limit);
        let fetch = move |page: PageRequest| async move {
            let PageRequest { cursor, limit, .. } = page;
            inner.search(ctx, &SearchRequest { cursor, limit, ..request.clone() }).await
        };
        let shows = |hit: &SearchHit| self.gate.allows(ctx, MethodClass::Read, &hit.uri);
        Self::fill_page(&paging, fetch, |hit| shows(hit)).await
    }
}

#[async_trait]
impl Watch for AllowedProvider {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<ChangeStream> {
        let inner = self.inner.facets().watch.ok_or_else(watch_unsupported)?;
        if let Interest::Resource(uri) = &interest {
            self.gate.check(ctx, MethodClass::Watch, uri)?;
        }
        let changes = inner.watch(ctx, interest).await?;
        let (gate, ctx) = (self.gate.clone(), ctx.clone());
        Ok(Box::pin(changes.filter(move |change| {
            let is_seen = match change.without_extra() {
                Change::Updated(uri) | Change::Removed(uri) => {
                    gate.allows(&ctx, MethodClass::Watch, uri)
                }
                Change::Listing | Change::WithExtra(..) => {
                    gate.rules.may_reach(ctx.principal(), MethodClass::List)
                }
                Change::Components(kind) => gate.rules.may_reach(ctx.principal(), class_of(*kind)),
            };
            std::future::ready(is_seen)
        })))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        false
    }
}

#[async_trait]
impl Relay for AllowedProvider {
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
        let Some(inner) = self.inner.facets().relay else { return Ok(Page::empty()) };
        if !self.may_reach(ctx, class_of(kind)) {
            return Ok(Page::empty());
        }
        let fetch = move |request: PageRequest| async move {
            inner.list_components(ctx, kind, rewrite, &request).await
        };
        let shows = |one: &Component| self.gate.allows_component(ctx, kind, &one.name);
        Self::fill_page(paging, fetch, |one| shows(one)).await
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        let unknown = || unknown_component(call.kind, call.name);
        let inner = self.inner.facets().relay.ok_or_else(unknown)?;
        if !self.gate.allows_component(ctx, call.kind, call.name) {
            return Err(unknown());
        }
        let rewrite = GatedRewrite { inner: call.uri_rewrite, gate: &self.gate, ctx };
        inner.call_component(ctx, &ComponentCall { uri_rewrite: &rewrite, ..*call }).await
    }

    fn has_tasks(&self) -> bool {
        self.inner.facets().relay.is_some_and(Relay::has_tasks)
    }

    async fn call_task(&self, ctx: &Context, call: &TaskCall<'_>) -> Result<Json> {
        let unknown = || unknown_component(ComponentKind::Tool, call.tool);
        let inner = self.inner.facets().relay.ok_or_else(unknown)?;
        if !self.gate.allows_component(ctx, ComponentKind::Tool, call.tool) {
            return Err(unknown());
        }
        let rewrite = GatedRewrite { inner: call.uri_rewrite, gate: &self.gate, ctx };
        inner.call_task(ctx, &TaskCall { uri_rewrite: &rewrite, ..*call }).await
    }

    async fn complete_prompt(
        &self,
        ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        let unknown = || unknown_component(ComponentKind::Prompt, request.prompt);
        let inner = self.inner.facets().relay.ok_or_else(unknown)?;
        if !self.gate.allows_component(ctx, ComponentKind::Prompt, request.prompt) {
            return Err(unknown());
        }
        inner.complete_prompt(ctx, request).await
    }
}
