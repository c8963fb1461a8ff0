//! Tools and prompts under hide rules: their results neither link nor embed what is hidden.

use async_trait::async_trait;
use resource::{
    Completion, Component, ComponentCall, ComponentKind, Context, Json, Page, PageRequest,
    PromptCompletionRequest, Relay, Result, TaskCall, Uri, UriRewrite,
};

use super::Ruled;
use crate::components::unknown_component;
use crate::layers::shown_uris::ShownUris;

impl Ruled {
    fn shows_uri(&self, local: &str) -> bool {
        Uri::parse(local).map_or(true, |uri| self.visible_path(&uri).is_ok())
    }

    fn inner_relay(&self, kind: ComponentKind, name: &str) -> Result<&dyn Relay> {
        self.inner.facets().relay.ok_or_else(|| unknown_component(kind, name))
    }
}

#[async_trait]
impl Relay for Ruled {
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
        let Some(inner) = self.inner.facets().relay else { return Ok(Page::empty()) };
        inner.list_components(ctx, kind, rewrite, paging).await
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        let inner = self.inner_relay(call.kind, call.name)?;
        let rewrite = ShownUris { inner: call.uri_rewrite, shows: &|local| self.shows_uri(local) };
        inner.call_component(ctx, &ComponentCall { uri_rewrite: &rewrite, ..*call }).await
    }

    fn has_tasks(&self, ctx: &Context) -> bool {
        self.inner.facets().relay.is_some_and(|relay| relay.has_tasks(ctx))
    }

    async fn call_task(&self, ctx: &Context, call: &TaskCall<'_>) -> Result<Json> {
        let inner = self.inner_relay(ComponentKind::Tool, call.tool)?;
        let rewrite = ShownUris { inner: call.uri_rewrite, shows: &|local| self.shows_uri(local) };
        inner.call_task(ctx, &TaskCall { uri_rewrite: &rewrite, ..*call }).await
    }

    async fn complete_prompt(
        &self,
        ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        let inner = self.inner_relay(ComponentKind::Prompt, request.prompt)?;
        inner.complete_prompt(ctx, request).await
    }
}
