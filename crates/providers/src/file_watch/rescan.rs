//! Rescan loop: finds changes after inotify events or by polling, and tells the subscribers.
//!
//! One task per mount, running only while there are subscribers. It checks what the events name,
//! at most every few milliseconds, on a blocking thread.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, MutexGuard};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::inotify::{DirtySet, Inotify, WatchError};
use crate::change_channel::{ChangeReceiver, ChangeSender};

/// Minimum pause between two rescans.
const MIN_PAUSE: Duration = Duration::from_millis(10);

/// Minimum delay before a failed check is retried.
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// Slow polls and retries are delayed so that they take about one part in this many of the time.
const SCAN_LOAD_DIVISOR: u32 = 10;

/// A provider that can rescan for its subscribers.
pub(crate) trait Rescanner: Send + Sync + 'static {
    /// The last known state of one subscriber.
    type Memory: Send + 'static;

    fn rescan_loop(&self) -> &RescanLoop<Self::Memory>;

    /// Updates `memory` for the changes in `heard` and sends the differences to `feed`. Blocks.
    fn rescan(
        &self,
        memory: &mut Self::Memory,
        dirty: &DirtySet,
        changes: &ChangeSender,
    ) -> RescanOutcome;
}

/// What is left to do after the rescan of one subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RescanOutcome {
    Done,
    /// More to check, after the other subscribers had their turn.
    Unfinished,
    /// A check failed and must be retried after a delay.
    Failed,
}

/// The subscribers of one mount, its inotify instance and its polling state.
pub(crate) struct RescanLoop<M> {
    interval: Duration,
    max_watches: usize,
    inotify: Mutex<Option<Arc<Inotify>>>,
    subscribers: Mutex<SubscriberTable<M>>,
    is_polling: AtomicBool,
    /// True if the next round checks everything.
    is_all_dirty: AtomicBool,
    /// When polling last started or stopped.
    polling_changed_at: Mutex<Option<SystemTime>>,
    serial: Arc<AtomicU64>,
    wakeup: Arc<Notify>,
}

struct SubscriberTable<M> {
    /// By address, so that removing one takes constant time.
    subscribers: HashMap<usize, Arc<ScanSubscriber<M>>>,
    /// True while the rescan task runs.
    is_running: bool,
}

/// One subscriber.
pub(crate) struct ScanSubscriber<M> {
    pub(crate) memory: Mutex<M>,
    pub(crate) changes: ChangeSender,
    pending: Mutex<PendingScan>,
}

/// Changes that a subscriber has not checked yet.
#[derive(Default)]
struct PendingScan {
    dirty: DirtySet,
    /// The last rescan panicked, so the next one waits for a retry.
    awaits_retry: bool,
}

impl<M> ScanSubscriber<M> {
    pub(crate) fn memory(&self) -> MutexGuard<'_, M> {
        self.memory.lock()
    }
}

impl<M> RescanLoop<M> {
    /// Polls every `poll` where inotify does not report changes, and watches at most `most`
    /// folders.
    pub(crate) fn new(poll: Duration, max_watches: usize) -> Self {
        Self {
            interval: poll.max(MIN_PAUSE),
            max_watches,
            inotify: Mutex::new(None),
            subscribers: Mutex::new(SubscriberTable {
                subscribers: HashMap::new(),
                is_running: false,
            }),
            is_polling: AtomicBool::new(false),
            is_all_dirty: AtomicBool::new(false),
            polling_changed_at: Mutex::new(None),
            serial: Arc::default(),
            wakeup: Arc::default(),
        }
    }

    /// The inotify instance, opened on first use.
    pub(crate) fn inotify(&self) -> Result<Arc<Inotify>, WatchError> {
        let mut ears = self.inotify.lock();
        if let Some(ears) = &*ears {
            return Ok(ears.clone());
        }
        let opened = Inotify::open(self.max_watches, self.serial.clone(), self.wakeup.clone())?;
        Ok(ears.insert(Arc::new(opened)).clone())
    }

    /// The inotify instance, if it is already open.
    pub(crate) fn open_inotify(&self) -> Option<Arc<Inotify>> {
        self.inotify.lock().clone()
    }

    /// Closes inotify if it watches no folder.
    pub(crate) fn close_if_idle(&self) {
        let mut ears = self.inotify.lock();
        if ears.as_ref().is_some_and(|ears| ears.watch_count() == 0) {
            *ears = None;
        }
    }

    /// The polling interval; `None` while inotify reports all changes.
    pub(crate) fn polling_interval(&self) -> Option<Duration> {
        self.is_polling.load(Ordering::Relaxed).then_some(self.interval)
    }

