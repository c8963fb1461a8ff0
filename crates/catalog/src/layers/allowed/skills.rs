//! Skills of a mount with access rules: without those whose `SKILL.md` is denied, and without the
//! files that are.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Absence, CacheScope, Context, Freshness, Page, PageRequest, Result, Skill, SkillIndexEntry,
    Skills, Uri,
};

use super::pages::fill_page;
use super::{AccessGate, AllowedProvider};
use crate::access::MethodClass;
use crate::skills::inner_skills;

impl AccessGate {
    /// Whether a file of a skill is shown. An entry tells of its content, too.
    fn shows_file(&self, ctx: &Context, uri: &Uri) -> bool {
        [MethodClass::List, MethodClass::Read].iter().all(|class| self.allows(ctx, *class, uri))
    }

    fn retain_files(&self, ctx: &Context, skill: &mut Arc<Skill>) {
        if !skill.uris().all(|uri| self.shows_file(ctx, uri)) {
            Arc::make_mut(skill).retain_files(|uri| self.shows_file(ctx, uri));
        }
    }
}

#[async_trait]
impl Skills for AllowedProvider {
    fn may_list_skills(&self, ctx: &Context) -> bool {
        self.may_reach(ctx, MethodClass::Read)
            && self.inner.facets().skills.is_some_and(|skills| skills.may_list_skills(ctx))
    }

    async fn list_skills(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Skill>> {
        let inner = inner_skills(&self.inner)?;
        if !self.may_reach(ctx, MethodClass::Read) {
            return Ok(Page::empty());
        }
        let fetch =
            move |request: PageRequest| async move { inner.list_skills(ctx, &request).await };
        let shows = |skill: &Skill| self.gate.shows_file(ctx, &skill.uri);
        let told = |gap: &Absence| self.gate.shows_absence(ctx, MethodClass::Read, gap);
        let mut page = fill_page(paging, fetch, |skill| shows(skill), |gap| told(gap)).await?;
        page.items.iter_mut().for_each(|skill| self.gate.retain_files(ctx, skill));
        Ok(page)
    }

    async fn get_skill(&self, ctx: &Context, uri: &Uri) -> Result<(Arc<Skill>, Freshness)> {
        if !self.gate.shows_file(ctx, uri) {
            return Err(Skill::unknown(uri));
        }
        let (mut skill, freshness) = inner_skills(&self.inner)?.get_skill(ctx, uri).await?;
        self.gate.retain_files(ctx, &mut skill);
        Ok((skill, Freshness { scope: CacheScope::Private, ..freshness }))
    }

    async fn list_skill_index(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> Result<Page<SkillIndexEntry>> {
        let inner = inner_skills(&self.inner)?;
        if !self.may_reach(ctx, MethodClass::Read) {
            return Ok(Page::empty());
        }
        let fetch =
            move |request: PageRequest| async move { inner.list_skill_index(ctx, &request).await };
        let shows = |entry: &SkillIndexEntry| match Uri::parse(&entry.url) {
            Ok(uri) => self.gate.shows_file(ctx, &uri),
            Err(_) => self.gate.allows_template(ctx, MethodClass::Read, &entry.url),
        };
        let told = |gap: &Absence| self.gate.shows_absence(ctx, MethodClass::Read, gap);
        fill_page(paging, fetch, |entry| shows(entry), |gap| told(gap)).await
    }
}
