//! One watcher: its subscriptions and its queue of changed URIs.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use parking_lot::Mutex;
use protocol::inbound::tool::watcher_status::WatcherStatus;
use resource::{Error, ErrorKind, Interest, Principal, Result, Uri};
use subscriptions::{Hub, Mailbox, PendingChange, Subscription};
use tokio::sync::watch;
use tokio::time::{self, Instant};

use crate::exchange::has_same_grant;
use crate::transport::fair_share::Place;

/// Length of the handle prefix that the status resource shows.
const HANDLE_PREFIX: usize = 8;

/// The owner of a watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatcherOwner {
    /// A session; the watcher ends with it.
    Session,
    /// Any client that knows the handle.
    Handle,
}

/// A set of subscriptions with a shared mailbox. Dropping it unsubscribes.
pub(crate) struct Watcher {
    /// Identifies the watcher and authorizes its use.
    pub(crate) handle: String,
    owner: WatcherOwner,
    /// Who created it, and with which scopes. It exists for nobody else.
    principal: Principal,
    mailbox: Mailbox,
    subscriptions: Mutex<BTreeMap<Uri, Subscription>>,
    last_used: Mutex<Instant>,
    /// Its place among the handles, once it has one.
    place: OnceLock<Place>,
    last_error: Mutex<Option<String>>,
    changed: watch::Sender<()>,
}

/// The changed URIs that one call returns.
pub(crate) struct ChangedUris {
    /// Each URI once, in the order of their first change.
    pub(crate) uris: Vec<Uri>,
    /// Whether more changes are waiting.
    pub(crate) more: bool,
}

impl Watcher {
    pub(super) fn new(
        handle: String,
        owner: WatcherOwner,
        principal: Principal,
        changed: watch::Sender<()>,
    ) -> Self {
        let (mailbox, subscriptions, last_error) =
            (Mailbox::default(), Mutex::default(), Mutex::default());
        let last_used = Mutex::new(Instant::now());
        let place = OnceLock::new();
        Self {
            handle,
            owner,
            principal,
            mailbox,
            subscriptions,
            last_used,
            place,
            last_error,
            changed,
        }
    }

    /// Subscribes to `uri`, up to `most` URIs in all. Repeating it has no effect, unless the
    /// subscription has become inactive.
    pub(crate) async fn subscribe(
        &self,
        (hub, principal): (&Hub, &Principal),
        uri: &Uri,
        most: usize,
    ) -> Result<()> {
        let admits = |held: &BTreeMap<Uri, Subscription>| match held.get(uri) {
            Some(known) => Ok(!known.is_active()),
            None if held.len() < most => Ok(true),
            None => {
                let why = format!("a watcher can watch at most {most} resources");
                Err(Error::new(ErrorKind::Unavailable, why))
            }
        };
        if !admits(&self.subscriptions.lock())? {
            return Ok(());
        }
        let subscription =
            hub.subscribe(principal, Interest::Resource(uri.clone()), &self.mailbox).await?;
        let mut held = self.subscriptions.lock();
        // A concurrent call may have added it, or filled the limit, in the meantime.
        let replaced = if admits(&held)? {
            held.insert(uri.clone(), subscription)
        } else {
            Some(subscription)
        };
        drop(held);
        drop(replaced);
        self.changed.send_replace(());
        Ok(())
    }

    /// Unsubscribes from `uris`, or from all, and drops their pending changes.
    pub(crate) fn unsubscribe(&self, uris: Option<&[Uri]>) {
        let mut held = self.subscriptions.lock();
        let ended: Vec<Subscription> = match uris {
            Some(uris) => uris.iter().filter_map(|uri| held.remove(uri)).collect(),
            None => std::mem::take(&mut *held).into_values().collect(),
        };
        drop(held);
        if uris.is_none() {
            // Cheaper than letting each subscription remove its own pending changes.
            self.mailbox.clear();
        }
        if !ended.is_empty() {
            drop(ended);
            self.changed.send_replace(());
        }
    }

    /// The watched URIs, sorted.
    pub(crate) fn watched_uris(&self) -> Vec<Uri> {
        self.subscriptions.lock().keys().cloned().collect()
    }

    /// Waits until there is a change, at most `span`. Takes nothing, so a cancelled wait loses no
    /// change.
    pub(crate) async fn wait_for_change(&self, span: Duration) {
        let _ = time::timeout(span, self.mailbox.ready()).await;
        self.touch();
    }

    /// Takes up to `most` pending changes.
    pub(crate) fn take_changes(&self, most: usize) -> ChangedUris {
        let letters = std::iter::from_fn(|| self.mailbox.take()).take(most);
        let uris = letters.filter_map(|(letter, _)| changed_uri(letter)).collect();
        ChangedUris { uris, more: !self.mailbox.is_empty() }
    }

    /// Returns up to `most` pending changes without taking them.
    pub(crate) fn peek_changes(&self, most: usize) -> ChangedUris {
        let uris = self.mailbox.peek(most).into_iter().filter_map(changed_uri).collect();
        ChangedUris { uris, more: self.mailbox.len() > most }
    }

    /// Records the last error, for the status resource.
    pub(crate) fn set_last_error(&self, words: String) {
        *self.last_error.lock() = Some(words);
        self.changed.send_replace(());
    }

    pub(super) fn principal(&self) -> &Principal {
        &self.principal
    }

    pub(super) fn belongs_to(&self, principal: &Principal) -> bool {
        has_same_grant(&self.principal, principal)
    }

    /// Marks the watcher as used now.
    pub(super) fn touch(&self) {
        *self.last_used.lock() = Instant::now();
        if let Some(place) = self.place.get() {
            place.touch();
        }
    }

    /// Takes its place among the handles, until it is dropped.
    pub(super) fn hold_place(&self, place: Place) {
        // A watcher is registered once.
        let _ = self.place.set(place);
    }

    /// Whether another watcher has its place now.
    pub(super) fn is_evicted(&self) -> bool {
        self.place.get().is_some_and(Place::is_evicted)
    }

    pub(super) fn last_used(&self) -> Instant {
        *self.last_used.lock()
    }

    /// What the status resource shows; `None` if the watcher watches nothing.
    pub(super) fn status(&self) -> Option<WatcherStatus> {
        let held = self.subscriptions.lock();
        if held.is_empty() {
            return None;
        }
        Some(WatcherStatus {
            handle_prefix: self.handle[..HANDLE_PREFIX].to_owned(),
            kind: match self.owner {
                WatcherOwner::Session => "session",
                WatcherOwner::Handle => "handle",
            },
            watching: held.iter().map(|(uri, one)| (uri.clone(), one.is_active())).collect(),
            last_error: self.last_error.lock().clone(),
        })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.mailbox.clear();
        self.changed.send_replace(());
    }
}

/// The URI of a pending change. A watcher subscribes to nothing but resources.
fn changed_uri(change: PendingChange) -> Option<Uri> {
    match change {
        PendingChange::Resource(uri) => Some(uri),
        PendingChange::Listing | PendingChange::Components(_) | PendingChange::Everything => None,
    }
}
