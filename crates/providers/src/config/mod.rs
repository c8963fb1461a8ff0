//! Configuration provider: files by glob, their keys down to values, and layers merged in order.
//!
//! A file is a resource in its original text and as normalised JSON. Its keys are a tree of
//! collections beside it. Everything is made of masked text: see `document`.

mod complete;
mod describe;
mod diff;
mod document;
mod file_globs;
mod item;
mod layers;
mod list;
mod options;
mod parse;
mod place;
mod read;
mod schema;
mod snapshot;
mod source;
mod tree;
mod watch;

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Complete, Completion, CompletionRequest, Context, Error, Facets, Page, PageRequest, Provider,
    ReadRequest, Reading, Resource, Result, Template, Uri,
};

pub use file_globs::FileGlobs;
pub use options::{ConfigLayer, LayerSource, Options};

use parse::ConfigSyntax;
use place::ConfigPlace;
use source::ConfigSource;
use watch::ConfigWatchers;

/// The syntax by which the text of the file at `path` is masked; `None` if its keys are not read.
pub fn masked_syntax(path: &str) -> Option<redaction::Syntax> {
    ConfigSyntax::of_path(path).map(ConfigSyntax::redaction_syntax)
}

/// Serves the configuration files of one folder.
pub struct ConfigFiles {
    source: Arc<ConfigSource>,
    watchers: ConfigWatchers,
    templates: Vec<Arc<Template>>,
}

impl ConfigFiles {
    /// Builds the provider. It opens no file.
    pub fn new(options: Options) -> Self {
        let source = Arc::new(ConfigSource::new(options));
        let watchers = ConfigWatchers::new(Arc::clone(&source));
        let templates = complete::templates(!source.layers.is_empty());
        Self { source, watchers, templates }
    }

    /// Counts the files.
    pub async fn count(&self, ctx: &Context) -> Result<usize> {
        Ok(self.source.list_files(ctx).await?.len())
    }

    fn watchable(&self) -> Option<bool> {
        Some(self.source.files.facets().watch.is_some())
    }

    /// Makes what is made of files a view of them, where principals may see different files: an index
    /// has what the program sees, and would find for one principal what only another may see.
    fn mark_view(&self, resource: &mut Arc<Resource>) {
        let is_file = |uri| matches!(ConfigPlace::parse(uri), Some((ConfigPlace::File(_), _)));
        if self.source.visibility.is_some() && !is_file(&resource.uri) {
            Arc::make_mut(resource).is_view = true;
        }
    }
}

#[async_trait]
impl Provider for ConfigFiles {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let page = self.list_page(ctx, parent, paging).await;
        let mut page = page.map_err(|error| match parent {
            Some(uri) => error.about(uri),
            None => error,
        })?;
        if self.source.visibility.is_some() {
            page.items.iter_mut().for_each(|item| self.mark_view(item));
        }
        Ok(page)
    }

    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        list::template_page(&self.templates, paging, self.source.freshness)
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        let about = |error: Error| error.about(uri);
        let item = self.find_item(ctx, uri).await.map_err(about)?;
        let described = self.describe_item(&item).map_err(about)?;
        let mut described = describe::spelled(described, uri);
        self.mark_view(&mut described);
        Ok(described)
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let reading = self.read_item(ctx, uri, request).await;
        reading.map_err(|error| error.about(uri))
    }

    fn facets(&self) -> Facets<'_> {
        let files = self.source.files.facets();
        Facets {
            watch: files.watch.is_some().then_some(self),
            complete: Some(self),
            health: files.health,
            relay: None,
            mounts: None,
            search: None,
            skills: None,
        }
    }
}

#[async_trait]
impl Complete for ConfigFiles {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        self.complete_variable(ctx, request).await
    }
}

#[cfg(test)]
mod tests;
