//! Static provider: resources and templates that the settings file declares.
//!
//! It serves the declared URIs unchanged, without a prefix.

mod file;
mod fill;
mod item;
mod options;
mod pattern;
mod shelf;
mod watch;
mod window;

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Ask, Complete, Completion, Content, Context, Error, Facets, Freshness, Page, Provider,
    Question, Reading, Resource, Result, Scope, Template, Uri, UriTemplate, Window,
};

pub use options::{Entry, Form, Options, Origin, Pattern};
use pattern::Patterns;
use shelf::Shelf;
use watch::Station;

use crate::vigil::{POLL, WATCHES};

/// Provider for declared resources and templates.
///
/// Reading a resource with several formats returns one part per format, the primary first. A
/// window applies to the primary format and returns only that one.
pub struct Statics {
    shelf: Shelf,
    patterns: Patterns,
    freshness: Freshness,
    station: Arc<Station>,
}

impl Statics {
    /// Builds the provider. Of several resources with the same URI it keeps the first, likewise
    /// of templates.
    pub fn new(options: Options) -> Self {
        let shelf = Shelf::new(options.resources);
        let station = Arc::new(Station::new(shelf.files(), POLL, WATCHES));
        Self {
            shelf,
            station,
            patterns: Patterns::new(options.templates),
            freshness: Freshness { ttl: options.ttl, scope: Scope::Public },
        }
    }

    /// Number of declared resources, without templates.
    pub fn len(&self) -> usize {
        self.shelf.len()
    }

    /// True if no resource is declared.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All declared URIs and URI templates.
    pub fn claims(&self) -> (Vec<Uri>, Vec<UriTemplate>) {
        (self.shelf.claims(), self.patterns.claims())
    }

    fn has(&self, uri: &Uri) -> bool {
        self.shelf.find(uri).is_some() || self.patterns.find(uri).is_some()
    }
}

#[async_trait]
impl Provider for Statics {
    async fn list(&self, _: &Context, parent: Option<&Uri>, ask: &Ask) -> Result<Page<Resource>> {
        match parent {
            None => self.shelf.page(ask, self.freshness).await,
            Some(uri) if self.has(uri) => Err(Error::invalid("not a collection").about(uri)),
            Some(uri) => Err(Error::not_found(uri)),
        }
    }

    async fn templates(&self, _: &Context, ask: &Ask) -> Result<Page<Template>> {
        self.patterns.page(ask, self.freshness)
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Resource> {
        match self.shelf.find(uri) {
            Some(item) => Ok(item.describe().await?.as_ref().clone()),
            None => Ok(self.patterns.find(uri).ok_or_else(|| Error::not_found(uri))?.describe()),
        }
    }

    async fn read(&self, _: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        let parts = match self.shelf.find(uri) {
            Some(item) => item.read(window).await,
            None => self
                .patterns
                .find(uri)
                .ok_or_else(|| Error::not_found(uri))?
                .read(window)
                .map(|part| vec![part]),
        };
        let parts = parts.map_err(|error| error.about(uri))?;
        Ok(Reading { content: Content::Parts(parts), freshness: self.freshness })
    }

    fn facets(&self) -> Facets<'_> {
        let completes = self.patterns.have_values();
        let watches = self.station.has_files();
        Facets {
            watch: watches.then_some(self as _),
            complete: completes.then_some(self as _),
            health: watches.then_some(self as _),
            relay: None,
            mounts: None,
        }
    }
}

#[async_trait]
impl Complete for Statics {
    async fn complete(&self, _: &Context, question: &Question<'_>) -> Result<Completion> {
        if let Some(completion) = self.patterns.complete(question) {
            return completion;
        }
        match Uri::parse(question.template) {
            Ok(uri) if self.has(&uri) => Ok(Completion::default()),
            _ => Err(Error::invalid("no such template or resource")),
        }
    }
}

#[cfg(test)]
mod tests;
