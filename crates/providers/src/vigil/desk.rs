//! Rescan loop: finds changes after inotify events or by polling, and tells the subscribers.
//!
//! One task per mount, running only while there are subscribers. It checks what the events name,
//! at most every few milliseconds, on a blocking thread.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::{Duration, SystemTime};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::ears::{Deaf, Ears, Heard};
use crate::feed::{Feed, Stories};

/// Minimum pause between two rescans.
const PAUSE: Duration = Duration::from_millis(10);

/// Minimum delay before a failed check is retried.
const RETRY: Duration = Duration::from_millis(250);

/// Slow polls and retries are delayed so that they take about one part in this many of the time.
const SHARE: u32 = 10;

/// A provider that can rescan for its subscribers.
pub(crate) trait Lookout: Send + Sync + 'static {
    /// The last known state of one subscriber.
    type Memory: Send + 'static;

    fn desk(&self) -> &Desk<Self::Memory>;

    /// Updates `memory` for the changes in `heard` and sends the differences to `feed`. Blocks.
    fn look(&self, memory: &mut Self::Memory, heard: &Heard, feed: &Feed) -> Left;
}

/// What is left to do after the rescan of one subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    /// More to check, after the other subscribers had their turn.
    More,
    /// A check failed and must be retried after a delay.
    Failed,
}

/// The subscribers of one mount, its inotify instance and its polling state.
pub(crate) struct Desk<M> {
    poll: Duration,
    most: usize,
    ears: Mutex<Option<Arc<Ears>>>,
    roll: Mutex<Roll<M>>,
    polls: AtomicBool,
    /// When polling last started or stopped.
    turned: Mutex<Option<SystemTime>>,
    serial: Arc<AtomicU64>,
    news: Arc<Notify>,
}

struct Roll<M> {
    /// By address, so that removing one takes constant time.
    parties: HashMap<usize, Arc<Party<M>>>,
    /// True while the rescan task runs.
    attended: bool,
}

/// One subscriber.
pub(crate) struct Party<M> {
    pub(crate) memory: Mutex<M>,
    pub(crate) feed: Feed,
    owed: Mutex<Owed>,
}

/// Changes that a subscriber has not checked yet.
#[derive(Default)]
struct Owed {
    heard: Heard,
    /// The last rescan panicked, so the next one waits for a retry.
    rests: bool,
}

impl<M> Party<M> {
    pub(crate) fn memory(&self) -> MutexGuard<'_, M> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Desk<M> {
    /// Polls every `poll` where inotify does not report changes, and watches at most `most`
    /// folders.
    pub(crate) fn new(poll: Duration, most: usize) -> Self {
        Self {
            poll: poll.max(PAUSE),
            most,
            ears: Mutex::new(None),
            roll: Mutex::new(Roll { parties: HashMap::new(), attended: false }),
            polls: AtomicBool::new(false),
            turned: Mutex::new(None),
            serial: Arc::default(),
            news: Arc::default(),
        }
    }

    /// The inotify instance, opened on first use.
    pub(crate) fn ears(&self) -> Result<Arc<Ears>, Deaf> {
        let mut ears = self.lock_ears();
        if let Some(ears) = &*ears {
            return Ok(ears.clone());
        }
        let opened = Ears::open(self.most, self.serial.clone(), self.news.clone())?;
        Ok(ears.insert(Arc::new(opened)).clone())
    }

    /// The inotify instance, if it is already open.
    pub(crate) fn open_ears(&self) -> Option<Arc<Ears>> {
        self.lock_ears().clone()
    }

    /// Closes inotify if it watches no folder.
    pub(crate) fn rest(&self) {
        let mut ears = self.lock_ears();
        if ears.as_ref().is_some_and(|ears| ears.len() == 0) {
            *ears = None;
        }
    }

    /// The polling interval; `None` while inotify reports all changes.
    pub(crate) fn polls(&self) -> Option<Duration> {
        self.polls.load(Ordering::Relaxed).then_some(self.poll)
    }

    /// The configured polling interval.
    pub(crate) fn every(&self) -> Duration {
        self.poll
    }