    /// The configured polling interval.
    pub(crate) fn configured_interval(&self) -> Duration {
        self.interval
    }

    /// Polls from now on, until there are no more subscribers.
    pub(crate) fn start_polling(&self) {
        if self.set_polling(true) {
            self.wakeup.notify_one();
        }
    }

    /// When polling last started or stopped; `None` if it never did.
    pub(crate) fn polling_changed_at(&self) -> Option<SystemTime> {
        *self.polling_changed_at.lock()
    }

    /// Switches polling on or off. True if that is a change.
    fn set_polling(&self, polls: bool) -> bool {
        let is_new = self.is_polling.swap(polls, Ordering::Relaxed) != polls;
        if is_new {
            let mut turned = self.polling_changed_at.lock();
            *turned = Some(SystemTime::now());
        }
        is_new
    }

    /// Lets the next round check everything for all subscribers, and wakes the rescan task.
    pub(crate) fn check_everything(&self) {
        self.is_all_dirty.store(true, Ordering::Relaxed);
        self.wakeup.notify_one();
    }

    /// Wakes the rescan task.
    pub(crate) fn wake(&self) {
        self.wakeup.notify_one();
    }

    /// All current subscribers.
    pub(crate) fn subscribers(&self) -> Vec<Arc<ScanSubscriber<M>>> {
        self.subscribers.lock().subscribers.values().cloned().collect()
    }

    /// True while the rescan task runs.
    #[cfg(test)]
    pub(crate) fn is_running(&self) -> bool {
        self.subscribers.lock().is_running
    }

    fn unsubscribe(&self, party: &Weak<ScanSubscriber<M>>) {
        let gone = self.subscribers.lock().subscribers.remove(&party.as_ptr().addr());
        // Its state may be large: free it after the lock is released.
        drop(gone);
        self.wakeup.notify_one();
    }

    /// True if there are no subscribers, so the rescan task must stop. Stops polling too.
    fn stop_if_idle(&self) -> bool {
        let mut roll = self.subscribers.lock();
        if !roll.subscribers.is_empty() {
            return false;
        }
        roll.is_running = false;
        self.set_polling(false);
        self.close_if_idle();
        true
    }
}

/// Adds a subscriber with the state `memory`, until the stream is dropped.
///
/// Subscribe before watching a folder: then no event about that folder is lost.
pub(crate) fn subscribe<L: Rescanner>(
    lookout: &Arc<L>,
    memory: L::Memory,
) -> (Arc<ScanSubscriber<L::Memory>>, ChangeReceiver) {
    let mut stories = None;
    let party = Arc::new_cyclic(|party: &Weak<ScanSubscriber<L::Memory>>| {
        let (party, desk) = (party.clone(), Arc::downgrade(lookout));
        let (feed, stream) = ChangeSender::channel(move || {
            if let Some(lookout) = desk.upgrade() {
                lookout.rescan_loop().unsubscribe(&party);
            }
        });
        stories = Some(stream);
        ScanSubscriber { memory: Mutex::new(memory), changes: feed, pending: Mutex::default() }
    });
    let mut roll = lookout.rescan_loop().subscribers.lock();
    roll.subscribers.insert(Arc::as_ptr(&party).addr(), party.clone());
    if !std::mem::replace(&mut roll.is_running, true) {
        tokio::spawn(run_rescans(Arc::downgrade(lookout), lookout.rescan_loop().wakeup.clone()));
    }
    drop(roll);
    (party, stories.expect("both ends are made together"))
}

