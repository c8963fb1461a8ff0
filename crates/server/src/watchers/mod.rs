//! Registry of the watchers behind the tools `resources_watch` and `resources_changes`.
//!
//! A session has one [`Watcher`], which ends with it. A client without a session gets a handle.
//! The handle is a bearer token: it is random, expires when idle, and only a prefix is ever shown.

mod status_resource;
pub(crate) mod task_states;
mod watcher;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use resource::{Error, Principal, Result, Uri};
use subscriptions::HubMonitor;
use tokio::sync::watch;
use tokio::time::{self, Instant};

use crate::transport::fair_share::{FairShare, Owner};
pub(crate) use status_resource::etag_of;
pub(crate) use watcher::{Watcher, WatcherOwner};

/// Maximum number of handles.
const MAX_HANDLES: usize = 1000;
/// Idle time after which a handle expires.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Idle time after which a new handle of the same principal may evict this one when all are taken.
const MIN_EVICTION_IDLE: Duration = Duration::from_secs(60);

/// All watchers. As a provider it serves one resource, `refdesk://subscriptions`, that lists them.
pub struct WatcherRegistry {
    this: Weak<Self>,
    uri: Uri,
    table: Mutex<WatcherTable>,
    /// The places of handles. Whoever has the most makes room for one who has fewer.
    places: Arc<FairShare>,
    changed: watch::Sender<()>,
    /// Looks at the hub of the server that uses the registry.
    monitor: OnceLock<HubMonitor>,
}

#[derive(Default)]
struct WatcherTable {
    live: Vec<Weak<Watcher>>,
    by_handle: HashMap<String, Arc<Watcher>>,
}

impl WatcherRegistry {
    /// An empty registry.
    pub fn new() -> Arc<Self> {
        let uri = Uri::parse("refdesk://subscriptions").expect("this is a URI");
        let changed = watch::Sender::new(());
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            uri,
            table: Mutex::default(),
            places: FairShare::new(MAX_HANDLES, MIN_EVICTION_IDLE),
            changed,
            monitor: OnceLock::new(),
        })
    }

    /// Shows the subscriptions of this hub too.
    pub(crate) fn show_hub(&self, monitor: HubMonitor) {
        // A registry that several servers share shows the first one's.
        let _ = self.monitor.set(monitor);
    }

    /// The URI of the resource that lists the watchers.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Creates a watcher with a random handle and no watches.
    pub(crate) fn create(
        &self,
        party: WatcherOwner,
        principal: &Principal,
    ) -> Result<Arc<Watcher>> {
        let mut bytes = [0; 16];
        let random = getrandom::fill(&mut bytes);
        random
            .map_err(|error| Error::internal("cannot generate a watch handle").caused_by(error))?;
        let handle: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let watcher =
            Arc::new(Watcher::new(handle, party, principal.clone(), self.changed.clone()));
        let mut known = self.table.lock();
        known.live.retain(|other| other.strong_count() > 0);
        known.live.push(Arc::downgrade(&watcher));
        Ok(watcher)
    }

    /// Registers a watcher under its handle until it expires. If all places are taken, it gets the
    /// longest idle one of the principal that has the most.
    pub(crate) fn register(self: &Arc<Self>, watcher: &Arc<Watcher>) -> Result<()> {
        let evicted: Vec<_> = {
            let mut known = self.table.lock();
            let owner = Owner::new(Some(watcher.principal()), None);
            let place = self.places.take(&owner).ok_or_else(|| {
                Error::unavailable("too many watch handles are in use; try again later")
            })?;
            watcher.hold_place(place);
            known.by_handle.insert(watcher.handle.clone(), Arc::clone(watcher));
            known.by_handle.extract_if(|_, other| other.is_evicted()).collect()
        };
        drop(evicted);
        let (watchers, handle) = (Arc::downgrade(self), watcher.handle.clone());
        tokio::spawn(async move {
            while let Some(due) =
                watchers.upgrade().and_then(|all| all.expire_or_next_check(&handle))
            {
                time::sleep_until(due).await;
            }
        });
        Ok(())
    }

    /// The watcher of `principal` with this handle; marks it as used.
    pub(crate) fn find_by_handle(
        &self,
        handle: &str,
        principal: &Principal,
    ) -> Option<Arc<Watcher>> {
        let found = self.table.lock().by_handle.get(handle).cloned();
        let found = found.filter(|watcher| watcher.belongs_to(principal))?;
        found.touch();
        Some(found)
    }

    /// Removes the handle if it has expired, else returns when it may expire.
    fn expire_or_next_check(&self, handle: &str) -> Option<Instant> {
        let mut known = self.table.lock();
        let due = known.by_handle.get(handle)?.last_used() + IDLE_TIMEOUT;
        if due > Instant::now() {
            return Some(due);
        }
        let expired = known.by_handle.remove(handle);
        drop(known);
        drop(expired);
        None
    }

    /// The live watchers of `principal`, sorted by handle.
    fn watchers_of(&self, principal: &Principal) -> Vec<Arc<Watcher>> {
        let mut all: Vec<_> = self.table.lock().live.iter().filter_map(Weak::upgrade).collect();
        all.retain(|watcher| watcher.belongs_to(principal));
        all.sort_by(|one, other| one.handle.cmp(&other.handle));
        all
    }
}

#[cfg(test)]
mod tests;
