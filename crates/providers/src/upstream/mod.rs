//! Upstream provider: a proxy for another MCP server, with caching and capability emulation.
//!
//! URIs here are the server's own, and its descriptions pass through unchanged, members that
//! refdesk does not know included.

mod abilities;
mod cursor;
mod fault;
mod flight;
mod health;
mod keep;
mod options;
mod pages;
mod poll;
mod read;
pub mod relay;
mod seats;
mod stat;
mod watch;
mod whole;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use client::{Client, Error as Failure, List, Listed, Peer, Standing, State};
use resource::{
    Ask, Complete, Completion, Context, Error, Facets, Freshness, Page, Provider, Question,
    Reading, Resource, Result, Template, Uri, Window,
};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use abilities::Abilities;
use fault::fault;
use flight::Flights;
use health::{Dates, Trouble};
use keep::{Keep, Need};
pub use options::Options;
use pages::{Key, Leaf, Pages, Stop};
use read::{Came, Copy};
use relay::Relayed;
use seats::Seats;
use watch::Roster;
use whole::Whole;

/// Bounds of the read cache: entries and bytes.
const READS: usize = 512;
const READ_BYTES: usize = 64 << 20;
/// Bounds of the description cache: entries and bytes. The full listing has the same byte limit.
const STATS: usize = 4_096;
const STAT_BYTES: usize = 128 << 20;
/// How many polled resources are read at the same time.
const LOOKS: usize = 4;

/// Another MCP server as a provider.
///
/// It connects on first use. From then on it knows the server's capabilities, and remembers them
/// while the server is disconnected.
pub struct Upstream {
    inner: Arc<Inner>,
}

/// Shared state. Its caches hold the responses to one identity, the one that the client presents
/// to the server, so responses with scope `private` never cross identities (K-03).
struct Inner {
    client: Client,
    relayed: Relayed,
    listing: Duration,
    poll: Option<Duration>,
    reads_to_describe: bool,
    standing: tokio::sync::watch::Receiver<Standing>,
    known: Mutex<Option<(Arc<Peer>, Abilities)>>,
    resources: Arc<Pages<Resource>>,
    patterns: Arc<Pages<Template>>,
    whole: Keep<(), Whole>,
    walks: Flights<(), Arc<Whole>>,
    stats: Keep<Uri, Resource>,
    asked: Flights<Uri, Arc<Resource>>,
    reads: Keep<Uri, Copy>,
    opening: Flights<Uri, Came>,
    roster: Roster,
    seats: Seats,
    listening: OnceLock<AbortHandle>,
    looking: Semaphore,
    trouble: Trouble,
    dates: Dates,
    has_complained: AtomicBool,
}

impl Upstream {
    /// A provider that is not connected yet.
    pub fn new(options: Options) -> Self {
        let Options { client, listing, poll, reads_to_describe } = options;
        let standing = client.state();
        let relayed = Relayed::new(client.clone());
        let inner = Inner {
            client,
            relayed,
            listing,
            poll,
            reads_to_describe,
            standing,
            known: Mutex::default(),
            resources: Pages::new(),
            patterns: Pages::new(),
            whole: Keep::new(1, STAT_BYTES),
            walks: Flights::default(),
            stats: Keep::new(STATS, STAT_BYTES),
            asked: Flights::default(),
            reads: Keep::new(READS, READ_BYTES),
            opening: Flights::default(),
            roster: Roster::default(),
            seats: Seats::default(),
            listening: OnceLock::new(),
            looking: Semaphore::new(LOOKS),
            trouble: Trouble::default(),
            dates: Dates::default(),
            has_complained: AtomicBool::new(false),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Connects to the server, so that its capabilities are known.
    pub async fn reach(&self) -> Result<()> {
        self.inner.listen();
        self.inner.greeted().await.map(drop).map_err(fault)
    }

    /// Closes the connection: ends the HTTP session, or the child process.
    pub async fn close(&self) {
        self.inner.client.close().await;
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(task) = self.listening.get() {
            task.abort();
        }
    }
}

impl Inner {
    /// The last known capabilities; `None` if the server never connected.
    fn known(&self) -> Option<Abilities> {
        self.acquaintance().map(|(_, abilities)| abilities)
    }

    /// The server's last introduction; `None` if the server never connected.
    fn peer(&self) -> Option<Arc<Peer>> {
        self.acquaintance().map(|(peer, _)| peer)
    }

    fn acquaintance(&self) -> Option<(Arc<Peer>, Abilities)> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Ready(peer) = &self.standing.borrow().state
            && known.as_ref().is_none_or(|(old, _)| !Arc::ptr_eq(old, peer))
        {
            *known = Some((Arc::clone(peer), Abilities::of(peer)));
        }
        known.clone()
    }

    /// The last known capabilities, or none if the server never connected.
    fn abilities(&self) -> Abilities {
        self.known().unwrap_or_default()
    }

    /// The server's capabilities. Connects if they are not known yet.
    async fn greeted(&self) -> Result<Abilities, Failure> {
        match self.known() {
            Some(abilities) => Ok(abilities),
            None => Ok(Abilities::of(self.client.peer().await?.as_ref())),
        }
    }

    fn temper(&self, resource: &mut Resource) {
        self.abilities().temper(resource, self.poll.is_some());
    }

    /// Requests one page of resources from the server.
    fn ask_page(
        self: &Arc<Self>,
        (list, cursor): Key,
    ) -> impl Future<Output = Result<Listed<Resource>, Failure>> + Send + 'static {
        let inner = Arc::clone(self);
        async move {
            let mut listed = inner.client.list(&list, cursor.as_deref()).await?;
            inner.trouble.is_over();
            inner.complain(listed.left_out, listed.contradictory);
            listed.items.iter_mut().for_each(|resource| inner.temper(resource));
            Ok(listed)
        }
    }

