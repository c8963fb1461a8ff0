//! Provider of a mount that is left out: it has nothing, and its health says why.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Context, Error, Facets, Health, HealthState, HealthStatus, Page, PageRequest, Provider,
    ReadRequest, Reading, Resource, Result, Template, Uri,
};

/// A mount without a server.
pub(super) struct LeftOut {
    reason: String,
}

impl LeftOut {
    /// `reason` tells clients why; it names no value and no path.
    pub(super) fn new(reason: &str) -> Self {
        Self { reason: format!("left out: {reason}") }
    }

    fn error(&self) -> Error {
        Error::unavailable(self.reason.clone())
    }
}

#[async_trait]
impl Provider for LeftOut {
    async fn list(&self, _: &Context, _: Option<&Uri>, _: &PageRequest) -> Result<Page<Resource>> {
        Err(self.error())
    }

    async fn templates(&self, _: &Context, _: &PageRequest) -> Result<Page<Template>> {
        Err(self.error())
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        Err(self.error().about(uri))
    }

    async fn read(&self, _: &Context, uri: &Uri, _: &ReadRequest) -> Result<Reading> {
        Err(self.error().about(uri))
    }

    fn facets(&self) -> Facets<'_> {
        Facets { health: Some(self), ..Facets::default() }
    }
}

impl Health for LeftOut {
    fn health(&self, _: &Context) -> HealthStatus {
        HealthStatus::new(HealthState::Failed, Some(self.reason.clone()))
    }

    /// Nothing appears here until the settings change.
    fn is_available(&self, _: &Context) -> bool {
        true
    }
}