    /// Polls from now on, until there are no more subscribers.
    pub(crate) fn start_polling(&self) {
        if self.turn(true) {
            self.news.notify_one();
        }
    }

    /// When polling last started or stopped; `None` if it never did.
    pub(crate) fn turned(&self) -> Option<SystemTime> {
        *self.turned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches polling on or off. True if that is a change.
    fn turn(&self, polls: bool) -> bool {
        let is_new = self.polls.swap(polls, Ordering::Relaxed) != polls;
        if is_new {
            let mut turned = self.turned.lock().unwrap_or_else(PoisonError::into_inner);
            *turned = Some(SystemTime::now());
        }
        is_new
    }

    /// Wakes the rescan task.
    pub(crate) fn wake(&self) {
        self.news.notify_one();
    }

    /// All current subscribers.
    pub(crate) fn parties(&self) -> Vec<Arc<Party<M>>> {
        self.lock_roll().parties.values().cloned().collect()
    }

    /// True while the rescan task runs.
    #[cfg(test)]
    pub(crate) fn is_attended(&self) -> bool {
        self.lock_roll().attended
    }

    fn leave(&self, party: &Weak<Party<M>>) {
        let gone = self.lock_roll().parties.remove(&party.as_ptr().addr());
        // Its state may be large: free it after the lock is released.
        drop(gone);
        self.news.notify_one();
    }

    /// True if there are no subscribers, so the rescan task must stop. Stops polling too.
    fn is_over(&self) -> bool {
        let mut roll = self.lock_roll();
        if !roll.parties.is_empty() {
            return false;
        }
        roll.attended = false;
        self.turn(false);
        self.rest();
        true
    }

    fn lock_ears(&self) -> MutexGuard<'_, Option<Arc<Ears>>> {
        self.ears.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_roll(&self) -> MutexGuard<'_, Roll<M>> {
        self.roll.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a subscriber with the state `memory`, until the stream is dropped.
///
/// Subscribe before watching a folder: then no event about that folder is lost.
pub(crate) fn enlist<L: Lookout>(
    lookout: &Arc<L>,
    memory: L::Memory,
) -> (Arc<Party<L::Memory>>, Stories) {
    let mut stories = None;
    let party = Arc::new_cyclic(|party: &Weak<Party<L::Memory>>| {
        let (party, desk) = (party.clone(), Arc::downgrade(lookout));
        let (feed, stream) = Feed::new(move || {
            if let Some(lookout) = desk.upgrade() {
                lookout.desk().leave(&party);
            }
        });
        stories = Some(stream);
        Party { memory: Mutex::new(memory), feed, owed: Mutex::default() }
    });
    let mut roll = lookout.desk().lock_roll();
    roll.parties.insert(Arc::as_ptr(&party).addr(), party.clone());
    if !std::mem::replace(&mut roll.attended, true) {
        tokio::spawn(attend(Arc::downgrade(lookout), lookout.desk().news.clone()));
    }
    drop(roll);
    (party, stories.expect("both ends are made together"))
}

/// The rescan task: runs as long as there are subscribers.
async fn attend<L: Lookout>(lookout: Weak<L>, news: Arc<Notify>) {
    let mut open: Option<AsyncFd<Arc<Ears>>> = None;
    let mut polled = Instant::now();
    let mut retry: Option<Instant> = None;
    let mut broke_off = false;
    loop {
        let Some(strong) = lookout.upgrade() else { return };
        if strong.desk().is_over() {
            return;
        }
        let due = strong.desk().polls().is_some_and(|poll| polled.elapsed() >= poll);
        let began = Instant::now();
        let again = retry.is_some_and(|retry| retry <= began);
        let all = due | std::mem::take(&mut broke_off);
        let looked = tokio::task::spawn_blocking(move || {
            let left = round(&*strong, all, again);
            (left, strong.desk().open_ears(), strong.desk().polls())
        });
        let (left, ears, poll) = match looked.await {
            Ok(looked) => looked,
            Err(error) if error.is_panic() => {
                tracing::error!(%error, "a rescan for file changes panicked");
                tokio::time::sleep(RETRY).await;
                // It is unknown which subscribers were checked, so check everything next time.
                broke_off = true;
                continue;
            }
            Err(_) => return,
        };
        if let Some(poll) = poll.filter(|_| due) {
            polled = Instant::now() + (began.elapsed() * (SHARE - 1)).min(poll * (SHARE / 2));
        }
        retry = match retry {
            _ if !left.failed => None,
            Some(retry) if !again => Some(retry),
            _ => Some(Instant::now() + (began.elapsed() * (SHARE - 1)).max(RETRY)),
        };
        // Limits the rate of rescans while many files change.
        tokio::time::sleep(PAUSE).await;
        if left.more {
            continue;
        }
        match ears {
            Some(ears) if open.as_ref().is_some_and(|open| Arc::ptr_eq(open.get_ref(), &ears)) => {}
            ears => open = register(&lookout, ears),
        }
        tokio::select! {
            () = readable(open.as_ref()) => {}
            () = news.notified() => {}
            () = moment(poll.map(|poll| polled + poll)) => {}
            () = moment(retry) => {}
        }
    }
}

/// What is left to do after all subscribers were rescanned.
#[derive(Default)]
struct Rest {
    more: bool,
    failed: bool,
}

/// Rescans for every subscriber: what the events name, everything if `all`, and failed checks if
/// `again`.
fn round<L: Lookout>(lookout: &L, all: bool, again: bool) -> Rest {
    let mut heard = Heard::default();
    if let Some(ears) = lookout.desk().open_ears() {
        ears.drain();
        heard = ears.take();
    }
    heard.all |= all;
    heard.again |= again;
    let mut rest = Rest::default();
    for party in lookout.desk().parties() {
        match turn(lookout, &party, &heard) {
            Left::Nothing => {}
            Left::More => rest.more = true,
            Left::Failed => rest.failed = true,
        }
    }
    rest
}

/// Rescans for one subscriber. If its state is locked, keeps the changes for a later round.
fn turn<L: Lookout>(lookout: &L, party: &Party<L::Memory>, heard: &Heard) -> Left {
    let mut owed = party.owed.lock().unwrap_or_else(PoisonError::into_inner);
    if owed.rests && !heard.again {
        return Left::Failed;
    }
    let mut memory = match party.memory.try_lock() {
        Ok(memory) => memory,
        Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
        // Its first scan may take long; the other subscribers must not wait for it.
        Err(TryLockError::WouldBlock) => {
            owed.heard.add_all(heard);
            return Left::More;
        }
    };
    let mut late = std::mem::take(&mut *owed).heard;
    let heard = if late.is_empty() && !late.again {
        heard
    } else {
        late.add_all(heard);
        &late
    };
    let look = AssertUnwindSafe(|| lookout.look(&mut memory, heard, &party.feed));
    catch_unwind(look).unwrap_or_else(|_| {
        tracing::error!("a rescan for file changes panicked");
        *owed = Owed { heard: Heard::anything(), rests: true };
        Left::Failed
    })
}

/// Registers `ears` with the runtime, so that the task can wait for events. Starts polling if
/// that fails.
#[expect(
    deprecated,
    reason = "its replacement is unsafe; inotify owns its descriptor and always returns the same"
)]
fn register<L: Lookout>(lookout: &Weak<L>, ears: Option<Arc<Ears>>) -> Option<AsyncFd<Arc<Ears>>> {
    match AsyncFd::with_interest(ears?, Interest::READABLE) {
        Ok(open) => Some(open),
        Err(_) => {
            lookout.upgrade()?.desk().start_polling();
            None
        }
    }
}

async fn readable(open: Option<&AsyncFd<Arc<Ears>>>) {
    match open {
        Some(open) => {
            if let Ok(mut ready) = open.readable().await {
                open.get_ref().drain();
                ready.clear_ready();
            }
        }
        None => std::future::pending().await,
    }
}

/// Waits until `at`, or forever.
async fn moment(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
