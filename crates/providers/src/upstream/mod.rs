//! Upstream provider: a proxy for another MCP server, with caching and capability emulation.
//!
//! URIs here are the server's own, and its descriptions pass through unchanged, members that
//! refdesk does not know included.

mod capabilities;
mod complete;
mod cursor;
mod error_mapping;
mod flaw_log;
mod full_listing;
mod health;
mod options;
mod page_cache;
mod poll;
mod read;
mod relay;
mod search;
mod shared_subscription;
mod skills;
mod starting;
mod stat;
mod watch;

use std::ops::Deref;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use client::{
    Client, ConnectionStatus, DecodedPage, Error as Failure, ListScope, RemoteCapabilities,
    RemoteServer, State, with_trace,
};
use machinery::{Cache, CacheBounds, RequiredFreshness, SingleFlight};
use parking_lot::Mutex;
use resource::{
    Context, Error, Facets, Freshness, Page, PageRequest, Principal, Provider, ReadRequest,
    Reading, Resource, Result, Skill, Template, Uri,
};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use error_mapping::public_error;
use flaw_log::FlawLog;
use full_listing::FullListing;
use health::{FailureLog, WallClockTimes};
pub use options::{Options, UpstreamSearch};
use page_cache::{ListFailure, UpstreamPage, UpstreamPageKey, UpstreamPages};
use read::{UpstreamContent, UpstreamReadOutcome};
use relay::UpstreamRelay;
use shared_subscription::SharedSubscriptions;
use starting::StartingServer;
use watch::ChangeSubscribers;

/// Bounds of the read cache; the weight is in bytes.
const READ_CACHE_BOUNDS: CacheBounds =
    CacheBounds { entries: 512, ..CacheBounds::weight(64 << 20) };
/// Bounds of the description cache, and of the full listing.
const DESCRIPTION_CACHE_BOUNDS: CacheBounds =
    CacheBounds { entries: 4_096, ..CacheBounds::weight(128 << 20) };
/// How many polled resources are read at the same time.
const MAX_CONCURRENT_POLLS: usize = 4;
/// How many principals besides the local one have a cache.
const MAX_VIEWS: usize = 64;

/// Another MCP server as a provider.
///
/// It connects on first use. From then on it knows the server's capabilities, and remembers them
/// while the server is disconnected.
pub struct Upstream {
    /// The view of the local principal.
    inner: Arc<Inner>,
    /// The views of other principals, by key.
    views: Cache<Arc<str>, Arc<Inner>>,
}

/// What all principals share: the connection, its credential, and the subscriptions.
struct UpstreamShared {
    client: Client,
    starting: StartingServer,
    relay: UpstreamRelay,
    listing_ttl: Duration,
    poll_interval: Option<Duration>,
    reads_to_describe: bool,
    search: Option<UpstreamSearch>,
    connection_status: tokio::sync::watch::Receiver<ConnectionStatus>,
    last_server: Mutex<Option<Arc<RemoteServer>>>,
    subscribers: ChangeSubscribers,
    subscriptions: SharedSubscriptions,
    listen_task: OnceLock<AbortHandle>,
    poll_permits: Semaphore,
    failure_log: FailureLog,
    wall_clock_times: WallClockTimes,
    flaw_log: Arc<FlawLog>,
    /// The views whose caches a change invalidates.
    views: Mutex<Vec<Weak<Inner>>>,
}

/// One principal's view of the server: its cached responses. A response with scope `private` never
/// reaches another principal, since no two share a cache or a request (K-03).
struct Inner {
    shared: Arc<UpstreamShared>,
    resource_pages: Arc<UpstreamPages<Resource>>,
    template_pages: Arc<UpstreamPages<Template>>,
    skill_pages: Arc<UpstreamPages<Skill>>,
    full_listing_cache: Cache<(), Arc<FullListing>>,
    full_listing_flight: SingleFlight<(), Result<Arc<FullListing>, Failure>>,
    metadata_cache: Cache<Uri, Arc<Resource>>,
    metadata_flight: SingleFlight<Uri, Result<Arc<Resource>, Failure>>,
    read_cache: Cache<Uri, Arc<UpstreamContent>>,
    read_flight: SingleFlight<Uri, Result<UpstreamReadOutcome, Failure>>,
}

impl Deref for Inner {
    type Target = UpstreamShared;

    fn deref(&self) -> &UpstreamShared {
        &self.shared
    }
}

