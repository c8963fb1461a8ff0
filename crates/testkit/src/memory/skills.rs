//! Skills of the in-memory provider.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Context, Freshness, Page, PageRequest, Result, Skill, SkillFile, SkillFiles, SkillIndexEntry,
    Skills, UnknownMembers, Uri,
};

use super::responses::page_of;
use super::{FaultPoint, MemoryProvider};

impl MemoryProvider {
    /// Adds a skill at `uri` with these files, each of 7 bytes, its URI in its digest.
    #[must_use]
    pub fn skill(mut self, uri: &str, files: &[&str]) -> Self {
        let parse = |uri: &str| Uri::parse(uri).expect("a test gives valid URIs");
        let file = |uri: &&str| SkillFile {
            uri: parse(uri),
            digest: format!("sha256:{uri}"),
            size: 7,
            extra: UnknownMembers::default(),
        };
        self.skills.push(Skill {
            uri: parse(uri),
            frontmatter: r#"{"name":"a","description":"b"}"#.into(),
            files: SkillFiles::Complete(files.iter().map(file).collect()),
            extra: UnknownMembers::default(),
        });
        self
    }
}

#[async_trait]
impl Skills for MemoryProvider {
    fn may_list_skills(&self, _: &Context) -> bool {
        true
    }

    async fn list_skills(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Skill>> {
        self.apply_fault(ctx, &FaultPoint::Skills).await?;
        page_of(self.skills.iter(), |skill| skill.uri.as_str(), paging)
    }

    async fn get_skill(&self, ctx: &Context, uri: &Uri) -> Result<(Arc<Skill>, Freshness)> {
        self.apply_fault(ctx, &FaultPoint::Skills).await?;
        let skill = self.skills.iter().find(|skill| skill.uri == *uri);
        let skill = skill.ok_or_else(|| Skill::unknown(uri))?;
        Ok((Arc::new(skill.clone()), Freshness::default()))
    }

    async fn list_skill_index(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> Result<Page<SkillIndexEntry>> {
        self.apply_fault(ctx, &FaultPoint::Skills).await?;
        let entry = |skill: &Skill| SkillIndexEntry {
            url: skill.uri.as_str().to_owned(),
            json: format!(r#"{{"name":"a","url":"{}"}}"#, skill.uri).into(),
        };
        let entries: Vec<SkillIndexEntry> = self.skills.iter().map(entry).collect();
        page_of(entries.iter(), |entry| &entry.url, paging)
    }
}
