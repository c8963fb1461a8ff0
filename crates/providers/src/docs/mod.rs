//! Documentation provider: a folder as pages with languages, priorities, sections and an order.
//!
//! It wraps the provider of the files, which reads, confines and watches them. A page is its file
//! under its own URI, described by its first bytes; `docs:///<language>/<page>` names a page by
//! language. Everything that shows a page once more is a view, so that walks do not see it twice.

mod complete;
mod data_value;
mod describe;
mod docs_source;
mod docusaurus;
mod find;
mod front_matter;
mod head;
mod judgement;
mod language;
mod list;
mod llms;
mod manual;
mod members;
mod navigation;
mod openapi;
mod options;
mod page_faults;
mod page_path;
mod page_text;
mod place;
mod section_scan;
mod translations;
mod watch;

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    CacheScope, Complete, Completion, CompletionRequest, Context, Facets, Health, HealthStatus,
    Page, PageRequest, Provider, ReadRequest, Reading, Resource, Result, Template, Uri,
};

pub use language::LanguageTag;
pub use options::Options;

use describe::KeptDescriptions;
use docs_source::DocsSource;
use llms::LlmsTexts;
use navigation::NavigationCache;
use openapi::OperationCache;
use page_faults::add_faults;
use page_text::PageTexts;

/// Serves one tree of documentation.
pub struct Documentation {
    source: Arc<DocsSource>,
    texts: PageTexts,
    operations: OperationCache,
    navigation: NavigationCache,
    llms: LlmsTexts,
    kept: KeptDescriptions,
    /// The root of the files.
    root: Uri,
}

impl Documentation {
    /// Builds the provider. It opens no file.
    pub fn new(options: Options) -> Result<Self> {
        let source = Arc::new(DocsSource::new(options));
        let (texts, operations) = (PageTexts::default(), OperationCache::default());
        let (kept, root) = (KeptDescriptions::default(), Uri::parse("file:///")?);
        let (navigation, llms) = (NavigationCache::default(), LlmsTexts::default());
        Ok(Self { source, texts, operations, navigation, llms, kept, root })
    }
}

#[async_trait]
impl Provider for Documentation {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.list_page(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.list_templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        if let Some(made) = self.made_page(ctx, uri).await {
            return Ok(self.kept.unify(None, made));
        }
        let found = self.find(ctx, uri).await.map_err(|error| error.about(uri))?;
        Ok(self.kept.unify(self.source.kept_for(ctx), found.described))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let reading = self.read_found(ctx, uri, request).await;
        reading.map_err(|error| error.about(uri))
    }

    fn facets(&self) -> Facets<'_> {
        let files = self.source.files().facets();
        Facets {
            watch: files.watch.is_some().then_some(self),
            complete: Some(self),
            health: Some(self),
            relay: None,
            mounts: None,
            search: None,
            skills: None,
        }
    }
}

impl Documentation {
    async fn read_found(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        if let Some(made) = self.made_page(ctx, uri).await {
            return self.read_made(ctx, made, request).await;
        }
        let mut found = self.find(ctx, uri).await?;
        let is_by_language = found.is_by_language;
        let mut reading = match found.member.take() {
            Some(member) => self.read_member(ctx, found, member, request).await?,
            None => {
                let page = (&*found.file, found.known.as_ref());
                self.texts.read_page((ctx, &self.source), page, found.described, request).await?
            }
        };
        if is_by_language {
            // Which language it is depends on who asks.
            reading.freshness.scope = CacheScope::Private;
        }
        Ok(reading)
    }
}

#[async_trait]
impl Complete for Documentation {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        self.complete_variable(ctx, request).await
    }
}

impl Health for Documentation {
    fn health(&self, ctx: &Context) -> HealthStatus {
        let files = self.source.files().facets().health;
        let health = files.map_or_else(HealthStatus::ready, |files| files.health(ctx));
        let mut seen = self.source.faults.seen(|page| self.source.may_see(ctx, page));
        seen.extend(self.navigation.faults(ctx, &self.source).iter().cloned());
        seen.sort();
        add_faults(health, &seen, |uri| self.source.public(uri))
    }

    fn is_available(&self, ctx: &Context) -> bool {
        let files = self.source.files().facets().health;
        files.is_none_or(|files| files.is_available(ctx))
    }
}

#[cfg(test)]
mod tests;
