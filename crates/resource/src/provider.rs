//! What must a source of resources be able to do?

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;

use crate::change::{Change, Interest};
use crate::context::Context;
use crate::description::{Resource, Template};
use crate::error::Result;
use crate::health::Health;
use crate::page::{Ask, Page};
use crate::reading::{Reading, Window};
use crate::relay::Relay;
use crate::uri::Uri;

/// A source of resources: one folder, one repository, one server behind us.
///
/// A provider is given only URIs in the form that it names them itself; the catalog takes mount
/// names off before the call and puts them back after. There are no default methods: a layer
/// that forgot to pass one on would drop it in silence.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// One page of what lies in `parent`, or of what a host should show first, in a fixed order.
    async fn list(&self, ctx: &Context, parent: Option<&Uri>, ask: &Ask) -> Result<Page<Resource>>;

    /// One page of the URI templates whose expansions can be read here.
    async fn templates(&self, ctx: &Context, ask: &Ask) -> Result<Page<Template>>;

    /// What a listing would say of `uri`. Opens no content.
    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Resource>;

    /// The content of `uri`, or the `window` of it that is asked for.
    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading>;

    /// What this provider can do beyond that. What it cannot do is absent.
    fn facets(&self) -> Facets<'_>;
}

/// A provider that several hold is a provider.
#[async_trait]
impl<P: Provider + ?Sized> Provider for Arc<P> {
    async fn list(&self, ctx: &Context, parent: Option<&Uri>, ask: &Ask) -> Result<Page<Resource>> {
        (**self).list(ctx, parent, ask).await
    }

    async fn templates(&self, ctx: &Context, ask: &Ask) -> Result<Page<Template>> {
        (**self).templates(ctx, ask).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Resource> {
        (**self).stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        (**self).read(ctx, uri, window).await
    }

    fn facets(&self) -> Facets<'_> {
        (**self).facets()
    }
}

/// Optional abilities. Having the part is declaring it, so no flag can lie.
#[derive(Default, Clone, Copy)]
pub struct Facets<'a> {
    /// Telling of changes.
    pub watch: Option<&'a dyn Watch>,
    /// Completing the variables of templates.
    pub complete: Option<&'a dyn Complete>,
    /// Saying how one is.
    pub health: Option<&'a dyn Health>,
    /// Passing on tools and prompts.
    pub relay: Option<&'a dyn Relay>,
    /// Telling which of several sources something belongs to.
    pub mounts: Option<&'a dyn Mounts>,
}

/// The ability to tell which of several sources something belongs to.
pub trait Mounts: Send + Sync {
    /// The name of the source that has `uri`, or would have it.
    fn of(&self, uri: &Uri) -> Option<String>;
}

/// The ability to tell of changes.
#[async_trait]
pub trait Watch: Send + Sync {
    /// Changes that touch `interest`, from when this returns. Dropping the stream ends it.
    ///
    /// An interest in one resource hears of that resource, under the very URI it was asked by,
    /// and if it is a collection, of what lies directly in it. One that cannot be heard of is
    /// refused: what does not exist as not found, what never tells as unsupported. A resource
    /// that goes and comes back is still heard of.
    ///
    /// A change is told only once whoever reads on hearing of it gets the new content. A stream
    /// that is not polled holds each URI at most once; it ends only with its source.
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>>;
}

/// The ability to complete the variables of templates.
#[async_trait]
pub trait Complete: Send + Sync {
    /// Values that fit the question, the likeliest first.
    async fn complete(&self, ctx: &Context, question: &Question<'_>) -> Result<Completion>;
}

/// What somebody is about to fill in.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The template, as it was listed.
    pub template: &'a str,
    /// Which of its variables.
    pub variable: &'a str,
    /// What has been typed so far.
    pub typed: &'a str,
    /// Variables that are settled already.
    pub settled: &'a BTreeMap<String, String>,
}

/// Values to choose from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// The likeliest, at most [`Completion::MOST`].
    pub values: Vec<String>,
    /// How many there are in all.
    pub total: usize,
}

impl Completion {
    /// How many values one answer may hold, in every revision of the protocol.
    pub const MOST: usize = 100;

    /// The first of `values`, and how many they are.
    pub fn of(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(Self::MOST);
        Self { values, total }
    }
}
