//! Skills of the server: its list, single skills, and its index.

use std::sync::Arc;

use async_trait::async_trait;
use client::{decode_skill_index, derive_index_entry, with_trace};
use machinery::RequiredFreshness;
use resource::{
    Absence, Context, Error, ErrorKind, Freshness, Items, Page, PageRequest, Result,
    SKILL_INDEX_URI, Skill, SkillFiles, SkillIndexEntry, Skills, Uri,
};

use super::error_mapping::public_error;
use super::page_cache::{ListFailure, UpstreamListEntry, UpstreamPageKey};
use super::{Inner, Upstream};

impl UpstreamListEntry for Skill {
    fn key(&self) -> &str {
        self.uri.as_str()
    }

    fn weight(&self) -> usize {
        let files = match &self.files {
            SkillFiles::Complete(files) => files.as_slice(),
            SkillFiles::Dynamic => &[],
        };
        let files = files.iter().map(|file| {
            200 + file.uri.as_str().len() + file.digest.len() + file.extra.approximate_bytes()
        });
        let own = 2 * self.uri.as_str().len() + self.frontmatter.as_str().len();
        400 + own + files.sum::<usize>() + self.extra.approximate_bytes()
    }
}

impl Inner {
    async fn skill_list(self: &Arc<Self>, paging: &PageRequest) -> Result<Page<Skill>> {
        if !self.capabilities().await.map_err(public_error)?.has_skills {
            return Ok(Page::empty());
        }
        let ask_page = |(_, cursor): UpstreamPageKey| {
            let inner = Arc::clone(self);
            async move {
                let listed = inner.client.skills(cursor.as_deref()).await?;
                inner.failure_log.record_success();
                inner.flaw_log.record(&listed);
                Ok(listed)
            }
        };
        let scope = client::ListScope::All;
        let page = self.skill_pages.list_page(&scope, paging, ask_page).await;
        page.or_else(ListFailure::or_empty)
    }

    async fn skill_at(&self, uri: &Uri) -> Result<(Arc<Skill>, Freshness)> {
        if !self.capabilities().await.map_err(public_error)?.has_skills {
            return Err(Skill::unknown(uri));
        }
        let (skill, freshness) = self.client.skill(uri).await.map_err(|failure| {
            let is_unknown = failure.is_invalid_params()
                || failure.is_resource_not_found()
                || failure.is_method_not_found();
            match is_unknown {
                true => Skill::unknown(uri).caused_by(failure),
                false => public_error(failure).about(uri),
            }
        })?;
        if skill.uri != *uri {
            let message = "the server behind this mount returned another skill";
            return Err(Error::unavailable(message).about(uri));
        }
        Ok((Arc::new(skill), freshness))
    }

    /// The entries of the server's index; `None` if it has none.
    async fn own_index(
        self: &Arc<Self>,
        paging: &PageRequest,
    ) -> Result<Option<Page<SkillIndexEntry>>> {
        let abilities = self.capabilities().await.map_err(public_error)?;
        if !abilities.has_resources && !abilities.has_skills {
            return Ok(None);
        }
        let uri = Uri::parse(SKILL_INDEX_URI)?;
        let content = match self.read_cached(&uri, RequiredFreshness::Fresh).await {
            Ok(content) => content,
            Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Invalid) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let text = content.parts.first().and_then(|part| std::str::from_utf8(&part.bytes).ok());
        let Some((entries, has_more)) =
            text.and_then(|text| decode_skill_index(text, paging.limit))
        else {
            // Some servers answer every URI with a text.
            return Ok(None);
        };
        let items: Items<_> = entries.into_iter().map(Arc::new).collect();
        let absent = has_more.then(cut_index).into_iter().collect();
        Ok(Some(Page { absent, ..Page::from_items(items, content.freshness) }))
    }
}

fn cut_index() -> Absence {
    let reason = "the index of the server behind this mount was cut: it is too long".to_owned();
    Absence { name: "index".to_owned(), reason }
}

#[async_trait]
impl Skills for Upstream {
    fn may_list_skills(&self, _: &Context) -> bool {
        // Unknown until it connects.
        self.inner.known_capabilities().is_none_or(|known| known.has_skills)
    }

    async fn list_skills(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Skill>> {
        self.inner.start_listener();
        let (inner, starting) = (self.view(ctx), &self.inner.starting);
        let listed = with_trace(ctx, starting.limit_wait(inner.skill_list(paging))).await;
        listed.inspect_err(|error| self.record_error(error))
    }

    async fn get_skill(&self, ctx: &Context, uri: &Uri) -> Result<(Arc<Skill>, Freshness)> {
        self.inner.start_listener();
        let found = with_trace(ctx, self.view(ctx).skill_at(uri)).await;
        found.inspect_err(|error| self.record_error(error))
    }

    async fn list_skill_index(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> Result<Page<SkillIndexEntry>> {
        if paging.cursor.is_some() {
            return Err(Error::bad_cursor());
        }
        self.inner.start_listener();
        let (inner, starting) = (self.view(ctx), &self.inner.starting);
        let own = with_trace(ctx, starting.limit_wait(inner.own_index(paging))).await;
        if let Some(page) = own.inspect_err(|error| self.record_error(error))? {
            return Ok(page);
        }
        let listed = self.list_skills(ctx, paging).await?;
        let derived = listed.items.iter().map(|skill| Arc::new(derive_index_entry(skill)));
        let items: Items<_> = derived.collect();
        let mut absent = listed.absent;
        absent.extend(listed.next.is_some().then(cut_index));
        Ok(Page { absent, ..Page::from_items(items, listed.freshness) })
    }
}
