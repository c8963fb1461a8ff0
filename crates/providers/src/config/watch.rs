//! Watches a configuration mount: one task compares snapshots and tells each subscriber its part.
//!
//! Where principals may see different files, each has a task of its own. A task runs while there are
//! subscribers. It follows the changes of the folder, so that only what differs in a file is
//! reported: a key and its parents, not its siblings.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::{FutureExt as _, StreamExt as _};
use parking_lot::Mutex;
use resource::{Change, Context, Error, ErrorKind, Interest, Result, Uri, Watch};
use tokio::task::AbortHandle;

use super::ConfigFiles;
use super::item::not_found;
use super::place::ConfigPlace;
use super::snapshot::{ConfigChanges, ConfigSnapshot, PlaceChange};
use super::source::ConfigSource;
use crate::change_channel::{ChangeReceiver, ChangeSender};
use crate::visibility_rule::{ViewerKey, viewer_of};

type ConfigChangeStream = Pin<Box<dyn Stream<Item = Change> + Send>>;

/// The watchers of one mount: one for all principals, or one for each if they may see different
/// files, so that nobody is told of a change in what is refused to it.
pub(super) struct ConfigWatchers {
    source: Arc<ConfigSource>,
    all: Mutex<HashMap<Option<ViewerKey>, Arc<ConfigWatcher>>>,
}

/// The subscribers of one mount that see the same files.
struct ConfigWatcher {
    source: Arc<ConfigSource>,
    subscribers: Mutex<SubscriberList>,
    /// Held while the task is started, so that it is started once.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct SubscriberList {
    last_id: u64,
    all: HashMap<u64, ConfigSubscriber>,
    task: Option<AbortHandle>,
}

struct ConfigSubscriber {
    interest: WatchedPlace,
    changes: ChangeSender,
}

/// What a subscriber is told of.
enum WatchedPlace {
    /// One resource, under the URI of the subscription, and its direct members.
    One(ConfigPlace, Uri),
    Listing,
    Everything,
}

impl ConfigWatchers {
    pub(super) fn new(source: Arc<ConfigSource>) -> Self {
        Self { source, all: Mutex::default() }
    }

    /// True while a task runs.
    #[cfg(test)]
    pub(super) fn is_running(&self) -> bool {
        self.all.lock().values().any(|watcher| watcher.subscribers.lock().task.is_some())
    }

    /// The watcher of the principal. Forgets those that have no subscribers any more.
    fn find(&self, ctx: &Context) -> Arc<ConfigWatcher> {
        let viewer = viewer_of(self.source.visibility.as_ref(), ctx);
        let mut all = self.all.lock();
        // Who holds a watcher is about to subscribe.
        all.retain(|_, watcher| Arc::strong_count(watcher) > 1 || watcher.has_subscribers());
        let make = || Arc::new(ConfigWatcher::new(Arc::clone(&self.source)));
        Arc::clone(all.entry(viewer).or_insert_with(make))
    }
}

impl ConfigWatcher {
    fn new(source: Arc<ConfigSource>) -> Self {
        Self { source, subscribers: Mutex::default(), starting: tokio::sync::Mutex::default() }
    }

    fn has_subscribers(&self) -> bool {
        !self.subscribers.lock().all.is_empty()
    }

    async fn subscribe(
        self: &Arc<Self>,
        ctx: &Context,
        interest: WatchedPlace,
    ) -> Result<ChangeReceiver> {
        let _turn = self.starting.lock().await;
        let receiver = self.add_subscriber(interest);
        let is_running = self.subscribers.lock().task.is_some();
        if is_running {
            return Ok(receiver);
        }
        let Some(watch) = self.source.files.facets().watch else {
            return Err(Error::new(ErrorKind::Unsupported, "changes are not watched here"));
        };
        // The folder is watched first: what changes during the snapshot is compared after it.
        let folder = watch.watch(ctx, Interest::Everything).await?;
        let first = ConfigSnapshot::take(&self.source, ctx, None).await?;
        let task = tokio::spawn(follow(Arc::downgrade(self), ctx.clone(), folder, first));
        let mut subscribers = self.subscribers.lock();
        subscribers.task = Some(task.abort_handle());
        Ok(receiver)
    }

    /// Adds a subscriber, until its stream is dropped.
    fn add_subscriber(self: &Arc<Self>, interest: WatchedPlace) -> ChangeReceiver {
        let mut subscribers = self.subscribers.lock();
        subscribers.last_id += 1;
        let (id, watcher) = (subscribers.last_id, Arc::downgrade(self));
        let (changes, receiver) = ChangeSender::channel(move || {
            let Some(watcher) = watcher.upgrade() else { return };
            let mut subscribers = watcher.subscribers.lock();
            let gone = subscribers.all.remove(&id);
            if subscribers.all.is_empty()
                && let Some(task) = subscribers.task.take()
            {
                task.abort();
            }
            drop(subscribers);
            drop(gone);
        });
        subscribers.all.insert(id, ConfigSubscriber { interest, changes });
        receiver
    }

