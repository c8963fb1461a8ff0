//! Tools and prompts under access rules: those that are denied are neither listed nor called.

use async_trait::async_trait;
use resource::{
    Absence, Completion, Component, ComponentCall, ComponentKind, Context, Json, Page, PageRequest,
    PromptCompletionRequest, Relay, Result, TaskCall, Uri, UriRewrite,
};

use super::pages::fill_page;
use super::{AccessGate, AllowedProvider, class_of};
use crate::access::MethodClass;
use crate::components::unknown_component;
use crate::layers::shown_uris::ShownUris;

impl AccessGate {
    /// Whether a result may link or embed the local URI.
    fn shows_uri(&self, ctx: &Context, local: &str) -> bool {
        Uri::parse(local).is_ok_and(|uri| self.allows(ctx, MethodClass::Read, &uri))
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
        let told = |gap: &Absence| self.gate.shows_absence(ctx, class_of(kind), gap);
        fill_page(paging, fetch, |one| shows(one), |gap| told(gap)).await
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        let unknown = || unknown_component(call.kind, call.name);
        let inner = self.inner.facets().relay.ok_or_else(unknown)?;
        if !self.gate.allows_component(ctx, call.kind, call.name) {
            return Err(unknown());
        }
        let shows = |local: &str| self.gate.shows_uri(ctx, local);
        let rewrite = ShownUris { inner: call.uri_rewrite, shows: &shows };
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
        let shows = |local: &str| self.gate.shows_uri(ctx, local);
        let rewrite = ShownUris { inner: call.uri_rewrite, shows: &shows };
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
