//! Table of inotify watch descriptors, with change serials for guarded folders.
//!
//! Serials order events and checks: cached state is valid if its check is not older than the
//! last event.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::inotify::ReadFlags;

use super::dirty_set::DirtySet;

/// How many names of a guarded folder have their own serial; beyond that, all names count as
/// changed.
const MAX_TRACKED_NAMES: usize = 1_024;

/// Stands for the descriptor of a deleted folder.
const NO_DESCRIPTOR: i32 = -1;

/// All watched folders.
pub(super) struct WatchTable {
    pub(super) entries: HashMap<Vec<u8>, WatchEntry>,
    /// Keys by descriptor. A folder that is mounted twice or was just moved has several keys.
    keys_by_descriptor: HashMap<i32, Vec<Vec<u8>>>,
    pub(super) dirty: DirtySet,
    /// Counts events, so that a check before an event differs from one after it.
    serial: Arc<AtomicU64>,
}

pub(super) struct WatchEntry {
    descriptor: i32,
    pub(super) listeners: usize,
    pub(super) serials: Option<ChangeSerials>,
}

/// The serials of the last changes in a guarded folder.
#[derive(Clone)]
pub(super) struct ChangeSerials {
    /// At this serial, everything may have changed.
    floor: u64,
    /// The serial of the last change.
    latest: u64,
    names: Arc<HashMap<Vec<u8>, u64>>,
}

/// Tells which cached state of the files in a guarded folder is still valid.
#[derive(Clone)]
pub(crate) struct Validity {
    serials: ChangeSerials,
    serial: u64,
    now: Duration,
    max_age: Duration,
}

/// When a file was last checked under a guard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckStamp {
    serial: u64,
    at: Duration,
}

impl Validity {
    /// The stamp for a check that happens from now on.
    pub(crate) fn stamp(&self) -> CheckStamp {
        CheckStamp { serial: self.serial, at: self.now }
    }

    /// True if the state of `name` from `look` is still valid.
    pub(crate) fn covers(&self, stamp: CheckStamp, name: &[u8]) -> bool {
        let changed = self.serials.names.get(name).copied().unwrap_or(0).max(self.serials.floor);
        stamp.serial >= changed && self.is_recent(stamp)
    }

    /// True if the state of every file from `look` is still valid.
    pub(crate) fn covers_all(&self, stamp: CheckStamp) -> bool {
        stamp.serial >= self.serials.latest && self.is_recent(stamp)
    }

    /// Merges two checks, each of which is covered by this or was stamped by it.
    pub(crate) fn merge(&self, one: CheckStamp, other: CheckStamp) -> CheckStamp {
        CheckStamp { serial: self.serial, at: one.at.min(other.at) }
    }

    fn is_recent(&self, stamp: CheckStamp) -> bool {
        self.now.saturating_sub(stamp.at) <= self.max_age
    }
}

impl WatchTable {
    pub(super) fn new(serial: Arc<AtomicU64>) -> Self {
        Self {
            entries: HashMap::new(),
            keys_by_descriptor: HashMap::new(),
            dirty: DirtySet::default(),
            serial,
        }
    }

    /// The entry of `key`, created if missing.
    pub(super) fn entry(&mut self, key: &[u8]) -> &mut WatchEntry {
        let fresh = || WatchEntry { descriptor: NO_DESCRIPTOR, listeners: 0, serials: None };
        self.entries.entry(key.to_vec()).or_insert_with(fresh)
    }

    /// True if a subscriber watches `key` and its descriptor is not `number`.
    pub(super) fn is_watched_as_other_dir(&self, key: &[u8], number: i32) -> bool {
        self.entries.get(key).is_some_and(|watched| {
            watched.listeners > 0
                && watched.descriptor != NO_DESCRIPTOR
                && watched.descriptor != number
        })
    }

    /// True if any key uses the descriptor `number`.
    pub(super) fn is_used(&self, number: i32) -> bool {
        self.keys_by_descriptor.contains_key(&number)
    }

    /// Assigns the descriptor `number` to `key`. Returns a descriptor that no key uses any more.
    pub(super) fn assign(&mut self, key: &[u8], number: i32) -> Option<i32> {
        let before = std::mem::replace(&mut self.entry(key).descriptor, number);
        if before == number {
            return None;
        }
        self.keys_by_descriptor.entry(number).or_default().push(key.to_vec());
        let floor = self.next_serial();
        if let Some(marks) = &mut self.entry(key).serials {
            *marks = ChangeSerials::all_changed_at(floor);
        }
        self.unlink_key(before, key)
    }

    /// Removes `key` if it has no subscriber and no guard. Returns a descriptor that no key uses
    /// any more.
    pub(super) fn remove_if_unused(&mut self, key: &[u8]) -> Option<i32> {
        let watched = self.entries.get(key)?;
        if watched.listeners > 0 || watched.serials.is_some() {
            return None;
        }
        let number = self.entries.remove(key)?.descriptor;
        self.unlink_key(number, key)
    }

    pub(super) fn start_serials(&mut self, key: &[u8]) {
        let floor = self.next_serial();
        self.entry(key).serials = Some(ChangeSerials::all_changed_at(floor));
    }

    pub(super) fn validity_of(
        &self,
        key: &[u8],
        now: Duration,
        believed: Duration,
    ) -> Option<Validity> {
        let watched =
            self.entries.get(key).filter(|watched| watched.descriptor != NO_DESCRIPTOR)?;
        let serial = self.serial.load(Ordering::Relaxed);
        Some(Validity { serials: watched.serials.clone()?, serial, now, max_age: believed })
    }

    /// Records one event.
    pub(super) fn record_event(&mut self, number: i32, events: ReadFlags, name: Option<&[u8]>) {
        if events.contains(ReadFlags::QUEUE_OVERFLOW) {
            return self.record_overflow();
        }
        let is_gone = events.contains(ReadFlags::IGNORED);
        let keys = if is_gone {
            self.keys_by_descriptor.remove(&number)
        } else {
            self.keys_by_descriptor.get(&number).cloned()
        };
        for key in keys.unwrap_or_default() {
            let serial = self.next_serial();
            let Some(watched) = self.entries.get_mut(&key) else { continue };
            if is_gone {
                watched.descriptor = NO_DESCRIPTOR;
            }
            if let Some(marks) = &mut watched.serials {
                marks.record(name, serial);
            }
            if watched.listeners > 0 {
                self.dirty.add(&key, name);
            }
        }
    }

    /// Records that anything may have changed.
    pub(super) fn record_overflow(&mut self) {
        let serial = self.next_serial();
        for watched in self.entries.values_mut() {
            if let Some(marks) = &mut watched.serials {
                marks.record(None, serial);
            }
        }
        self.dirty = DirtySet::everything();
    }

    fn unlink_key(&mut self, number: i32, key: &[u8]) -> Option<i32> {
        let keys = self.keys_by_descriptor.get_mut(&number)?;
        keys.retain(|known| known != key);
        if !keys.is_empty() {
            return None;
        }
        self.keys_by_descriptor.remove(&number);
        Some(number)
    }

    fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl ChangeSerials {
    /// Everything changed at `serial`.
    fn all_changed_at(serial: u64) -> Self {
        Self { floor: serial, latest: serial, names: Arc::default() }
    }

    fn record(&mut self, name: Option<&[u8]>, serial: u64) {
        match name {
            Some(name) if self.names.len() < MAX_TRACKED_NAMES || self.names.contains_key(name) => {
                Arc::make_mut(&mut self.names).insert(name.to_vec(), serial);
                self.latest = serial;
            }
            _ => *self = Self::all_changed_at(serial),
        }
    }
}
