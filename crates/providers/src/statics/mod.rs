//! Static provider: resources and templates that the settings file declares.
//!
//! It serves the declared URIs unchanged, without a prefix.

mod declared_resource;
mod declared_template;
mod file;
mod options;
mod resource_list;
mod text_template;
mod watch;

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    CacheScope, Complete, Completion, CompletionRequest, Content, Context, Error, Facets,
    Freshness, Page, PageRequest, Provider, ReadRequest, Reading, Resource, Result, Template, Uri,
    UriTemplate,
};

use declared_template::DeclaredTemplates;
pub use options::{
    ContentOrigin, FormatDeclaration, Options, ResourceDeclaration, TemplateDeclaration,
};
use resource_list::DeclaredResources;
use watch::DeclaredFileWatcher;

use crate::file_watch::{DEFAULT_MAX_WATCHES, DEFAULT_POLL_INTERVAL};

/// Provider for declared resources and templates.
///
/// Reading a resource with several formats returns one part per format, the primary first. A
/// window applies to the primary format and returns only that one.
pub struct Statics {
    resources: DeclaredResources,
    templates: DeclaredTemplates,
    freshness: Freshness,
    watcher: Arc<DeclaredFileWatcher>,
}

impl Statics {
    /// Builds the provider. Of several resources with the same URI it keeps the first, likewise
    /// of templates.
    pub fn new(options: Options) -> Self {
        let resources = DeclaredResources::new(options.resources);
        let watcher = Arc::new(DeclaredFileWatcher::new(
            resources.files(),
            DEFAULT_POLL_INTERVAL,
            DEFAULT_MAX_WATCHES,
        ));
        Self {
            resources,
            watcher,
            templates: DeclaredTemplates::new(options.templates),
            freshness: Freshness { ttl: options.ttl, scope: CacheScope::Public },
        }
    }

    /// Number of declared resources, without templates.
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// True if no resource is declared.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All declared URIs and URI templates.
    pub fn declared_uris(&self) -> (Vec<Uri>, Vec<UriTemplate>) {
        (self.resources.uris(), self.templates.uri_templates())
    }

    fn contains(&self, uri: &Uri) -> bool {
        self.resources.find(uri).is_some() || self.templates.expand(uri).is_ok()
    }
}

#[async_trait]
impl Provider for Statics {
    async fn list(
        &self,
        _: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        match parent {
            None => self.resources.list_page(paging, self.freshness).await,
            Some(uri) if self.contains(uri) => Err(Error::invalid("not a collection").about(uri)),
            Some(uri) => Err(Error::not_found(uri)),
        }
    }

    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.templates.list_page(paging, self.freshness)
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        match self.resources.find(uri) {
            Some(item) => item.describe().await,
            None => Ok(Arc::new(self.templates.expand(uri)?.into_resource())),
        }
    }

    async fn read(&self, _: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let read = match self.resources.find(uri) {
            Some(item) => item.read_parts(request).await,
            None => self.templates.expand(uri)?.into_part(&request.window).and_then(|part| {
                let mut parts = vec![part];
                let total = request.select(&mut parts, |part| part.resource.mime.as_deref())?;
                Ok((parts, total))
            }),
        };
        let (parts, total_parts) = read.map_err(|error| error.about(uri))?;
        Ok(Reading { total_parts, ..Reading::new(Content::Parts(parts), self.freshness) })
    }

    fn facets(&self) -> Facets<'_> {
        let completes = self.templates.has_values();
        Facets {
            watch: Some(self),
            complete: completes.then_some(self as _),
            health: self.watcher.has_files().then_some(self as _),
            relay: None,
            mounts: None,
            search: None,
            skills: None,
        }
    }
}

#[async_trait]
impl Complete for Statics {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(&self, _: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        if let Some(completion) = self.templates.complete_variable(request) {
            return completion;
        }
        match Uri::parse(request.template) {
            Ok(uri) if self.contains(&uri) => Ok(Completion::default()),
            _ => Err(Error::invalid("no such template or resource")),
        }
    }
}

#[cfg(test)]
mod tests;
