//! Who watches what, on behalf of hosts that cannot?
//!
//! A session has one [`Watcher`], which ends with it. Whoever stands alone has a handle: whoever
//! knows it is who it belongs to, so it is not to be guessed and nobody is shown the whole of it.

mod shown;
mod watcher;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use resource::{Error, Result, Uri};
use tokio::sync::watch;
use tokio::time::{self, Instant};

pub(crate) use watcher::{Party, Watcher};

/// How many handles there may be.
const HANDLES: usize = 1000;
/// How long a handle lasts that nobody uses.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// How long a handle must have been silent to make room for another.
const YIELDS: Duration = Duration::from_secs(60);

/// Everybody who watches by our tools; as a provider, the resource that tells of them.
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
    /// Nobody yet.
    pub fn new() -> Arc<Self> {
        let uri = Uri::parse("refdesk://subscriptions").expect("this is a URI");
        let changed = watch::Sender::new(());
        Arc::new(Self { uri, known: Mutex::default(), changed })
    }

    /// The resource that tells of them.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Somebody who watches nothing yet.
    pub(crate) fn begin(&self, party: Party) -> Result<Arc<Watcher>> {
        let mut bytes = [0; 16];
        let random = getrandom::fill(&mut bytes);
        random.map_err(|error| Error::internal("no handle can be made").caused_by(error))?;
        let handle: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let watcher = Arc::new(Watcher::new(handle, party, self.changed.clone()));
        let mut known = self.known();
        known.all.retain(|other| other.strong_count() > 0);
        known.all.push(Arc::downgrade(&watcher));
        Ok(watcher)
    }

    /// Keeps a watcher for whoever knows its handle, until it is not used for a while.
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

    /// Whoever has this handle.
    pub(crate) fn find(&self, handle: &str) -> Option<Arc<Watcher>> {
        let found = self.known().handles.get(handle).cloned()?;
        found.touch();
        Some(found)
    }

    /// When to look again whether a handle is still used; one that is not is let go of.
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

    /// Everybody there is, in a fixed order.
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
    /// Takes out the handle that has been silent for longest.
    fn oldest(&mut self) -> Result<Arc<Watcher>> {
        let silent = self.handles.values().filter(|watcher| watcher.seen().elapsed() > YIELDS);
        let oldest = silent.min_by_key(|watcher| watcher.seen()).cloned();
        let oldest = oldest.ok_or_else(|| {
            Error::unavailable(format!("{HANDLES} handles are in use; ask again later"))
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
