//! Registry of the watchers behind the tools `resources_watch` and `resources_changes`.
//!
//! A session has one [`Watcher`], which ends with it. A client without a session gets a handle.
//! The handle is a bearer token: it is random, expires when idle, and only a prefix is ever shown.

mod shown;
mod watcher;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use resource::{Error, Result, Uri};
use tokio::sync::watch;
use tokio::time::{self, Instant};

pub(crate) use watcher::{Party, Watcher};

/// Maximum number of handles.
const HANDLES: usize = 1000;
/// Idle time after which a handle expires.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// Idle time after which a new handle may evict this one when all are taken.
const YIELDS: Duration = Duration::from_secs(60);

/// All watchers. As a provider it serves one resource, `refdesk://subscriptions`, that lists them.
pub struct Watchers {
    uri: Uri,
    known: Mutex<Known>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct Known {
    all: Vec<Weak<Watcher>>,
    handles: HashMap<String, Arc<Watcher>>,
}

impl Watchers {
    /// An empty registry.
    pub fn new() -> Arc<Self> {
        let uri = Uri::parse("refdesk://subscriptions").expect("this is a URI");
        let changed = watch::Sender::new(());
        Arc::new(Self { uri, known: Mutex::default(), changed })
    }

    /// The URI of the resource that lists the watchers.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Creates a watcher with a random handle and no watches.
    pub(crate) fn begin(&self, party: Party) -> Result<Arc<Watcher>> {
        let mut bytes = [0; 16];
        let random = getrandom::fill(&mut bytes);
        random
            .map_err(|error| Error::internal("cannot generate a watch handle").caused_by(error))?;
        let handle: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let watcher = Arc::new(Watcher::new(handle, party, self.changed.clone()));
        let mut known = self.known();
        known.all.retain(|other| other.strong_count() > 0);
        known.all.push(Arc::downgrade(&watcher));
        Ok(watcher)
    }

    /// Registers a watcher under its handle until it expires. Evicts the longest idle one if full.
    pub(crate) fn keep(self: &Arc<Self>, watcher: &Arc<Watcher>) -> Result<()> {
        let yielded = {
            let mut known = self.known();
            let full = known.handles.len() >= HANDLES;
            let yielded = if full { Some(known.oldest()?) } else { None };
            known.handles.insert(watcher.handle.clone(), Arc::clone(watcher));
            yielded
        };
        drop(yielded);
        let (watchers, handle) = (Arc::downgrade(self), watcher.handle.clone());
        tokio::spawn(async move {
            while let Some(due) = watchers.upgrade().and_then(|all| all.due(&handle)) {
                time::sleep_until(due).await;
            }
        });
        Ok(())
    }

    /// The watcher with this handle; marks it as used.
    pub(crate) fn find(&self, handle: &str) -> Option<Arc<Watcher>> {
        let found = self.known().handles.get(handle).cloned()?;
        found.touch();
        Some(found)
    }

    /// Removes the handle if it has expired, else returns when it may expire.
    fn due(&self, handle: &str) -> Option<Instant> {
        let mut known = self.known();
        let due = known.handles.get(handle)?.seen() + IDLE;
        if due > Instant::now() {
            return Some(due);
        }
        let expired = known.handles.remove(handle);
        drop(known);
        drop(expired);
        None
    }

    /// All live watchers, sorted by handle.
    fn all(&self) -> Vec<Arc<Watcher>> {
        let mut all: Vec<_> = self.known().all.iter().filter_map(Weak::upgrade).collect();
        all.sort_by(|one, other| one.handle.cmp(&other.handle));
        all
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }
}

impl Known {
    /// Removes the watcher that has been idle longest; fails if all were used recently.
    fn oldest(&mut self) -> Result<Arc<Watcher>> {
        let silent = self.handles.values().filter(|watcher| watcher.seen().elapsed() > YIELDS);
        let oldest = silent.min_by_key(|watcher| watcher.seen()).cloned();
        let oldest = oldest.ok_or_else(|| {
            Error::unavailable(format!("all {HANDLES} watch handles are in use; try again later"))
        })?;
        self.handles.remove(&oldest.handle);
        Ok(oldest)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
