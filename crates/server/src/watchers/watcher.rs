//! What does one of them watch, and what has changed of it?

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use ::watch::{Hub, Letter, Mailbox, Subscription};
use resource::{Error, ErrorKind, Interest, Result, Uri};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{self, Instant};

use super::lock;

/// How much of a handle others may see.
const SHOWN: usize = 8;

/// To whom a watcher belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Party {
    /// To a session, with which it ends.
    Session,
    /// To whoever knows its handle.
    Handle,
}

/// Somebody who watches, until it is dropped.
pub(crate) struct Watcher {
    /// What it is known by. Whoever knows it may ask.
    pub(crate) handle: String,
    party: Party,
    mailbox: Mailbox,
    held: Mutex<BTreeMap<Uri, Subscription>>,
    seen: Mutex<Instant>,
    last_error: Mutex<Option<String>>,
    changed: watch::Sender<()>,
}

/// What has changed.
pub(crate) struct Changed {
    /// Each once, what changed first first.
    pub(crate) uris: Vec<Uri>,
    /// Whether more has than was asked for.
    pub(crate) more: bool,
}

impl Watcher {
    pub(super) fn new(handle: String, party: Party, changed: watch::Sender<()>) -> Self {
        let (mailbox, held, last_error) = (Mailbox::default(), Mutex::default(), Mutex::default());
        let seen = Mutex::new(Instant::now());
        Self { handle, party, mailbox, held, seen, last_error, changed }
    }

    /// Watches `uri` too, if that makes no more than `most`. To ask twice changes nothing, unless
    /// it is no longer heard of.
    pub(crate) async fn add(&self, hub: &Hub, uri: &Uri, most: usize) -> Result<()> {
        let admits = |held: &BTreeMap<Uri, Subscription>| match held.get(uri) {
            Some(known) => Ok(!known.is_active()),
            None if held.len() < most => Ok(true),
            None => {
                let why = format!("at most {most} resources are watched at once");
                Err(Error::new(ErrorKind::Unavailable, why))
            }
        };
        if !admits(&lock(&self.held))? {
            return Ok(());
        }
        let subscription = hub.subscribe(Interest::Resource(uri.clone()), &self.mailbox).await?;
        let mut held = lock(&self.held);
        // Somebody else may have come first.
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

    /// Watches these no more, or nothing; what has changed of them is forgotten.
    pub(crate) fn remove(&self, uris: Option<&[Uri]>) {
        let mut held = lock(&self.held);
        let ended: Vec<Subscription> = match uris {
            Some(uris) => uris.iter().filter_map(|uri| held.remove(uri)).collect(),
            None => std::mem::take(&mut *held).into_values().collect(),
        };
        drop(held);
        if uris.is_none() {
            // Each would look for what waits on its account.
            self.mailbox.clear();
        }
        if !ended.is_empty() {
            drop(ended);
            self.changed.send_replace(());
        }
    }

    /// What it watches, in order.
    pub(crate) fn watching(&self) -> Vec<Uri> {
        lock(&self.held).keys().cloned().collect()
    }

    /// Waits until something has changed, and no longer than `span`. Takes nothing, so that
    /// whoever stops waiting loses nothing.
    pub(crate) async fn wait(&self, span: Duration) {
        let _ = time::timeout(span, self.mailbox.ready()).await;
        self.touch();
    }

    /// What has changed since this was last called.
    pub(crate) fn take(&self, most: usize) -> Changed {
        let letters = std::iter::from_fn(|| self.mailbox.take()).take(most);
        let uris = letters.filter_map(|(letter, _)| of(letter)).collect();
        Changed { uris, more: !self.mailbox.is_empty() }
    }

    /// The same, to be told again.
    pub(crate) fn peek(&self, most: usize) -> Changed {
        let uris = self.mailbox.peek(most).into_iter().filter_map(of).collect();
        Changed { uris, more: self.mailbox.len() > most }
    }

    /// Notes what went wrong.
    pub(crate) fn failed(&self, words: String) {
        *lock(&self.last_error) = Some(words);
        self.changed.send_replace(());
    }

    /// It is being used.
    pub(super) fn touch(&self) {
        *lock(&self.seen) = Instant::now();
    }

    pub(super) fn seen(&self) -> Instant {
        *lock(&self.seen)
    }

    /// What everybody may know of it, if it watches anything.
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

/// Which resource a letter is about. Nothing else is watched.
fn of(letter: Letter) -> Option<Uri> {
    match letter {
        Letter::Resource(uri) => Some(uri),
        Letter::Lists | Letter::Offers(_) | Letter::Everything => None,
    }
}
