//! inotify watches on folders, for subscribers and as guards of cached file state.
//!
//! The kernel queues an event before the system call that causes it returns. So if the drained
//! queue has no event about a file, the file is unchanged since the last check under the same
//! watch. Only writes through memory maps and through hard links in other folders cause no event.

mod heard;
mod ledger;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;
use tokio::sync::Notify;

pub(crate) use self::heard::{Heard, Touched};
use self::ledger::Ledger;
pub(crate) use self::ledger::{Look, Trust};

/// How long cached state of a file without events stays valid.
const BELIEVED: Duration = Duration::from_secs(2);

/// How many events one drain tells apart; more count as a change of everything.
const MOST_EVENTS: usize = 65_536;

/// The inotify instance of one mount.
pub(crate) struct Ears {
    descriptor: OwnedFd,
    most: usize,
    begun: Instant,
    ledger: Mutex<Ledger>,
    news: Arc<Notify>,
}

/// Why a folder cannot be watched.
#[derive(Debug)]
pub(crate) enum Deaf {
    /// The limit on watches is reached, or inotify is not available.
    Full,
    /// This folder cannot be watched.
    Refused(io::Error),
}

/// Why a folder is watched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Listener,
    Guard,
    /// An existing listener replaces its folder; it is already counted.
    Renewal,
}

/// A watch on a folder for a subscriber. Dropping it ends the watch.
pub(crate) struct Hold {
    ears: Arc<Ears>,
    key: Vec<u8>,
}

/// A watch on a folder whose cached file state stays valid until an event arrives.
pub(crate) struct Guard {
    ears: Arc<Ears>,
    key: Vec<u8>,
}

impl Ears {
    /// Opens inotify for up to `most` folders. Change serials are comparable between instances
    /// that share `serial`.
    pub(crate) fn open(
        most: usize,
        serial: Arc<AtomicU64>,
        news: Arc<Notify>,
    ) -> Result<Self, Deaf> {
        // Folders are watched by their path in `/proc/self/fd`.
        if std::fs::symlink_metadata("/proc/self/fd").is_err() {
            return Err(Deaf::Full);
        }
        let descriptor = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let ledger = Mutex::new(Ledger::new(serial));
        Ok(Self { descriptor, most, begun: Instant::now(), ledger, news })
    }

    /// Watches the open `folder` for a subscriber, under the name `key`.
    pub(crate) fn listen(self: &Arc<Self>, key: &[u8], folder: impl AsFd) -> Result<Hold, Deaf> {
        self.attach(key, folder.as_fd(), Part::Listener)?;
        Ok(Hold { ears: self.clone(), key: key.to_vec() })
    }

    /// Guards the open `folder`, under the name `key`. Refused if a subscriber watches another
    /// folder as `key`: subscribers have precedence.
    pub(crate) fn guard(self: &Arc<Self>, key: &[u8], folder: impl AsFd) -> Result<Guard, Deaf> {
        self.attach(key, folder.as_fd(), Part::Guard)?;
        Ok(Guard { ears: self.clone(), key: key.to_vec() })
    }

    /// Reads all queued events.
    pub(crate) fn drain(&self) {
        let mut ledger = self.lock();
        let mut room = [MaybeUninit::<u8>::uninit(); 4096];
        let mut events = Reader::new(&self.descriptor, &mut room);
        let mut read = 0;
        loop {
            match events.next() {
                Ok(_) if read > MOST_EVENTS => {
                    ledger.note_all();
                    if events.is_buffer_empty() {
                        break;
                    }
                }
                Ok(event) => {
                    read += 1;
                    let name = event.file_name().map(std::ffi::CStr::to_bytes);
                    ledger.note(event.wd(), event.events(), name);
                }
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        if !ledger.heard.is_empty() {
            self.news.notify_one();
        }
    }

    /// Takes the changes since the last call.
    pub(crate) fn take(&self) -> Heard {
        std::mem::take(&mut self.lock().heard)
    }

    /// Number of watched folders.
    pub(crate) fn len(&self) -> usize {
        self.lock().watched.len()
    }

    /// Acts as if the kernel's event queue had overflowed.
    #[cfg(test)]
    pub(crate) fn overflow(&self) {
        self.lock().note_all();
        self.news.notify_one();
    }

    /// Watches `folder` as `key`, for the purpose `part`.
    fn attach(&self, key: &[u8], folder: BorrowedFd<'_>, part: Part) -> Result<(), Deaf> {
        let mut ledger = self.lock();
        if !ledger.watched.contains_key(key) && ledger.watched.len() >= self.most {
            return Err(Deaf::Full);
        }
        // Through the handle, so that it is exactly this folder, even if it was moved meanwhile.
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let number = inotify::add_watch(&self.descriptor, path, of_interest())?;
        if part == Part::Guard && ledger.is_listened_to_as_another(key, number) {
            if !ledger.is_used(number) {
                self.forget(number);
            }
            return Err(Deaf::Refused(io::ErrorKind::NotFound.into()));
        }
        if let Some(unused) = ledger.attach(key, number) {
            self.forget(unused);
        }
        match part {
            Part::Listener => ledger.entry(key).listeners += 1,
            Part::Guard => ledger.guard(key),
            Part::Renewal => {}
        }
        Ok(())
    }

    fn detach(&self, key: &[u8], part: impl FnOnce(&mut Ledger)) {
        let mut ledger = self.lock();
        part(&mut ledger);
        if let Some(unused) = ledger.clear(key) {
            self.forget(unused);
        }
    }

    fn forget(&self, number: i32) {
        // The kernel has already removed the watch of a deleted folder.
        let _gone = inotify::remove_watch(&self.descriptor, number);
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsRawFd for Ears {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

impl Hold {
    /// Watches `folder` instead of the previous one, if it is a different folder.
    pub(crate) fn renew(&self, folder: impl AsFd) -> Result<(), Deaf> {
        self.ears.attach(&self.key, folder.as_fd(), Part::Renewal)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.ears.detach(&self.key, |ledger| {
            let listeners = &mut ledger.entry(&self.key).listeners;
            *listeners = listeners.saturating_sub(1);
        });
    }
}

impl Guard {
    /// Drains the events, and tells which cached state is valid; `None` if the folder is no longer
    /// watched.
    pub(crate) fn trust(&self) -> Option<Trust> {
        self.ears.drain();
        let now = self.ears.begun.elapsed();
        self.ears.lock().trust(&self.key, now, BELIEVED)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.ears.detach(&self.key, |ledger| ledger.entry(&self.key).marks = None);
    }
}

impl From<Errno> for Deaf {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOSPC | Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOSYS => Self::Full,
            error => Self::Refused(error.into()),
        }
    }
}

/// All events except reads.
fn of_interest() -> WatchFlags {
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
