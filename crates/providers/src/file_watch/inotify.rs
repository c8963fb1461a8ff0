//! inotify watches on folders, for subscribers and as guards of cached file state.
//!
//! The kernel queues an event before the system call that causes it returns. So if the drained
//! queue has no event about a file, the file is unchanged since the last check under the same
//! watch. Only writes through memory maps and through hard links in other folders cause no event.

mod dirty_set;
mod watch_table;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;
use tokio::sync::Notify;

pub(crate) use self::dirty_set::{DirtyDir, DirtySet};
use self::watch_table::WatchTable;
pub(crate) use self::watch_table::{CheckStamp, Validity};

/// How long cached state of a file without events stays valid.
const MAX_CACHE_AGE: Duration = Duration::from_secs(2);

/// How many events one drain tells apart; more count as a change of everything.
const MAX_EVENTS: usize = 65_536;

/// The inotify instance of one mount.
pub(crate) struct Inotify {
    descriptor: OwnedFd,
    max_watches: usize,
    opened_at: Instant,
    table: Mutex<WatchTable>,
    wakeup: Arc<Notify>,
}

/// Why a folder cannot be watched.
#[derive(Debug)]
pub(crate) enum WatchError {
    /// The limit on watches is reached, or inotify is not available.
    Unavailable,
    /// This folder cannot be watched.
    Refused(io::Error),
}

/// Why a folder is watched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WatchRole {
    Listener,
    Guard,
    /// An existing listener replaces its folder; it is already counted.
    Renewal,
}

/// A watch on a folder for a subscriber. Dropping it ends the watch.
pub(crate) struct WatchHandle {
    inotify: Arc<Inotify>,
    key: Vec<u8>,
}

/// A watch on a folder whose cached file state stays valid until an event arrives.
pub(crate) struct CacheGuard {
    inotify: Arc<Inotify>,
    key: Vec<u8>,
}

impl Inotify {
    /// Opens inotify for up to `most` folders. Change serials are comparable between instances
    /// that share `serial`.
    pub(crate) fn open(
        most: usize,
        serial: Arc<AtomicU64>,
        news: Arc<Notify>,
    ) -> Result<Self, WatchError> {
        // Folders are watched by their path in `/proc/self/fd`.
        if std::fs::symlink_metadata("/proc/self/fd").is_err() {
            return Err(WatchError::Unavailable);
        }
        let descriptor = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let ledger = Mutex::new(WatchTable::new(serial));
        Ok(Self {
            descriptor,
            max_watches: most,
            opened_at: Instant::now(),
            table: ledger,
            wakeup: news,
        })
    }

    /// Watches the open `folder` for a subscriber, under the name `key`.
    pub(crate) fn add_watch(
        self: &Arc<Self>,
        key: &[u8],
        folder: impl AsFd,
    ) -> Result<WatchHandle, WatchError> {
        self.attach_dir(key, folder.as_fd(), WatchRole::Listener)?;
        Ok(WatchHandle { inotify: self.clone(), key: key.to_vec() })
    }

    /// Guards the open `folder`, under the name `key`. Refused if a subscriber watches another
    /// folder as `key`: subscribers have precedence.
    pub(crate) fn add_guard(
        self: &Arc<Self>,
        key: &[u8],
        folder: impl AsFd,
    ) -> Result<CacheGuard, WatchError> {
        self.attach_dir(key, folder.as_fd(), WatchRole::Guard)?;
        Ok(CacheGuard { inotify: self.clone(), key: key.to_vec() })
    }

