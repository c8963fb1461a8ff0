//! Keepers: each keeps what the index holds of one mount up to date.
//!
//! A keeper walks its mount and reads what changed since it was indexed, then follows the mount's
//! changes. It reads as the program itself: what it reads leaves the index only for a principal
//! who may see it.

mod walk;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use machinery::MemoryShares;
use resource::{
    Context, Error, ErrorKind, Interest, PageRequest, Principal, Provider, Resource, Result, Uri,
};
use subscriptions::{DebounceConfig, Hub, Mailbox, PendingChange, Subscription};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time;

use crate::index::SearchIndex;
use crate::index::coverage::MountCoverage;
use crate::index::entry::{IndexEntry, version_key};
use crate::index::keys::text_key;
use crate::index::store::IndexedVersion;
use crate::text::ResourceText;
use walk::{Examination, ReadEntry, WalkStack};

const PAGE_SIZE: usize = 256;
/// How many resources are read at once.
const MAX_READING: usize = 4;
/// How often a mount that does not tell of changes is walked again.
const RESCAN_INTERVAL: Duration = Duration::from_secs(300);
/// The version of what could not be read: no resource has it, so the next walk reads it again.
const UNREAD: u64 = 0;
/// How long after a failed walk the next one begins.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);
/// What a keeper may hold of pending changes.
const MAX_PENDING_BYTES: usize = 16 << 20;

/// A mount that is indexed.
#[derive(Clone)]
pub struct IndexedMount {
    /// Its name.
    pub name: String,
    /// Its resources, under public URIs.
    pub provider: Arc<dyn Provider>,
    /// Where the walk begins; the whole mount if empty.
    pub roots: Vec<Uri>,
}

/// The task that keeps one mount up to date. Dropping it ends the task.
pub struct IndexKeeper(AbortHandle);

impl Drop for IndexKeeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl SearchIndex {
    /// Keeps the index up to date with `mount`, whose changes settle as `debounce` says.
    pub fn keep(&self, mount: IndexedMount, debounce: DebounceConfig) -> IndexKeeper {
        self.set_coverage(&mount.name, |coverage| *coverage = MountCoverage::none());
        let memory = Arc::new(MemoryShares::new(MAX_PENDING_BYTES, MAX_PENDING_BYTES));
        let hub = Hub::new(Arc::clone(&mount.provider), debounce, 4, memory);
        let keeper = MountKeeper {
            index: self.clone(),
            key: text_key(&mount.name),
            mount,
            hub,
            ctx: Context::new(Principal::internal()),
            known: HashMap::new(),
            knows_all: false,
            has_unread: false,
        };
        IndexKeeper(tokio::spawn(keeper.run()).abort_handle())
    }

    /// Removes what the index holds of mounts other than these.
    pub async fn retain_mounts(&self, names: &[&str]) {
        if !self.is_writer() {
            return;
        }
        let kept: HashSet<u64> = names.iter().map(|name| text_key(name)).collect();
        let gone: Vec<String> = {
            let coverage = self.coverage();
            coverage.mounts.into_keys().filter(|name| !names.contains(&&**name)).collect()
        };
        for name in gone {
            self.drop_coverage(&name);
        }
        let Ok(known) = self.indexed_versions() else { return };
        let gone = known.into_iter().filter(|(_, version)| !kept.contains(&version.mount));
        for (uri, version) in gone {
            self.orders.remove(uri).await;
            if let Ok(Some(meaning)) = self.meaning() {
                meaning.remove(version.mount, uri);
            }
        }
        self.orders.commit().await;
    }
}

/// The state of one keeper.
struct MountKeeper {
    index: SearchIndex,
    mount: IndexedMount,
    key: u64,
    hub: Hub,
    ctx: Context,
    /// The versions in the index, by the key of the URI.
    known: HashMap<u64, u64>,
    /// Whether the index told all that it holds.
    knows_all: bool,
    /// Whether the last walk could not read something that may be read later.
    has_unread: bool,
}

/// Why a keeper begins anew.
enum Restart {
    /// The index was replaced by an empty one.
    NewStore,
    /// The mount must be walked again.
    Rescan,
}

impl MountKeeper {
    async fn run(mut self) {
        let mut generations = self.index.generations();
        loop {
            generations.borrow_and_update();
            self.report(|coverage| *coverage = MountCoverage::none());
            self.load_known();
            while let Restart::Rescan = self.keep_current(&mut generations).await {}
        }
    }

