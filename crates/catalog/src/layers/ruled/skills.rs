//! Skills under hide rules: the hidden files of a skill are not part of it.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Context, Freshness, Page, PageRequest, Result, Skill, SkillIndexEntry, Skills, Uri,
};

use super::Ruled;
use crate::skills::inner_skills;

impl Ruled {
    fn retain_visible(&self, skill: &mut Arc<Skill>) {
        if !skill.uris().all(|uri| self.visible_path(uri).is_ok()) {
            Arc::make_mut(skill).retain_files(|uri| self.visible_path(uri).is_ok());
        }
    }
}

#[async_trait]
impl Skills for Ruled {
    fn may_list_skills(&self, ctx: &Context) -> bool {
        self.inner.facets().skills.is_some_and(|skills| skills.may_list_skills(ctx))
    }

    async fn list_skills(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Skill>> {
        let mut page = inner_skills(&self.inner)?.list_skills(ctx, paging).await?;
        page.items.retain(|skill| self.visible_path(&skill.uri).is_ok());
        page.items.iter_mut().for_each(|skill| self.retain_visible(skill));
        Ok(page)
    }

    async fn get_skill(&self, ctx: &Context, uri: &Uri) -> Result<(Arc<Skill>, Freshness)> {
        self.visible_path(uri).map_err(|_| Skill::unknown(uri))?;
        let (mut skill, freshness) = inner_skills(&self.inner)?.get_skill(ctx, uri).await?;
        self.retain_visible(&mut skill);
        Ok((skill, freshness))
    }

    async fn list_skill_index(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> Result<Page<SkillIndexEntry>> {
        let mut page = inner_skills(&self.inner)?.list_skill_index(ctx, paging).await?;
        let is_visible =
            |url: &str| Uri::parse(url).map_or(true, |uri| self.visible_path(&uri).is_ok());
        page.items.retain(|entry| is_visible(&entry.url));
        Ok(page)
    }
}
