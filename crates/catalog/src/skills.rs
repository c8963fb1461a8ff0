//! Skills of all mounts: merged lists and indexes, public URIs, and routing of single skills.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Context, Error, Freshness, Page, PageRequest, Provider, Result, Skill, SkillIndexEntry, Skills,
    Uri, UriTemplate,
};

use crate::catalog::{Catalog, MountList, find_owner, foreign_uri_error, is_claimed_by_other};
use crate::merge::{self, neutral_page};
use crate::mount::Mount;

/// The skills of the provider in a layer.
pub(crate) fn inner_skills(inner: &Arc<dyn Provider>) -> Result<&dyn Skills> {
    let missing = || Error::invalid("this source has no skills");
    inner.facets().skills.ok_or_else(missing)
}

impl Mount {
    pub(crate) fn skills(&self) -> Option<&dyn Skills> {
        self.provider.facets().skills
    }

    /// Whether a URI of the skill belongs to a mount that takes precedence.
    fn has_foreign_uri(&self, mounts: &MountList, skill: &Skill) -> bool {
        skill.uris().any(|uri| is_claimed_by_other(mounts, self, uri))
    }

    fn publish_skill(&self, skill: &mut Arc<Skill>) -> Result<()> {
        Arc::make_mut(skill).map_uris(|local| self.address.join(local))
    }

    async fn list_public_skills(
        &self,
        ctx: &Context,
        mounts: &MountList,
        paging: PageRequest,
    ) -> Result<Page<Skill>> {
        let Some(skills) = self.skills().filter(|skills| skills.may_list_skills(ctx)) else {
            return Ok(neutral_page());
        };
        let mut page = skills.list_skills(ctx, &paging).await?;
        page.items.retain(|skill| !self.has_foreign_uri(mounts, skill));
        page.items.iter_mut().try_for_each(|skill| self.publish_skill(skill))?;
        Ok(page)
    }

    async fn list_public_index(
        &self,
        ctx: &Context,
        mounts: &MountList,
        paging: PageRequest,
    ) -> Result<Page<SkillIndexEntry>> {
        let Some(skills) = self.skills() else { return Ok(neutral_page()) };
        let mut page = skills.list_skill_index(ctx, &paging).await?;
        page.items.to_mut().retain_mut(|entry| match self.public_url(mounts, &entry.url) {
            Some(public) => {
                Arc::make_mut(entry).url = public;
                true
            }
            None => false,
        });
        for gap in &mut page.absent {
            gap.name = format!("{}/{}", self.name, gap.name);
        }
        Ok(page)
    }

    /// The public form of a URI or template in an index; `None` if no client could read it here.
    fn public_url(&self, mounts: &MountList, url: &str) -> Option<String> {
        if let Ok(uri) = Uri::parse(url) {
            let is_own = !is_claimed_by_other(mounts, self, &uri);
            return is_own
                .then(|| self.address.join(&uri).ok())?
                .map(|uri| uri.as_str().to_owned());
        }
        let public = self.address.join_template(&UriTemplate::parse(url).ok()?).ok()?;
        Some(public.as_str().to_owned())
    }
}

#[async_trait]
impl Skills for Catalog {
    fn may_list_skills(&self, ctx: &Context) -> bool {
        let may =
            |mount: &Arc<Mount>| mount.skills().is_some_and(|skills| skills.may_list_skills(ctx));
        self.mounts_for(ctx).iter().any(may)
    }

    async fn list_skills(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Skill>> {
        let mounts = &self.mounts_for(ctx);
        let asked = mounts.iter().filter(|mount| mount.listed).map(|mount| &**mount);
        let list = |mount, paging| Mount::list_public_skills(mount, ctx, mounts, paging);
        merge::merge_pages(asked, paging, list).await
    }

    async fn get_skill(&self, ctx: &Context, uri: &Uri) -> Result<(Arc<Skill>, Freshness)> {
        let mounts = self.mounts_for(ctx);
        let (mount, local) = find_owner(&mounts, uri).map_err(|_| Skill::unknown(uri))?;
        let skills = mount.skills().ok_or_else(|| Skill::unknown(uri))?;
        let found = skills.get_skill(ctx, &local).await;
        let (mut skill, freshness) = found.map_err(|error| mount.with_public_uri(error, uri))?;
        if mount.has_foreign_uri(&mounts, &skill) {
            return Err(mount.with_mount_name(foreign_uri_error()));
        }
        mount.publish_skill(&mut skill)?;
        Ok((skill, freshness))
    }

    async fn list_skill_index(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> Result<Page<SkillIndexEntry>> {
        let mounts = &self.mounts_for(ctx);
        let asked = mounts.iter().filter(|mount| mount.listed).map(|mount| &**mount);
        let list = |mount, paging| Mount::list_public_index(mount, ctx, mounts, paging);
        merge::merge_pages(asked, paging, list).await
    }
}
