//! Work pool: CPU-bound work on blocking threads, with a fair share for each key.
//!
//! A key is whoever asks, such as a principal. Work runs in slices: it looks at its signal and
//! returns when its time is over, its deadline has passed, or its caller is gone.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant as StdInstant};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// How long work may run before it gives its thread to the next in the queue.
const SLICE: Duration = Duration::from_millis(100);

/// How many pieces of work of one key wait for a thread of the default pool.
const MAX_QUEUED: usize = 64;

/// Permits with a bound in all, a smaller bound for each key, and a bounded queue for each key.
pub struct FairSemaphore {
    total: Arc<Semaphore>,
    per_key: usize,
    max_queued: usize,
    keys: Arc<Mutex<HashMap<Arc<str>, KeyShare>>>,
}

struct KeyShare {
    permits: Arc<Semaphore>,
    /// How many hold a permit or wait for one.
    users: usize,
}

/// A permit of a [`FairSemaphore`], until it is dropped.
pub struct SharePermit {
    _total: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
    _user: KeyUser,
}

/// Counts one user of a key's share.
struct KeyUser {
    keys: Arc<Mutex<HashMap<Arc<str>, KeyShare>>>,
    key: Arc<str>,
}

/// Why work was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkRefusal {
    /// Too much work of this key is waiting already.
    QueueFull,
    /// The deadline passed before the work could start.
    TimedOut,
    /// The work panicked.
    Failed,
}

impl FairSemaphore {
    /// `total` permits, of which each key gets at most `per_key`, with `max_queued` waiting.
    pub fn new(total: usize, per_key: usize, max_queued: usize) -> Self {
        let total = Arc::new(Semaphore::new(total.max(1)));
        Self { total, per_key: per_key.max(1), max_queued, keys: Arc::default() }
    }

    /// Waits for a permit until `deadline`.
    pub async fn acquire(
        &self,
        key: &Arc<str>,
        deadline: Instant,
    ) -> Result<SharePermit, WorkRefusal> {
        let (user, permits) = self.join(key).ok_or(WorkRefusal::QueueFull)?;
        // Its own share first: so one key takes no more than its share of the common queue.
        let permits = timeout_at(deadline, async {
            let own = permits.acquire_owned().await.ok()?;
            let total = Arc::clone(&self.total).acquire_owned().await.ok()?;
            Some((own, total))
        });
        let (own, total) =
            permits.await.map_err(|_| WorkRefusal::TimedOut)?.ok_or(WorkRefusal::Failed)?;
        Ok(SharePermit { _total: total, _own: own, _user: user })
    }

    /// How many permits are free now, of all keys together.
    pub fn available_permits(&self) -> usize {
        self.total.available_permits()
    }

    fn join(&self, key: &Arc<str>) -> Option<(KeyUser, Arc<Semaphore>)> {
        let mut keys = self.keys.lock();
        let share = keys.entry(Arc::clone(key)).or_insert_with(|| KeyShare {
            permits: Arc::new(Semaphore::new(self.per_key)),
            users: 0,
        });
        if share.users >= self.per_key + self.max_queued {
            return None;
        }
        share.users += 1;
        let user = KeyUser { keys: Arc::clone(&self.keys), key: Arc::clone(key) };
        Some((user, Arc::clone(&share.permits)))
    }
}

impl Drop for KeyUser {
    fn drop(&mut self) {
        let mut keys = self.keys.lock();
        if let Some(share) = keys.get_mut(&self.key) {
            share.users -= 1;
            if share.users == 0 {
                keys.remove(&self.key);
            }
        }
    }
}

/// Runs work on blocking threads, as many at a time as its share permits.
///
/// For work that computes. Work that waits for a source has a pool of its own for each source, so
/// that a source that hangs stops no other.
pub struct WorkPool(Arc<FairSemaphore>);

impl Default for WorkPool {
    /// A pool with a thread per core, at least two, of which one key gets half.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        Self::new(FairSemaphore::new(threads, threads / 2, MAX_QUEUED))
    }
}

impl WorkPool {
    /// A pool with these permits.
    pub fn new(share: FairSemaphore) -> Self {
        Self(Arc::new(share))
    }

