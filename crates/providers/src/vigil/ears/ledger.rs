//! Table of inotify watch descriptors, with change serials for guarded folders.
//!
//! Serials order events and checks: cached state is valid if its check is not older than the
//! last event.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::inotify::ReadFlags;

use super::heard::Heard;

/// How many names of a guarded folder have their own serial; beyond that, all names count as
/// changed.
const MOST_MARKED: usize = 1_024;

/// Stands for the descriptor of a deleted folder.
const NONE: i32 = -1;

/// All watched folders.
pub(super) struct Ledger {
    pub(super) watched: HashMap<Vec<u8>, Watched>,
    /// Keys by descriptor. A folder that is mounted twice or was just moved has several keys.
    keys: HashMap<i32, Vec<Vec<u8>>>,
    pub(super) heard: Heard,
    /// Counts events, so that a check before an event differs from one after it.
    serial: Arc<AtomicU64>,
}

pub(super) struct Watched {
    number: i32,
    pub(super) listeners: usize,
    pub(super) marks: Option<Marks>,
}

/// The serials of the last changes in a guarded folder.
#[derive(Clone)]
pub(super) struct Marks {
    /// At this serial, everything may have changed.
    floor: u64,
    /// The serial of the last change.
    latest: u64,
    names: Arc<HashMap<Vec<u8>, u64>>,
}

/// Tells which cached state of the files in a guarded folder is still valid.
#[derive(Clone)]
pub(crate) struct Trust {
    marks: Marks,
    serial: u64,
    now: Duration,
    believed: Duration,
}

/// When a file was last checked under a guard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    serial: u64,
    at: Duration,
}

impl Trust {
    /// The stamp for a check that happens from now on.
    pub(crate) fn look(&self) -> Look {
        Look { serial: self.serial, at: self.now }
    }

    /// True if the state of `name` from `look` is still valid.
    pub(crate) fn covers(&self, look: Look, name: &[u8]) -> bool {
        let changed = self.marks.names.get(name).copied().unwrap_or(0).max(self.marks.floor);
        look.serial >= changed && self.is_recent(look)
    }

    /// True if the state of every file from `look` is still valid.
    pub(crate) fn covers_all(&self, look: Look) -> bool {
        look.serial >= self.marks.latest && self.is_recent(look)
    }

    /// Merges two checks, each of which is covered by this or was stamped by it.
    pub(crate) fn join(&self, one: Look, other: Look) -> Look {
        Look { serial: self.serial, at: one.at.min(other.at) }
    }

    fn is_recent(&self, look: Look) -> bool {
        self.now.saturating_sub(look.at) <= self.believed
    }
}

impl Ledger {
    pub(super) fn new(serial: Arc<AtomicU64>) -> Self {
        Self { watched: HashMap::new(), keys: HashMap::new(), heard: Heard::default(), serial }
    }

    /// The entry of `key`, created if missing.
    pub(super) fn entry(&mut self, key: &[u8]) -> &mut Watched {
        let fresh = || Watched { number: NONE, listeners: 0, marks: None };
        self.watched.entry(key.to_vec()).or_insert_with(fresh)
    }

    /// True if a subscriber watches `key` and its descriptor is not `number`.
    pub(super) fn is_listened_to_as_another(&self, key: &[u8], number: i32) -> bool {
        self.watched.get(key).is_some_and(|watched| {
            watched.listeners > 0 && watched.number != NONE && watched.number != number
        })
    }

    /// True if any key uses the descriptor `number`.
    pub(super) fn is_used(&self, number: i32) -> bool {
        self.keys.contains_key(&number)
    }

    /// Assigns the descriptor `number` to `key`. Returns a descriptor that no key uses any more.
    pub(super) fn attach(&mut self, key: &[u8], number: i32) -> Option<i32> {
        let before = std::mem::replace(&mut self.entry(key).number, number);
        if before == number {
            return None;
        }
        self.keys.entry(number).or_default().push(key.to_vec());
        let floor = self.tick();
        if let Some(marks) = &mut self.entry(key).marks {
            *marks = Marks::from(floor);
        }
        self.unname(before, key)
    }

    /// Removes `key` if it has no subscriber and no guard. Returns a descriptor that no key uses
    /// any more.
    pub(super) fn clear(&mut self, key: &[u8]) -> Option<i32> {
        let watched = self.watched.get(key)?;
        if watched.listeners > 0 || watched.marks.is_some() {
            return None;
        }
        let number = self.watched.remove(key)?.number;
        self.unname(number, key)
    }

    pub(super) fn guard(&mut self, key: &[u8]) {
        let floor = self.tick();
        self.entry(key).marks = Some(Marks::from(floor));
    }

    pub(super) fn trust(&self, key: &[u8], now: Duration, believed: Duration) -> Option<Trust> {
        let watched = self.watched.get(key).filter(|watched| watched.number != NONE)?;
        let serial = self.serial.load(Ordering::Relaxed);
        Some(Trust { marks: watched.marks.clone()?, serial, now, believed })
    }

    /// Records one event.
    pub(super) fn note(&mut self, number: i32, events: ReadFlags, name: Option<&[u8]>) {
        if events.contains(ReadFlags::QUEUE_OVERFLOW) {
            return self.note_all();
        }
        let is_gone = events.contains(ReadFlags::IGNORED);
        let keys =
            if is_gone { self.keys.remove(&number) } else { self.keys.get(&number).cloned() };
        for key in keys.unwrap_or_default() {
            let serial = self.tick();
            let Some(watched) = self.watched.get_mut(&key) else { continue };
            if is_gone {
                watched.number = NONE;
            }
            if let Some(marks) = &mut watched.marks {
                marks.note(name, serial);
            }
            if watched.listeners > 0 {
                self.heard.add(&key, name);
            }
        }
    }

    /// Records that anything may have changed.
    pub(super) fn note_all(&mut self) {
        let serial = self.tick();
        for watched in self.watched.values_mut() {
            if let Some(marks) = &mut watched.marks {
                marks.note(None, serial);
            }
        }
        self.heard = Heard::anything();
    }

    fn unname(&mut self, number: i32, key: &[u8]) -> Option<i32> {
        let keys = self.keys.get_mut(&number)?;
        keys.retain(|known| known != key);
        if !keys.is_empty() {
            return None;
        }
        self.keys.remove(&number);
        Some(number)
    }

    fn tick(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Marks {
    /// Everything changed at `serial`.
    fn from(serial: u64) -> Self {
        Self { floor: serial, latest: serial, names: Arc::default() }
    }

    fn note(&mut self, name: Option<&[u8]>, serial: u64) {
        match name {
            Some(name) if self.names.len() < MOST_MARKED || self.names.contains_key(name) => {
                Arc::make_mut(&mut self.names).insert(name.to_vec(), serial);
                self.latest = serial;
            }
            _ => *self = Self::from(serial),
        }
    }
}