    /// One page as the server cuts its list, from the cache or from the server.
    async fn leaf(
        self: &Arc<Self>,
        list: List,
        cursor: Option<String>,
    ) -> Result<(Arc<Leaf<Resource>>, Freshness), Failure> {
        self.resources.leaf((list, cursor), Need::Fresh, |key| self.ask_page(key)).await
    }

    async fn list(self: &Arc<Self>, ask: &Ask) -> Result<Page<Resource>> {
        let page = self.resources.page(&List::All, ask, |key| self.ask_page(key)).await;
        page.or_else(Stop::or_nothing)
    }

    async fn templates(self: &Arc<Self>, ask: &Ask) -> Result<Page<Template>> {
        let ask_page = |(_, cursor): Key| {
            let inner = Arc::clone(self);
            async move {
                let listed = inner.client.templates(cursor.as_deref()).await?;
                inner.trouble.is_over();
                inner.complain(listed.left_out, listed.contradictory);
                Ok(listed)
            }
        };
        self.patterns.page(&List::All, ask, ask_page).await.or_else(Stop::or_nothing)
    }

    /// One page of the children of `parent`.
    async fn children(self: &Arc<Self>, parent: &Uri, ask: &Ask) -> Result<Page<Resource>> {
        let abilities = self.greeted().await.map_err(fault)?;
        let Some(list) = abilities.list_in(parent) else { return self.emulate(parent, ask).await };
        match self.resources.page(&list, ask, |key| self.ask_page(key)).await {
            Ok(page) => Ok(page),
            Err(Stop::Unbegun(failure)) => Err(self.why_closed(parent, failure).await),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    /// The error for a listing of `parent` that failed. Servers use the same error for a missing
    /// resource and for one that is no collection, so this checks whether `parent` exists.
    async fn why_closed(self: &Arc<Self>, parent: &Uri, failure: Failure) -> Error {
        if !failure.is_about_missing() && !failure.is_about_method() {
            return fault(failure).about(parent);
        }
        match self.stat(parent).await {
            Ok(_) => Error::invalid("not a collection").about(parent).caused_by(failure),
            Err(error) => error,
        }
    }

    /// Logs once that the server sends invalid list entries.
    fn complain(&self, left_out: usize, contradictory: usize) {
        if left_out + contradictory > 0 && !self.has_complained.swap(true, Ordering::Relaxed) {
            tracing::warn!(left_out, contradictory, "a server lists invalid entries");
        }
    }
}

#[async_trait]
impl Provider for Upstream {
    async fn list(&self, _: &Context, parent: Option<&Uri>, ask: &Ask) -> Result<Page<Resource>> {
        self.inner.listen();
        let listed = match parent {
            None => self.inner.list(ask).await,
            Some(parent) => self.inner.children(parent, ask).await,
        };
        listed.inspect_err(|error| self.failed(error))
    }

    async fn templates(&self, _: &Context, ask: &Ask) -> Result<Page<Template>> {
        self.inner.listen();
        let listed = self.inner.templates(ask).await;
        listed.inspect_err(|error| self.failed(error))
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Resource> {
        self.inner.listen();
        let described = self.inner.stat(uri).await;
        described.inspect_err(|error| self.failed(error))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        self.inner.listen();
        let opened = self.inner.read(ctx, uri, window).await;
        opened.inspect_err(|error| self.failed(error))
    }

    fn facets(&self) -> Facets<'_> {
        let abilities = self.inner.abilities();
        let is_polled = self.inner.poll.is_some();
        let watches = abilities.subscribes || abilities.tells_of_lists || is_polled;
        Facets {
            watch: watches.then_some(self as _),
            complete: abilities.completes.then_some(self as _),
            health: Some(self),
            relay: Some(&self.inner.relayed),
            mounts: None,
        }
    }
}

#[async_trait]
impl Complete for Upstream {
    async fn complete(&self, _: &Context, question: &Question<'_>) -> Result<Completion> {
        self.inner.listen();
        match self.inner.client.complete(question).await {
            Ok(completion) => Ok(completion),
            // Revision 2024-11-05 has no capability for completions.
            Err(failure) if failure.is_about_method() => Ok(Completion::default()),
            Err(failure) if failure.is_about_missing() => {
                let words = "the server behind this mount has no such template or variable";
                Err(Error::invalid(words).caused_by(failure))
            }
            Err(failure) => Err(fault(failure)),
        }
    }
}

#[cfg(test)]
mod tests;