/// The rescan task: runs as long as there are subscribers.
async fn run_rescans<L: Rescanner>(lookout: Weak<L>, news: Arc<Notify>) {
    let mut open: Option<AsyncFd<Arc<Inotify>>> = None;
    let mut polled = Instant::now();
    let mut retry: Option<Instant> = None;
    let mut broke_off = false;
    loop {
        let Some(strong) = lookout.upgrade() else { return };
        if strong.rescan_loop().stop_if_idle() {
            return;
        }
        let due =
            strong.rescan_loop().polling_interval().is_some_and(|poll| polled.elapsed() >= poll);
        let began = Instant::now();
        let again = retry.is_some_and(|retry| retry <= began);
        let all = due | std::mem::take(&mut broke_off);
        let looked = tokio::task::spawn_blocking(move || {
            let left = scan_all(&*strong, all, again);
            (left, strong.rescan_loop().open_inotify(), strong.rescan_loop().polling_interval())
        });
        let (left, ears, poll) = match looked.await {
            Ok(looked) => looked,
            Err(error) if error.is_panic() => {
                tracing::error!("a rescan for file changes failed: {error}");
                tokio::time::sleep(RETRY_DELAY).await;
                // It is unknown which subscribers were checked, so check everything next time.
                broke_off = true;
                continue;
            }
            Err(_) => return,
        };
        if let Some(poll) = poll.filter(|_| due) {
            polled = Instant::now()
                + (began.elapsed() * (SCAN_LOAD_DIVISOR - 1)).min(poll * (SCAN_LOAD_DIVISOR / 2));
        }
        retry = match retry {
            _ if !left.failed => None,
            Some(retry) if !again => Some(retry),
            _ => {
                Some(Instant::now() + (began.elapsed() * (SCAN_LOAD_DIVISOR - 1)).max(RETRY_DELAY))
            }
        };
        // Limits the rate of rescans while many files change.
        tokio::time::sleep(MIN_PAUSE).await;
        if left.more {
            continue;
        }
        match ears {
            Some(ears) if open.as_ref().is_some_and(|open| Arc::ptr_eq(open.get_ref(), &ears)) => {}
            ears => open = register_fd(&lookout, ears),
        }
        tokio::select! {
            () = wait_readable(open.as_ref()) => {}
            () = news.notified() => {}
            () = wait_until(poll.map(|poll| polled + poll)) => {}
            () = wait_until(retry) => {}
        }
    }
}

/// What is left to do after all subscribers were rescanned.
#[derive(Default)]
struct RoundOutcome {
    more: bool,
    failed: bool,
}

/// Rescans for every subscriber: what the events name, everything if `all`, and failed checks if
/// `again`.
fn scan_all<L: Rescanner>(lookout: &L, all: bool, again: bool) -> RoundOutcome {
    let mut heard = DirtySet::default();
    if let Some(ears) = lookout.rescan_loop().open_inotify() {
        ears.drain_events();
        heard = ears.take_dirty();
    }
    heard.all |= all | lookout.rescan_loop().is_all_dirty.swap(false, Ordering::Relaxed);
    heard.retry_failed |= again;
    let mut rest = RoundOutcome::default();
    for party in lookout.rescan_loop().subscribers() {
        match scan_one(lookout, &party, &heard) {
            RescanOutcome::Done => {}
            RescanOutcome::Unfinished => rest.more = true,
            RescanOutcome::Failed => rest.failed = true,
        }
    }
    rest
}

/// Rescans for one subscriber. If its state is locked, keeps the changes for a later round.
fn scan_one<L: Rescanner>(
    lookout: &L,
    subscriber: &ScanSubscriber<L::Memory>,
    dirty: &DirtySet,
) -> RescanOutcome {
    let mut owed = subscriber.pending.lock();
    if owed.awaits_retry && !dirty.retry_failed {
        return RescanOutcome::Failed;
    }
    let Some(mut memory) = subscriber.memory.try_lock() else {
        // Its first scan may take long; the other subscribers must not wait for it.
        owed.dirty.merge(dirty);
        return RescanOutcome::Unfinished;
    };
    let mut late = std::mem::take(&mut *owed).dirty;
    let heard = if late.is_empty() && !late.retry_failed {
        dirty
    } else {
        late.merge(dirty);
        &late
    };
    let look = AssertUnwindSafe(|| lookout.rescan(&mut memory, heard, &subscriber.changes));
    catch_unwind(look).unwrap_or_else(|_| {
        tracing::error!("a rescan for file changes panicked");
        *owed = PendingScan { dirty: DirtySet::everything(), awaits_retry: true };
        RescanOutcome::Failed
    })
}

/// Registers `ears` with the runtime, so that the task can wait for events. Starts polling if
/// that fails.
#[expect(
    deprecated,
    reason = "its replacement is unsafe; inotify owns its descriptor and always returns the same"
)]
fn register_fd<L: Rescanner>(
    lookout: &Weak<L>,
    inotify: Option<Arc<Inotify>>,
) -> Option<AsyncFd<Arc<Inotify>>> {
    match AsyncFd::with_interest(inotify?, Interest::READABLE) {
        Ok(open) => Some(open),
        Err(_) => {
            lookout.upgrade()?.rescan_loop().start_polling();
            None
        }
    }
}

async fn wait_readable(open: Option<&AsyncFd<Arc<Inotify>>>) {
    match open {
        Some(open) => {
            if let Ok(mut ready) = open.readable().await {
                open.get_ref().drain_events();
                ready.clear_ready();
            }
        }
        None => std::future::pending().await,
    }
}

/// Waits until `at`, or forever.
async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