    fn load_known(&mut self) {
        // What was indexed before there was a model is read again, so that vectors find it.
        let needs_vectors = self.index.has_meaning();
        let of_mount = |(uri, held): (u64, IndexedVersion)| {
            let is_whole = held.has_vectors || !needs_vectors;
            let version = if is_whole { held.version } else { UNREAD };
            (held.mount == self.key).then_some((uri, version))
        };
        let held = self.index.indexed_versions();
        self.knows_all = held.is_ok();
        self.known = held.unwrap_or_default().into_iter().filter_map(of_mount).collect();
    }

    /// Walks the mount and follows its changes until it must begin anew.
    async fn keep_current(&mut self, generations: &mut watch::Receiver<u64>) -> Restart {
        let mailbox = Mailbox::default();
        // Subscribed first, so that no change is lost between the walk and the first one.
        let subscription = self.subscribe(&mailbox).await;
        self.report(|coverage| coverage.fault = None);
        self.has_unread = false;
        let walked = self.walk_all().await;
        self.index.orders.commit().await;
        let pause = match (&walked, &subscription) {
            (Err(_), _) => Some(RETRY_INTERVAL),
            (Ok(()), None) => Some(RESCAN_INTERVAL),
            (Ok(()), Some(_)) => self.has_unread.then_some(RESCAN_INTERVAL),
        };
        self.report(|coverage| {
            // The writer may have told a fault of its own meanwhile: its memory is full.
            if let Err(error) = walked {
                coverage.fault = Some(error.message.into_owned());
            }
            coverage.is_complete = coverage.fault.is_none();
        });
        loop {
            let rescan = async {
                match pause {
                    Some(pause) => time::sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = generations.changed() => return Restart::NewStore,
                () = rescan => return Restart::Rescan,
                (change, _) = mailbox.next() => match change {
                    PendingChange::Resource(uri) => {
                        self.apply_changes(uri, &mailbox).await;
                    }
                    PendingChange::Listing | PendingChange::Everything => return Restart::Rescan,
                    PendingChange::Components(_) => {}
                },
            }
        }
    }

    async fn subscribe(&self, mailbox: &Mailbox) -> Option<Subscription> {
        if !self.hub.has_changes() {
            return None;
        }
        let principal = self.ctx.principal();
        self.hub.subscribe(principal, Interest::Everything, mailbox).await.ok()
    }

    /// Applies a change and those that are pending after it, then makes them visible.
    async fn apply_changes(&mut self, first: Uri, mailbox: &Mailbox) {
        let mut next = Some(first);
        while let Some(uri) = next.take() {
            self.apply_change(&uri).await;
            if let Some(PendingChange::Resource(_)) = mailbox.peek(1).first()
                && let Some((PendingChange::Resource(uri), _)) = mailbox.take()
            {
                next = Some(uri);
            }
        }
        self.index.orders.commit().await;
        self.report(|coverage| coverage.set_changed(self.known.len()));
    }

    async fn apply_change(&mut self, uri: &Uri) {
        if !self.is_below_roots(uri) {
            return;
        }
        match self.mount.provider.stat(&self.ctx, uri).await {
            Ok(resource) => {
                if let Examination::Entry { unread: Some(version), .. } = self.examine(&resource) {
                    let (provider, ctx) = (Arc::clone(&self.mount.provider), self.ctx.clone());
                    let read = ReadEntry::read(provider, ctx, (resource, version)).await;
                    self.put(read).await;
                } else if resource.listable == Some(true) {
                    // Members that are gone are told of one by one; new ones are found here.
                    let _ = self.walk_from(vec![Some(uri.clone())], &mut HashSet::new()).await;
                }
            }
            Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Denied) => {
                self.remove(text_key(uri.as_str())).await;
            }
            // A source that is away keeps what the index has of it.
            Err(_) => {}
        }
    }

    fn is_below_roots(&self, uri: &Uri) -> bool {
        let roots = &self.mount.roots;
        roots.is_empty() || roots.iter().any(|root| uri.as_str().starts_with(root.as_str()))
    }

    /// Walks the whole mount; what it does not have any more leaves the index.
    async fn walk_all(&mut self) -> Result<()> {
        let mut roots: Vec<Option<Uri>> = self.mount.roots.iter().cloned().map(Some).collect();
        if roots.is_empty() {
            roots.push(None);
        }
        let mut seen = HashSet::new();
        self.walk_from(roots, &mut seen).await?;
        let gone: Vec<u64> =
            self.known.keys().filter(|key| !seen.contains(*key)).copied().collect();
        for key in gone {
            self.remove(key).await;
        }
        self.report(|coverage| coverage.set_counted(seen.len()));
        Ok(())
    }

