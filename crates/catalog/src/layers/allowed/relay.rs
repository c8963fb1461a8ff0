//! Tools and prompts under access rules: those that are denied are neither listed nor called.

use async_trait::async_trait;
use resource::{
    Completion, Component, ComponentCall, ComponentKind, Context, Json, Page, PageRequest,
    PromptCompletionRequest, Relay, Result, TaskCall, Uri, UriRewrite,
};

use super::pages::fill_page;
use super::{AccessGate, AllowedProvider, class_of};
use crate::access::MethodClass;
use crate::components::unknown_component;

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

#[async_trait]
impl Relay for AllowedProvider {
    fn may_have(&self, ctx: &Context, kind: ComponentKind) -> bool {
        self.may_reach(ctx, class_of(kind))
            && self.inner.facets().relay.is_some_and(|relay| relay.may_have(ctx, kind))
    }

    fn emits_logs(&self, ctx: &Context) -> bool {
        ComponentKind::ALL.into_iter().any(|kind| self.may_reach(ctx, class_of(kind)))
            && self.inner.facets().relay.is_some_and(|relay| relay.emits_logs(ctx))
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
        fill_page(paging, fetch, |one| shows(one)).await
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

    fn has_tasks(&self, ctx: &Context) -> bool {
        self.may_reach(ctx, MethodClass::Tool)
            && self.inner.facets().relay.is_some_and(|relay| relay.has_tasks(ctx))
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
