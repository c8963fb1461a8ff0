//! Facets of a masked mount: completions, changes, health, tools and prompts.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use resource::{
    Complete, Completion, CompletionRequest, Component, ComponentCall, ComponentKind, Context,
    Error, Freshness, Health, HealthFact, HealthStatus, Interest, Json, Page, PageRequest,
    PromptCompletionRequest, Relay, Result, Skill, SkillFiles, SkillIndexEntry, Skills, TaskCall,
    Uri, UriRewrite, Watch,
};

use super::caller::masked_context;
use super::{MountMasker, RedactedProvider};
use crate::changes::{ChangeStream, watch_unsupported};
use crate::components::unknown_component;
use crate::skills::inner_skills;

impl MountMasker {
    /// Leaves out values that hold a secret: a masked one could not be used.
    fn mask_completion(&self, mut completion: Completion) -> Completion {
        let found = completion.values.len();
        completion.values.retain(|value| matches!(self.mask_text(value), Cow::Borrowed(_)));
        completion.total = completion.total.saturating_sub(found - completion.values.len());
        self.mask_members(&mut completion.extra);
        completion
    }

    fn mask_fact(&self, fact: &mut HealthFact) {
        match fact {
            HealthFact::Text(text) => self.mask_string(text),
            HealthFact::Group(facts) => facts.iter_mut().for_each(|(_, one)| self.mask_fact(one)),
            HealthFact::Flag(_) | HealthFact::Count(_) | HealthFact::Time(_) => {}
        }
    }
}

#[async_trait]
impl Complete for RedactedProvider {
    fn may_complete(&self, ctx: &Context) -> bool {
        self.inner.facets().complete.is_some_and(|inner| inner.may_complete(ctx))
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        let unknown = || Error::invalid("there is no such template; list the templates");
        let inner = self.inner.facets().complete.ok_or_else(unknown)?;
        let completed = inner.complete(&masked_context(ctx, &self.masker), request).await;
        completed
            .map(|completion| self.masker.mask_completion(completion))
            .map_err(|error| self.masker.mask_error(error))
    }
}

impl RedactedProvider {
    /// Masks an entry. Where a file may be masked, its digest would tell of the secret and would not
    /// fit what is read.
    fn mask_skill(&self, skill: &mut Skill) {
        skill.frontmatter = self.masker.mask_json(&skill.frontmatter);
        self.masker.mask_members(&mut skill.extra);
        if skill.uris().any(|uri| self.masker.syntax_of_uri(uri).is_some()) {
            skill.files = SkillFiles::Dynamic;
        }
    }
}

#[async_trait]
impl Skills for RedactedProvider {
    fn may_list_skills(&self, ctx: &Context) -> bool {
        self.inner.facets().skills.is_some_and(|skills| skills.may_list_skills(ctx))
    }

    async fn list_skills(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Skill>> {
        let ctx = &masked_context(ctx, &self.masker);
        let listed = inner_skills(&self.inner)?.list_skills(ctx, paging).await;
        let mut page = listed.map_err(|error| self.masker.mask_error(error))?;
        page.items.iter_mut().for_each(|skill| self.mask_skill(Arc::make_mut(skill)));
        self.masker.mask_members(&mut page.extra);
        Ok(page)
    }

    async fn get_skill(&self, ctx: &Context, uri: &Uri) -> Result<(Arc<Skill>, Freshness)> {
        let ctx = &masked_context(ctx, &self.masker);
        let found = inner_skills(&self.inner)?.get_skill(ctx, uri).await;
        let (mut skill, freshness) = found.map_err(|error| self.masker.mask_error(error))?;
        self.mask_skill(Arc::make_mut(&mut skill));
        Ok((skill, freshness))
    }

    async fn list_skill_index(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> Result<Page<SkillIndexEntry>> {
        let ctx = &masked_context(ctx, &self.masker);
        let listed = inner_skills(&self.inner)?.list_skill_index(ctx, paging).await;
        let mut page = listed.map_err(|error| self.masker.mask_error(error))?;
        for entry in &mut page.items {
            let entry = Arc::make_mut(entry);
            entry.json = self.masker.mask_json(&entry.json);
        }
        Ok(page)
    }
}

#[async_trait]
impl Watch for RedactedProvider {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<ChangeStream> {
        let inner = self.inner.facets().watch.ok_or_else(watch_unsupported)?;
        let changes = inner.watch(&masked_context(ctx, &self.masker), interest).await;
        let changes = changes.map_err(|error| self.masker.mask_error(error))?;
        let masker = self.masker.clone();
        Ok(Box::pin(changes.map(move |change| {
            let (change, extra) = change.into_parts();
            change.with_extra(extra.map(|mut members| {
                masker.mask_members(Arc::make_mut(&mut members));
                members
            }))
        })))
    }

    fn is_shared(&self, interest: &Interest) -> bool {
        self.inner.facets().watch.is_some_and(|watch| watch.is_shared(interest))
    }
}

impl Health for RedactedProvider {
    fn health(&self, ctx: &Context) -> HealthStatus {
        let health = self.inner.facets().health;
        let mut status = health.map_or_else(HealthStatus::ready, |health| health.health(ctx));
        for words in status.message.iter_mut().chain(&mut status.cause) {
            self.masker.mask_string(words);
        }
        status.facts.iter_mut().for_each(|(_, fact)| self.masker.mask_fact(fact));
        status
    }

    fn is_available(&self, ctx: &Context) -> bool {
        self.inner.facets().health.is_none_or(|health| health.is_available(ctx))
    }
}

impl RedactedProvider {
    /// The relay of the source, for what is of this kind and name.
    fn inner_relay(&self, kind: ComponentKind, name: &str) -> Result<&dyn Relay> {
        self.inner.facets().relay.ok_or_else(|| unknown_component(kind, name))
    }

    fn mask_components(&self, page: Result<Page<Component>>) -> Result<Page<Component>> {
        let mut page = page.map_err(|error| self.masker.mask_error(error))?;
        for item in &mut page.items {
            let masked = self.masker.mask_schema(&item.json);
            if masked != item.json {
                Arc::make_mut(item).json = masked;
            }
        }
        self.masker.mask_members(&mut page.extra);
        Ok(page)
    }

    fn mask_result(&self, result: Result<Json>) -> Result<Json> {
        result
            .map(|json| self.masker.mask_json(&json))
            .map_err(|error| self.masker.mask_error(error))
    }
}

#[async_trait]
impl Relay for RedactedProvider {
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
        let ctx = &masked_context(ctx, &self.masker);
        self.mask_components(inner.list_components(ctx, kind, rewrite, paging).await)
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        let inner = self.inner_relay(call.kind, call.name)?;
        self.mask_result(inner.call_component(&masked_context(ctx, &self.masker), call).await)
    }

    fn has_tasks(&self, ctx: &Context) -> bool {
        self.inner.facets().relay.is_some_and(|relay| relay.has_tasks(ctx))
    }

    async fn call_task(&self, ctx: &Context, call: &TaskCall<'_>) -> Result<Json> {
        let inner = self.inner_relay(ComponentKind::Tool, call.tool)?;
        self.mask_result(inner.call_task(&masked_context(ctx, &self.masker), call).await)
    }

    async fn complete_prompt(
        &self,
        ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        let inner = self.inner_relay(ComponentKind::Prompt, request.prompt)?;
        let completed = inner.complete_prompt(&masked_context(ctx, &self.masker), request).await;
        completed
            .map(|completion| self.masker.mask_completion(completion))
            .map_err(|error| self.masker.mask_error(error))
    }
}