impl Upstream {
    /// A provider that is not connected yet.
    pub fn new(options: Options) -> Self {
        let Options {
            client,
            log_name,
            listing_ttl: listing,
            poll_interval: poll,
            start_wait,
            reads_to_describe,
            search,
        } = options;
        let standing = client.status();
        let flaw_log = Arc::new(FlawLog::new(log_name));
        let starting = StartingServer { client: client.clone(), wait: start_wait };
        let relayed = UpstreamRelay::new(starting.clone(), Arc::clone(&flaw_log));
        let shared = UpstreamShared {
            client,
            starting,
            relay: relayed,
            listing_ttl: listing,
            poll_interval: poll,
            reads_to_describe,
            search,
            connection_status: standing,
            last_server: Mutex::default(),
            subscribers: ChangeSubscribers::default(),
            subscriptions: SharedSubscriptions::default(),
            listen_task: OnceLock::new(),
            poll_permits: Semaphore::new(MAX_CONCURRENT_POLLS),
            failure_log: FailureLog::default(),
            wall_clock_times: WallClockTimes::default(),
            flaw_log,
            views: Mutex::default(),
        };
        let views = Cache::new(CacheBounds::entries(MAX_VIEWS));
        Self { inner: Inner::new(Arc::new(shared)), views }
    }

    /// The view of the principal that asks.
    fn view(&self, ctx: &Context) -> Arc<Inner> {
        let key = ctx.principal().key();
        if key == Principal::local().key() {
            return Arc::clone(&self.inner);
        }
        self.views.get(key).unwrap_or_else(|| {
            let view = Inner::new(Arc::clone(&self.inner.shared));
            self.views.insert(Arc::clone(key), Arc::clone(&view), 1);
            view
        })
    }

    /// Connects to the server, so that its capabilities are known.
    pub async fn connect(&self) -> Result<()> {
        self.inner.start_listener();
        self.inner.capabilities().await.map(drop).map_err(public_error)
    }

    /// Closes the connection: ends the HTTP session, or the child process.
    pub async fn close(&self) {
        self.inner.client.close().await;
    }
}

impl Drop for UpstreamShared {
    fn drop(&mut self) {
        if let Some(task) = self.listen_task.get() {
            task.abort();
        }
    }
}

impl Inner {
    /// A view with empty caches.
    fn new(shared: Arc<UpstreamShared>) -> Arc<Self> {
        let flaw_log = &Arc::clone(&shared.flaw_log);
        let view = Arc::new(Self {
            shared,
            resource_pages: UpstreamPages::new(flaw_log),
            template_pages: UpstreamPages::new(flaw_log),
            skill_pages: UpstreamPages::new(flaw_log),
            full_listing_cache: Cache::new(DESCRIPTION_CACHE_BOUNDS),
            full_listing_flight: SingleFlight::default(),
            metadata_cache: Cache::new(DESCRIPTION_CACHE_BOUNDS),
            metadata_flight: SingleFlight::default(),
            read_cache: Cache::new(READ_CACHE_BOUNDS),
            read_flight: SingleFlight::default(),
        });
        let mut views = view.views.lock();
        views.retain(|view| view.strong_count() > 0);
        views.push(Arc::downgrade(&view));
        drop(views);
        view
    }

    /// The last known capabilities; `None` if the server never connected.
    fn known_capabilities(&self) -> Option<RemoteCapabilities> {
        self.known_server().map(|server| server.capabilities)
    }

    /// The server's last introduction; `None` if the server never connected.
    fn known_server(&self) -> Option<Arc<RemoteServer>> {
        let mut known = self.last_server.lock();
        if let State::Ready(server) = &self.connection_status.borrow().state {
            *known = Some(Arc::clone(server));
        }
        known.clone()
    }

    /// The last known capabilities, or none if the server never connected.
    fn capabilities_or_none(&self) -> RemoteCapabilities {
        self.known_capabilities().unwrap_or_default()
    }

    /// The server's capabilities. Connects if they are not known yet.
    async fn capabilities(&self) -> Result<RemoteCapabilities, Failure> {
        match self.known_capabilities() {
            Some(abilities) => Ok(abilities),
            None => Ok(self.client.peer().await?.capabilities),
        }
    }

    fn apply_capabilities(&self, resource: &mut Resource) {
        let abilities = self.capabilities_or_none();
        capabilities::apply(abilities, resource, self.poll_interval.is_some());
    }