    fn tell(&self, changes: &ConfigChanges) {
        for subscriber in self.subscribers.lock().all.values() {
            subscriber.tell(changes);
        }
    }
}

impl ConfigWatcher {
    /// Tells what differs from `known`, and returns the state now.
    async fn compare(&self, ctx: &Context, known: ConfigSnapshot) -> ConfigSnapshot {
        match ConfigSnapshot::take(&self.source, ctx, Some(&known)).await {
            Ok(now) => {
                self.tell(&known.changes_to(&now, &self.source.visible_layers(ctx)));
                now
            }
            Err(error) => {
                tracing::warn!("changes cannot be compared: {}", error.with_causes());
                known
            }
        }
    }
}

/// The changes of the schemas, by path. They lie outside the files that are served.
type SchemaStreams = HashMap<String, ConfigChangeStream>;

/// Watches the schemas of `known`, and no others. True if one was not watched before.
async fn watch_schemas(
    source: &ConfigSource,
    ctx: &Context,
    known: &ConfigSnapshot,
    streams: &mut SchemaStreams,
) -> bool {
    streams.retain(|path, _| known.schema_paths.contains(path));
    let mut has_new = false;
    for path in &known.schema_paths {
        if !streams.contains_key(path)
            && let Some(stream) = source.watch_schema(ctx, path).await
        {
            streams.insert(path.clone(), stream);
            has_new = true;
        }
    }
    has_new
}

/// Waits for a change of the folder or of a schema; `None` if the folder has ended.
async fn next_change(folder: &mut ConfigChangeStream, schemas: &mut SchemaStreams) -> Option<()> {
    let mut schemas = futures_util::stream::select_all(schemas.values_mut());
    tokio::select! {
        change = folder.next() => change.map(drop),
        Some(_) = schemas.next() => Some(()),
    }
}

/// Compares snapshots whenever the folder changes, until it ends or the watcher is gone.
async fn follow(
    watcher: Weak<ConfigWatcher>,
    ctx: Context,
    mut folder: ConfigChangeStream,
    mut known: ConfigSnapshot,
) {
    let mut schemas = SchemaStreams::new();
    loop {
        let Some(strong) = watcher.upgrade() else { return };
        if watch_schemas(&strong.source, &ctx, &known, &mut schemas).await {
            // What changed before its watch began is compared now.
            known = strong.compare(&ctx, known).await;
        }
        drop(strong);
        if next_change(&mut folder, &mut schemas).await.is_none() {
            break;
        }
        // One look answers all changes that are there already.
        while let Some(Some(_)) = folder.next().now_or_never() {}
        let Some(strong) = watcher.upgrade() else { return };
        known = strong.compare(&ctx, known).await;
    }
    // The folder has ended, and with it all streams.
    if let Some(watcher) = watcher.upgrade() {
        let mut subscribers = watcher.subscribers.lock();
        subscribers.task = None;
        let ended = std::mem::take(&mut subscribers.all);
        drop(subscribers);
        drop(ended);
    }
}

impl ConfigSubscriber {
    fn tell(&self, changes: &ConfigChanges) {
        let is_listed = !matches!(self.interest, WatchedPlace::One(..));
        for change in &changes.places {
            if let Some(change) = self.interest.change_for(change) {
                self.changes.send(change);
            }
        }
        if changes.listing && is_listed {
            self.changes.send(Change::Listing);
        }
    }
}

impl WatchedPlace {
    /// What a subscriber is told of `change`.
    fn change_for(&self, change: &PlaceChange) -> Option<Change> {
        let uri = match self {
            Self::Listing => return None,
            Self::Everything => change.place.to_uri()?,
            Self::One(place, uri) if *place == change.place => uri.clone(),
            Self::One(place, _) if *place == change.parent => change.place.to_uri()?,
            Self::One(..) => return None,
        };
        Some(if change.is_removed { Change::Removed(uri) } else { Change::Updated(uri) })
    }
}

#[async_trait]
impl Watch for ConfigFiles {
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        let interest = match interest {
            Interest::Resource(uri) => {
                self.find_item(ctx, &uri).await.map_err(|error| error.about(&uri))?;
                let place = ConfigPlace::parse(&uri).map(|(place, _)| place);
                WatchedPlace::One(place.ok_or_else(not_found)?, uri)
            }
            Interest::Listing => WatchedPlace::Listing,
            Interest::Everything => WatchedPlace::Everything,
            Interest::Components(_) => {
                return Err(Error::new(ErrorKind::Unsupported, "no tools or prompts here"));
            }
        };
        Ok(Box::pin(self.watchers.find(ctx).subscribe(ctx, interest).await?))
    }

    fn is_shared(&self, _: &Interest) -> bool {
        self.source.visibility.is_none()
    }
}
