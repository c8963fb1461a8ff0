//! `skill://index.json`: the index of the skills of all upstream servers, as a resource.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::inbound::shape::skill::encode_skill_index;
use resource::{
    Absence, Context, Error, Facets, Freshness, Page, PageRequest, Provider, ReadRequest, Reading,
    Resource, Result, SKILL_INDEX_URI, Template, Uri,
};

use crate::watchers::etag_of;

/// The maximum number of skills in the index.
const MAX_ENTRIES: usize = 2000;

/// The index of the skills of a provider. Hosts know its URI, so no list shows it.
pub struct SkillIndex {
    uri: Uri,
    source: Arc<dyn Provider>,
}

impl SkillIndex {
    /// The index of the skills of `source`.
    pub fn new(source: Arc<dyn Provider>) -> Result<Self> {
        Ok(Self { uri: Uri::parse(SKILL_INDEX_URI)?, source })
    }

    /// The URI of the index.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The text of the index. A source that fails is named in it.
    async fn encode(&self, ctx: &Context, uri: &Uri) -> Result<(String, Freshness)> {
        if *uri != self.uri {
            return Err(Error::not_found(uri));
        }
        let mut page = match self.source.facets().skills {
            Some(skills) => skills.list_skill_index(ctx, &PageRequest::first(MAX_ENTRIES)).await?,
            None => Page::empty(),
        };
        if page.next.is_some() {
            let reason = format!("the index was cut: it has more than {MAX_ENTRIES} skills");
            page.absent.push(Absence { name: "index".to_owned(), reason });
        }
        let entries = page.items.iter().map(|entry| &**entry);
        Ok((encode_skill_index(entries, &page.absent), page.freshness))
    }

    fn describe(&self, text: &str) -> Resource {
        let mut resource = Resource::new(self.uri.clone(), "index.json");
        resource.description = Some("The skills of all servers".to_owned());
        resource.mime = Some("application/json".to_owned());
        resource.size = Some(text.len() as u64);
        resource.etag = Some(etag_of(text));
        resource
    }
}

#[async_trait]
impl Provider for SkillIndex {
    async fn list(
        &self,
        _: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        match parent {
            Some(uri) if *uri == self.uri => Err(Error::invalid("not a collection").about(uri)),
            Some(uri) => Err(Error::not_found(uri)),
            None if paging.cursor.is_some() => Err(Error::bad_cursor()),
            None => Ok(Page::empty()),
        }
    }

    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if paging.cursor.is_some() { Err(Error::bad_cursor()) } else { Ok(Page::empty()) }
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        let (text, _) = self.encode(ctx, uri).await?;
        Ok(Arc::new(self.describe(&text)))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let (text, freshness) = self.encode(ctx, uri).await?;
        Reading::of_text(self.describe(&text), text, request, freshness)
    }

    fn facets(&self) -> Facets<'_> {
        Facets::default()
    }
}
