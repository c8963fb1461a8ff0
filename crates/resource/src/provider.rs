//! The provider interface: what a source of resources implements, and its optional facets.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;

use crate::change::{Change, Interest};
use crate::context::Context;
use crate::description::{Resource, Template};
use crate::error::Result;
use crate::health::{Health, HealthStatus};
use crate::page::{Page, PageRequest};
use crate::reading::{ReadRequest, Reading};
use crate::relay::Relay;
use crate::search::Search;
use crate::skill::Skills;
use crate::unknown_members::UnknownMembers;
use crate::uri::Uri;

/// A source of resources: one folder, one repository, one upstream server.
///
/// A provider sees only its own (local) URIs: the catalog strips mount names before the call and
/// adds them to the result. There are no default methods, because a layer that forgot to forward
/// one would silently drop it.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// Lists one page of the members of `parent`, or of the top level, in a fixed order.
    ///
    /// - Unknown parent: `NotFound`. A parent that is not a collection: `Invalid`.
    /// - At most the requested number of items. A page may be empty and still have a next one.
    /// - Pages of any size join without gaps or repeats; one cursor always gives one page.
    /// - Unknown cursor: `Invalid`, or at worst some position in the list.
    /// - Only direct members, never the collection itself.
    /// - Only items that the filter shows. A source that can skip the others unseen does so.
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>>;

    /// Lists one page of the URI templates whose expansions this provider can read, in a fixed
    /// order. Limits and cursors are as in `list`.
    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>>;

    /// Describes `uri` exactly as a listing does, without opening its content.
    ///
    /// - Unknown URI: `NotFound`.
    /// - The description keeps the spelling of `uri`.
    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>>;

    /// Reads the content of `uri`, or what `request` wants of it.
    ///
    /// - Unknown URI: `NotFound`. A whole over the limit: `TooLarge`.
    /// - Another version than the window pins: `Changed`, with the current etag as a fact.
    /// - A window that starts past the end is empty. No window splits a character of a text.
    /// - A collection without content of its own is a result, not an error.
    /// - A format or part that the resource does not have: `Invalid`. Only what is wanted is
    ///   produced.
    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading>;

    /// Returns the optional abilities of this provider; `None` for each that it lacks.
    fn facets(&self) -> Facets<'_>;
}

/// A shared provider is a provider.
#[async_trait]
impl<P: Provider + ?Sized> Provider for Arc<P> {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        (**self).list(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        (**self).templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        (**self).stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        (**self).read(ctx, uri, request).await
    }

    fn facets(&self) -> Facets<'_> {
        (**self).facets()
    }
}

/// Optional abilities. Presence is the declaration, so no separate flag can disagree.
#[derive(Default, Clone, Copy)]
pub struct Facets<'a> {
    /// Reports changes.
    pub watch: Option<&'a dyn Watch>,
    /// Completes template variables.
    pub complete: Option<&'a dyn Complete>,
    /// Reports health.
    pub health: Option<&'a dyn Health>,
    /// Relays tools and prompts.
    pub relay: Option<&'a dyn Relay>,
    /// Lists mounts, and finds the one that a URI belongs to.
    pub mounts: Option<&'a dyn MountLookup>,
    /// Searches content.
    pub search: Option<&'a dyn Search>,
    /// Lists skills.
    pub skills: Option<&'a dyn Skills>,
}

/// Lists the mounts, and finds the one that a URI belongs to.
pub trait MountLookup: Send + Sync {
    /// Returns the name of the mount that `uri` belongs to, whether or not the resource exists.
    fn mount_of(&self, uri: &Uri) -> Option<String>;

    /// The mounts that lists show to the principal, in their order. Fast: it does not block or
    /// contact a source.
    fn mounts(&self, ctx: &Context) -> Vec<MountInfo>;
}

/// A mount, as people and models are told of it.
#[derive(Debug, Clone)]
pub struct MountInfo {
    /// Its name.
    pub name: String,
    /// What it is: `folder`, `documentation`, `server`, `documents`, `configuration` or
    /// `environment`.
    pub kind: &'static str,
    /// The URI of its root, if its resources have a common one.
    pub root: Option<Uri>,
    /// What it holds, in a few words, if someone said so.
    pub description: Option<String>,
    /// The folder on this machine whose paths also name its resources. Never sent to a client.
    pub folder: Option<PathBuf>,
    /// Its health.
    pub health: HealthStatus,
    /// True if access rules keep some of it from some principals. Its resources are not counted
    /// for clients then.
    pub is_restricted: bool,
}

/// Reports changes as a stream.
#[async_trait]
pub trait Watch: Send + Sync {
    /// Opens a stream of the changes that touch `interest`, complete from when this returns.
    /// Dropping the stream ends the watch.
    ///
    /// - An interest in one resource covers that resource, reported under the exact URI given
    ///   here, and, if it is a collection, its direct members.
    /// - Unknown URI: `NotFound`. A resource whose changes are never reported: `Unsupported`.
    /// - A resource that is removed and created again is still reported.
    /// - The source reports a change only once a read returns the new content.
    /// - A stream that is not polled holds each URI at most once. It ends only with its source.
    /// - The stream reports what the principal of `ctx` may see.
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>>;

    /// Whether the changes that touch `interest` are the same for every principal, so that one
    /// stream may serve them all. Does not block or contact the source.
    fn is_shared(&self, interest: &Interest) -> bool;
}

/// Completes template variables.
#[async_trait]
pub trait Complete: Send + Sync {
    /// Whether there may be something to complete for the principal. Does not block or contact the
    /// source.
    fn may_complete(&self, ctx: &Context) -> bool;

    /// Suggests values for a variable, the likeliest first. An unknown template or variable:
    /// `Invalid`.
    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion>;
}

/// A request to complete one variable of a template.
#[derive(Debug, Clone, Copy)]
pub struct CompletionRequest<'a> {
    /// The template, as listed.
    pub template: &'a str,
    /// The variable to complete.
    pub variable: &'a str,
    /// The text typed so far.
    pub typed: &'a str,
    /// The variables that already have a value.
    pub resolved: &'a BTreeMap<String, String>,
}

/// Suggested values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// The likeliest, at most [`Completion::MAX_VALUES`].
    pub values: Vec<String>,
    /// The number of matching values before truncation.
    pub total: usize,
    /// What an upstream server sent along, at the top level and in `_meta`.
    pub extra: UnknownMembers,
}

impl Completion {
    /// The maximum number of values per result, in every revision of the protocol.
    pub const MAX_VALUES: usize = 100;

    /// Keeps the first of `values`, up to the maximum, and counts them all.
    pub fn from_values(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(Self::MAX_VALUES);
        Self { values, total, extra: UnknownMembers::default() }
    }
}