    /// Requests one page of resources from the server.
    fn fetch_page(
        self: &Arc<Self>,
        (list, cursor): UpstreamPageKey,
    ) -> impl Future<Output = Result<DecodedPage<Resource>, Failure>> + Send + 'static {
        let inner = Arc::clone(self);
        async move {
            let mut listed = inner.client.list(&list, cursor.as_deref()).await?;
            inner.failure_log.record_success();
            inner.flaw_log.record(&listed);
            listed.items.iter_mut().for_each(|resource| inner.apply_capabilities(resource));
            Ok(listed)
        }
    }

    /// One page as the server cuts its list, from the cache or from the server.
    async fn upstream_page(
        self: &Arc<Self>,
        list: ListScope,
        cursor: Option<String>,
    ) -> Result<(Arc<UpstreamPage<Resource>>, Freshness), Failure> {
        self.resource_pages
            .cached_page((list, cursor), RequiredFreshness::Fresh, |key| self.fetch_page(key))
            .await
    }

    async fn list_resources(self: &Arc<Self>, paging: &PageRequest) -> Result<Page<Resource>> {
        let page = self
            .resource_pages
            .list_page(&ListScope::All, paging, |key| self.fetch_page(key))
            .await;
        page.or_else(ListFailure::or_empty)
    }

    async fn list_templates(self: &Arc<Self>, paging: &PageRequest) -> Result<Page<Template>> {
        let ask_page = |(_, cursor): UpstreamPageKey| {
            let inner = Arc::clone(self);
            async move {
                let listed = inner.client.templates(cursor.as_deref()).await?;
                inner.failure_log.record_success();
                inner.flaw_log.record(&listed);
                Ok(listed)
            }
        };
        self.template_pages
            .list_page(&ListScope::All, paging, ask_page)
            .await
            .or_else(ListFailure::or_empty)
    }

    /// One page of the children of `parent`.
    async fn list_children(
        self: &Arc<Self>,
        parent: &Uri,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let abilities = self.capabilities().await.map_err(public_error)?;
        let Some(list) = abilities.child_list(parent) else {
            return self.list_children_by_path(parent, paging).await;
        };
        match self.resource_pages.list_page(&list, paging, |key| self.fetch_page(key)).await {
            Ok(page) => Ok(page),
            Err(ListFailure::FirstPage(failure)) => {
                Err(self.explain_list_failure(parent, failure).await)
            }
            Err(ListFailure::Other(error)) => Err(error),
        }
    }

    /// The error for a listing of `parent` that failed. Servers use the same error for a missing
    /// resource and for one that is no collection, so this checks whether `parent` exists.
    async fn explain_list_failure(self: &Arc<Self>, parent: &Uri, failure: Failure) -> Error {
        let may_be_leaf = failure.is_resource_not_found()
            || failure.is_invalid_params()
            || failure.is_method_not_found();
        if !may_be_leaf {
            return public_error(failure).about(parent);
        }
        match self.describe(parent).await {
            Ok(_) => Error::invalid("not a collection").about(parent).caused_by(failure),
            Err(error) => error,
        }
    }
}

#[async_trait]
impl Provider for Upstream {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.inner.start_listener();
        let (inner, starting) = (self.view(ctx), &self.inner.starting);
        let list = async {
            match parent {
                None => inner.list_resources(paging).await,
                Some(parent) => inner.list_children(parent, paging).await,
            }
        };
        let listed = with_trace(ctx, starting.limit_wait(list)).await;
        let mut page = listed.inspect_err(|error| self.record_error(error))?;
        page.items.retain(|item| paging.shows(item));
        Ok(page)
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.inner.start_listener();
        let (inner, starting) = (self.view(ctx), &self.inner.starting);
        let listed = with_trace(ctx, starting.limit_wait(inner.list_templates(paging))).await;
        listed.inspect_err(|error| self.record_error(error))
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.inner.start_listener();
        let described = with_trace(ctx, self.view(ctx).describe(uri)).await;
        described.inspect_err(|error| self.record_error(error))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.inner.start_listener();
        let opened = with_trace(ctx, self.view(ctx).read_window(ctx, uri, request)).await;
        opened.inspect_err(|error| self.record_error(error))
    }

    fn facets(&self) -> Facets<'_> {
        let known = self.inner.known_capabilities();
        let abilities = known.unwrap_or_default();
        let is_polled = self.inner.poll_interval.is_some();
        // A server that never connected reports at least that its lists appear.
        let watches = known.is_none() || abilities.has_notifications || is_polled;
        Facets {
            watch: watches.then_some(self as _),
            complete: abilities.has_completions.then_some(self as _),
            health: Some(self),
            relay: Some(&self.inner.relay),
            mounts: None,
            search: self.inner.search.is_some().then_some(self as _),
            skills: Some(self),
        }
    }
}

#[cfg(test)]
mod tests;