    /// Reads all queued events.
    pub(crate) fn drain_events(&self) {
        let mut ledger = self.table.lock();
        let mut room = [MaybeUninit::<u8>::uninit(); 4096];
        let mut events = Reader::new(&self.descriptor, &mut room);
        let mut read = 0;
        loop {
            match events.next() {
                Ok(_) if read > MAX_EVENTS => {
                    ledger.record_overflow();
                    if events.is_buffer_empty() {
                        break;
                    }
                }
                Ok(event) => {
                    read += 1;
                    let name = event.file_name().map(std::ffi::CStr::to_bytes);
                    ledger.record_event(event.wd(), event.events(), name);
                }
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        if !ledger.dirty.is_empty() {
            self.wakeup.notify_one();
        }
    }

    /// Takes the changes since the last call.
    pub(crate) fn take_dirty(&self) -> DirtySet {
        std::mem::take(&mut self.table.lock().dirty)
    }

    /// Number of watched folders.
    pub(crate) fn watch_count(&self) -> usize {
        self.table.lock().entries.len()
    }

    /// Acts as if the kernel's event queue had overflowed.
    #[cfg(test)]
    pub(crate) fn simulate_overflow(&self) {
        self.table.lock().record_overflow();
        self.wakeup.notify_one();
    }

    /// Watches `folder` as `key`, for the purpose `part`.
    fn attach_dir(
        &self,
        key: &[u8],
        folder: BorrowedFd<'_>,
        part: WatchRole,
    ) -> Result<(), WatchError> {
        let mut ledger = self.table.lock();
        if !ledger.entries.contains_key(key) && ledger.entries.len() >= self.max_watches {
            return Err(WatchError::Unavailable);
        }
        // Through the handle, so that it is exactly this folder, even if it was moved meanwhile.
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let number = inotify::add_watch(&self.descriptor, path, watch_flags())?;
        if part == WatchRole::Guard && ledger.is_watched_as_other_dir(key, number) {
            if !ledger.is_used(number) {
                self.remove_descriptor(number);
            }
            return Err(WatchError::Refused(io::ErrorKind::NotFound.into()));
        }
        if let Some(unused) = ledger.assign(key, number) {
            self.remove_descriptor(unused);
        }
        match part {
            WatchRole::Listener => ledger.entry(key).listeners += 1,
            WatchRole::Guard => ledger.start_serials(key),
            WatchRole::Renewal => {}
        }
        Ok(())
    }

    fn detach_dir(&self, key: &[u8], part: impl FnOnce(&mut WatchTable)) {
        let mut ledger = self.table.lock();
        part(&mut ledger);
        if let Some(unused) = ledger.remove_if_unused(key) {
            self.remove_descriptor(unused);
        }
    }

    fn remove_descriptor(&self, number: i32) {
        // The kernel has already removed the watch of a deleted folder.
        let _gone = inotify::remove_watch(&self.descriptor, number);
    }
}

impl AsRawFd for Inotify {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

impl WatchHandle {
    /// Watches `folder` instead of the previous one, if it is a different folder.
    pub(crate) fn renew(&self, folder: impl AsFd) -> Result<(), WatchError> {
        self.inotify.attach_dir(&self.key, folder.as_fd(), WatchRole::Renewal)
    }
}

impl Drop for WatchHandle {
    fn drop(&mut self) {
        self.inotify.detach_dir(&self.key, |ledger| {
            let listeners = &mut ledger.entry(&self.key).listeners;
            *listeners = listeners.saturating_sub(1);
        });
    }
}

impl CacheGuard {
    /// Drains the events, and tells which cached state is valid; `None` if the folder is no longer
    /// watched.
    pub(crate) fn validity(&self) -> Option<Validity> {
        self.inotify.drain_events();
        let now = self.inotify.opened_at.elapsed();
        self.inotify.table.lock().validity_of(&self.key, now, MAX_CACHE_AGE)
    }
}

impl Drop for CacheGuard {
    fn drop(&mut self) {
        self.inotify.detach_dir(&self.key, |ledger| ledger.entry(&self.key).serials = None);
    }
}

impl From<Errno> for WatchError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOSPC | Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOSYS => {
                Self::Unavailable
            }
            error => Self::Refused(error.into()),
        }
    }
}

/// All events except reads.
fn watch_flags() -> WatchFlags {
    WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::MOVE
        | WatchFlags::MODIFY
        | WatchFlags::CLOSE_WRITE
        | WatchFlags::ATTRIB
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR
        | WatchFlags::EXCL_UNLINK
}