    /// Runs one slice of `work` for `key`. Waiting counts into the deadline. Dropping the future
    /// tells the signal, and frees the thread once the work has looked at it.
    pub async fn run<T: Send + 'static>(
        &self,
        key: &Arc<str>,
        deadline: Instant,
        work: impl FnOnce(&WorkSignal) -> T + Send + 'static,
    ) -> Result<T, WorkRefusal> {
        let (share, key) = (Arc::clone(&self.0), Arc::clone(key));
        let cancel = CancelSignal::default();
        let cancelled = Arc::clone(&cancel.0);
        // A task of its own takes the permit: a caller that is not polled for a while, as one of
        // several futures, would keep a permit without using it.
        let mut task = AbortOnDrop(tokio::spawn(async move {
            let permit = share.acquire(&key, deadline).await?;
            let signal = WorkSignal { cancelled, ..WorkSignal::until(deadline) };
            let work = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                work(&signal)
            });
            work.await.map_err(|_| WorkRefusal::Failed)
        }));
        (&mut task.0).await.map_err(|_| WorkRefusal::Failed)?
    }
}

/// A task that ends with its caller.
struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Tells work on a thread when to return.
pub struct WorkSignal {
    cancelled: Arc<AtomicBool>,
    end: StdInstant,
}

/// Tells the work that its caller is gone, when this is dropped.
#[derive(Default)]
struct CancelSignal(Arc<AtomicBool>);

impl Drop for CancelSignal {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl WorkSignal {
    /// A slice that begins now and ends at `deadline` at the latest.
    pub fn until(deadline: Instant) -> Self {
        let left = deadline.saturating_duration_since(Instant::now());
        Self { cancelled: Arc::default(), end: StdInstant::now() + left.min(SLICE) }
    }

    /// Whether the slice is over.
    pub fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || StdInstant::now() >= self.end
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use tokio::time::Instant;

    use super::{FairSemaphore, WorkPool, WorkRefusal};

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_gets_no_more_than_its_share_and_leaves_the_rest_to_others() {
        let share = FairSemaphore::new(3, 2, 1);
        let (ada, ben): (Arc<str>, Arc<str>) = ("ada".into(), "ben".into());
        let held = [share.acquire(&ada, soon()).await, share.acquire(&ada, soon()).await];
        assert!(held.iter().all(Result::is_ok));
        let (third, fourth) =
            tokio::join!(share.acquire(&ada, soon()), share.acquire(&ada, soon()));
        assert_eq!(third.err(), Some(WorkRefusal::TimedOut), "it waits, and waiting has an end");
        assert_eq!(fourth.err(), Some(WorkRefusal::QueueFull));
        let other = share.acquire(&ben, soon()).await;
        assert!(other.is_ok(), "the share of another is free");
        drop((held, other));
        assert!(share.keys.lock().is_empty(), "a key without users is forgotten");
    }

    #[tokio::test]
    async fn a_caller_that_is_not_polled_keeps_no_thread_from_others() {
        let pool = WorkPool::new(FairSemaphore::new(1, 1, 8));
        let (ada, ben): (Arc<str>, Arc<str>) = ("ada".into(), "ben".into());
        let (go_on, wait) = mpsc::channel::<()>();
        let mut first = Box::pin(pool.run(&ben, soon(), move |_| wait.recv().ok()));
        let mut unpolled = Box::pin(pool.run(&ada, soon(), |_| 1));
        assert!((&mut first).now_or_never().is_none() && (&mut unpolled).now_or_never().is_none());
        go_on.send(()).ok();
        first.await.expect("it is done");
        // It has the only permit by now, or is done with it.
        assert_eq!(pool.run(&ben, soon(), |_| 2).await, Ok(2));
        assert_eq!(unpolled.await, Ok(1));
    }

    #[tokio::test]
    async fn work_is_told_when_its_caller_is_gone() {
        let pool = WorkPool::new(FairSemaphore::new(1, 1, 8));
        let key: Arc<str> = "ada".into();
        let (started, ended) = (tokio::sync::Notify::new(), mpsc::channel());
        let started = Arc::new(started);
        let tell = Arc::clone(&started);
        let work = pool.run(&key, Instant::now() + Duration::from_secs(3600), move |signal| {
            tell.notify_one();
            // Without the cancellation, the end of the slice would tell.
            while !signal.cancelled.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::yield_now();
            }
            ended.0.send(signal.is_over()).ok();
        });
        tokio::select! {
            _ = work => panic!("it ended by itself"),
            () = started.notified() => {}
        }
        assert_eq!(ended.1.recv(), Ok(true));
        assert_eq!(pool.run(&key, soon(), |_| 7).await, Ok(7), "its place is free again");
        let panicked = pool.run(&key, soon(), |_| panic!("on purpose")).await;
        assert_eq!(panicked, Err::<(), _>(WorkRefusal::Failed));
    }
}