    /// Walks these collections and everything below them.
    async fn walk_from(&mut self, roots: Vec<Option<Uri>>, seen: &mut HashSet<u64>) -> Result<()> {
        let provider = Arc::clone(&self.mount.provider);
        let mut walk = WalkStack::new(roots);
        let mut reading = FuturesUnordered::new();
        let (mut failed, mut absent, mut unread_count) = (None, None, 0);
        while let Some((parent, depth)) = walk.stack.pop() {
            let mut cursor = None;
            loop {
                let ask = PageRequest::new(cursor, PAGE_SIZE);
                let page = match provider.list(&self.ctx, parent.as_ref(), &ask).await {
                    Ok(page) => page,
                    // A folder that is gone by now has no members.
                    Err(error) if error.kind == ErrorKind::NotFound && parent.is_some() => break,
                    Err(error) => {
                        failed.get_or_insert(error);
                        break;
                    }
                };
                if let Some(one) = page.absent.into_iter().next() {
                    absent.get_or_insert(one);
                }
                for resource in page.items {
                    walk.enter(&resource, depth);
                    let Examination::Entry { key, unread } = self.examine(&resource) else {
                        continue;
                    };
                    seen.insert(key);
                    let Some(version) = unread else { continue };
                    while reading.len() >= MAX_READING
                        && let Some(read) = reading.next().await
                    {
                        self.put(read).await;
                        unread_count -= 1;
                    }
                    let (provider, ctx) = (Arc::clone(&provider), self.ctx.clone());
                    reading.push(ReadEntry::read(provider, ctx, (resource, version)));
                    unread_count += 1;
                }
                self.report(|coverage| coverage.set_so_far(seen.len() - unread_count));
                match page.next {
                    Some(next) => cursor = Some(next),
                    None => break,
                }
            }
        }
        while let Some(read) = reading.next().await {
            self.put(read).await;
        }
        match (failed, absent) {
            (Some(error), _) => Err(error),
            (None, Some(absence)) => Err(Error::unavailable(absence.reason)),
            (None, None) => Ok(()),
        }
    }

    /// Looks whether `resource` must be read: it is no pure collection, no view of others, and not
    /// in the index in this version.
    fn examine(&self, resource: &Resource) -> Examination {
        let mime = resource.mime.as_deref();
        let is_pure_collection =
            resource.listable == Some(true) && mime.is_none_or(|mime| mime == "inode/directory");
        if is_pure_collection || resource.is_view {
            return Examination::LeftOut;
        }
        let (key, version) = (text_key(resource.uri.as_str()), version_key(resource));
        let has_vectors = match self.index.meaning() {
            Ok(Some(meaning)) => meaning.has(self.key, key),
            Ok(None) | Err(_) => true,
        };
        let is_known =
            self.known.get(&key) == Some(&version) && has_vectors || !self.index.is_writer();
        Examination::Entry { key, unread: (!is_known).then_some(version) }
    }

    /// Puts what was read into the index; what cannot be read is found by its name.
    async fn put(&mut self, read: ReadEntry) {
        let ReadEntry { resource, mut version, text } = read;
        let key = text_key(resource.uri.as_str());
        let none = || ResourceText { text: String::new(), mime: String::new() };
        let ResourceText { text, mime } = match text {
            Ok(text) => text.unwrap_or_else(none),
            Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Denied) => {
                return self.remove(key).await;
            }
            Err(error) => {
                tracing::debug!("{} is indexed by its name alone: {error}", resource.uri);
                if matches!(error.kind, ErrorKind::Unavailable | ErrorKind::Changed) {
                    (version, self.has_unread) = (UNREAD, true);
                }
                none()
            }
        };
        let mount = self.mount.name.clone();
        let has_vectors = self.index.has_meaning();
        let entry = IndexEntry { mount, resource, version, mime, text, has_vectors };
        if let Ok(Some(meaning)) = self.index.meaning() {
            meaning.put(&entry).await;
        }
        let is_new = self.knows_all && !self.known.contains_key(&key);
        self.index.orders.put(entry, is_new).await;
        self.known.insert(key, version);
    }

    async fn remove(&mut self, key: u64) {
        if self.known.remove(&key).is_some() && self.index.is_writer() {
            self.index.orders.remove(key).await;
            if let Ok(Some(meaning)) = self.index.meaning() {
                meaning.remove(self.key, key);
            }
        }
    }

    /// Tells how much of the mount is covered.
    fn report(&self, change: impl FnOnce(&mut MountCoverage)) {
        self.index.set_coverage(&self.mount.name, change);
    }
}
