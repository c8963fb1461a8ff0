//! One watcher: its subscriptions and its queue of changed URIs.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use ::watch::{Hub, Letter, Mailbox, Subscription};
use resource::{Error, ErrorKind, Interest, Result, Uri};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{self, Instant};

use super::lock;

/// Length of the handle prefix that the status resource shows.
const SHOWN: usize = 8;

/// The owner of a watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Party {
    /// A session; the watcher ends with it.
    Session,
    /// Any client that knows the handle.
    Handle,
}

/// A set of subscriptions with a shared mailbox. Dropping it unsubscribes.
pub(crate) struct Watcher {
    /// Identifies the watcher and authorizes its use.
    pub(crate) handle: String,
    party: Party,
    mailbox: Mailbox,
    held: Mutex<BTreeMap<Uri, Subscription>>,
    seen: Mutex<Instant>,
    last_error: Mutex<Option<String>>,
    changed: watch::Sender<()>,
}

/// The changed URIs that one call returns.
pub(crate) struct Changed {
    /// Each URI once, in the order of their first change.
    pub(crate) uris: Vec<Uri>,
    /// Whether more changes are waiting.
    pub(crate) more: bool,
}

impl Watcher {
    pub(super) fn new(handle: String, party: Party, changed: watch::Sender<()>) -> Self {
        let (mailbox, held, last_error) = (Mailbox::default(), Mutex::default(), Mutex::default());
        let seen = Mutex::new(Instant::now());
        Self { handle, party, mailbox, held, seen, last_error, changed }
    }

    /// Subscribes to `uri`, up to `most` URIs in all. Repeating it has no effect, unless the
    /// subscription has become inactive.
    pub(crate) async fn add(&self, hub: &Hub, uri: &Uri, most: usize) -> Result<()> {
        let admits = |held: &BTreeMap<Uri, Subscription>| match held.get(uri) {
            Some(known) => Ok(!known.is_active()),
            None if held.len() < most => Ok(true),
            None => {
                let why = format!("a watcher can watch at most {most} resources");
                Err(Error::new(ErrorKind::Unavailable, why))
            }
        };
        if !admits(&lock(&self.held))? {
            return Ok(());
        }
        let subscription = hub.subscribe(Interest::Resource(uri.clone()), &self.mailbox).await?;
        let mut held = lock(&self.held);
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
    pub(crate) fn remove(&self, uris: Option<&[Uri]>) {
        let mut held = lock(&self.held);
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
    pub(crate) fn watching(&self) -> Vec<Uri> {
        lock(&self.held).keys().cloned().collect()
    }

    /// Waits until there is a change, at most `span`. Takes nothing, so a cancelled wait loses no
    /// change.
    pub(crate) async fn wait(&self, span: Duration) {
        let _ = time::timeout(span, self.mailbox.ready()).await;
        self.touch();
    }

    /// Takes up to `most` pending changes.
    pub(crate) fn take(&self, most: usize) -> Changed {
        let letters = std::iter::from_fn(|| self.mailbox.take()).take(most);
        let uris = letters.filter_map(|(letter, _)| of(letter)).collect();
        Changed { uris, more: !self.mailbox.is_empty() }
    }

    /// Returns up to `most` pending changes without taking them.
    pub(crate) fn peek(&self, most: usize) -> Changed {
        let uris = self.mailbox.peek(most).into_iter().filter_map(of).collect();
        Changed { uris, more: self.mailbox.len() > most }
    }

    /// Records the last error, for the status resource.
    pub(crate) fn failed(&self, words: String) {
        *lock(&self.last_error) = Some(words);
        self.changed.send_replace(());
    }

    /// Marks the watcher as used now.
    pub(super) fn touch(&self) {
        *lock(&self.seen) = Instant::now();
    }

    pub(super) fn seen(&self) -> Instant {
        *lock(&self.seen)
    }

    /// The public JSON view; `None` if the watcher watches nothing.
    pub(super) fn shown(&self) -> Option<Value> {
        let held = lock(&self.held);
        if held.is_empty() {
            return None;
        }
        let one = |(uri, subscription): (&Uri, &Subscription)| json!({ "uri": uri.as_str(), "active": subscription.is_active() });
        let kind = match self.party {
            Party::Session => "session",
            Party::Handle => "handle",
        };
        Some(json!({
            "handle": self.handle[..SHOWN],
            "kind": kind,
            "watching": held.iter().map(one).collect::<Value>(),
            "last_error": *lock(&self.last_error),
        }))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.mailbox.clear();
        self.changed.send_replace(());
    }
}

/// The URI of a pending change. A watcher subscribes to nothing but resources.
fn of(letter: Letter) -> Option<Uri> {
    match letter {
        Letter::Resource(uri) => Some(uri),
        Letter::Lists | Letter::Offers(_) | Letter::Everything => None,
    }
}
