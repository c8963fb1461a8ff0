//! Who is told of changes, and who looks for them?
//!
//! One task for each mount, and only while somebody listens. It looks at what the kernel named,
//! at most every few milliseconds, on a thread that may wait for a disk.

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

/// How long one waits between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// How long one waits at least before what could not be looked at is tried again.
const RETRY: Duration = Duration::from_millis(250);

/// Looking takes about one part in so many of the time, where one polls and much is to be seen.
const SHARE: u32 = 10;

/// Somebody who knows what a change means.
pub(crate) trait Lookout: Send + Sync + 'static {
    /// What is remembered for one who listens.
    type Memory: Send + 'static;

    fn desk(&self) -> &Desk<Self::Memory>;

    /// Brings `memory` up to date with what was `heard` and tells `feed` the difference. Blocks.
    fn look(&self, memory: &mut Self::Memory, heard: &Heard, feed: &Feed) -> Left;
}

/// What is left to do after a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    /// More to look at, once others had their turn.
    More,
    /// Something that cannot be looked at just now, and is to be tried again after a while.
    Failed,
}

/// All who listen to one mount.
pub(crate) struct Desk<M> {
    poll: Duration,
    most: usize,
    ears: Mutex<Option<Arc<Ears>>>,
    roll: Mutex<Roll<M>>,
    polls: AtomicBool,
    /// When that became so, or ceased to be.
    turned: Mutex<Option<SystemTime>>,
    serial: Arc<AtomicU64>,
    news: Arc<Notify>,
}

struct Roll<M> {
    /// By where each lies in memory, so that many can leave at once.
    parties: HashMap<usize, Arc<Party<M>>>,
    /// Whether somebody looks for changes.
    attended: bool,
}

/// One who listens.
pub(crate) struct Party<M> {
    pub(crate) memory: Mutex<M>,
    pub(crate) feed: Feed,
    owed: Mutex<Owed>,
}

/// What one who listens has still to look at.
#[derive(Default)]
struct Owed {
    heard: Heard,
    /// Whether the last look broke off, so that the next one is not taken at once.
    rests: bool,
}

impl<M> Party<M> {
    pub(crate) fn memory(&self) -> MutexGuard<'_, M> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Desk<M> {
    /// A desk where changes that are not told are looked for every `poll`, and at most `most`
    /// folders are watched.
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

    /// Where the kernel tells of changes, opened when first asked for.
    pub(crate) fn ears(&self) -> Result<Arc<Ears>, Deaf> {
        let mut ears = self.lock_ears();
        if let Some(ears) = &*ears {
            return Ok(ears.clone());
        }
        let opened = Ears::open(self.most, self.serial.clone(), self.news.clone())?;
        Ok(ears.insert(Arc::new(opened)).clone())
    }

    /// The same if it is open already.
    pub(crate) fn open_ears(&self) -> Option<Arc<Ears>> {
        self.lock_ears().clone()
    }

    /// Closes the ears if they listen to nothing.
    pub(crate) fn rest(&self) {
        let mut ears = self.lock_ears();
        if ears.as_ref().is_some_and(|ears| ears.len() == 0) {
            *ears = None;
        }
    }

    /// How often changes are looked for, if the kernel does not tell of all of them.
    pub(crate) fn polls(&self) -> Option<Duration> {
        self.polls.load(Ordering::Relaxed).then_some(self.poll)
    }

    /// How often changes would be looked for.
    pub(crate) fn every(&self) -> Duration {
        self.poll
    }

    /// Looks for changes from now on, until nobody listens any more.
    pub(crate) fn start_polling(&self) {
        if self.turn(true) {
            self.news.notify_one();
        }
    }

    /// When one began to look for changes, or ceased to; nothing, if one never did.
    pub(crate) fn turned(&self) -> Option<SystemTime> {
        *self.turned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether that is new.
    fn turn(&self, polls: bool) -> bool {
        let is_new = self.polls.swap(polls, Ordering::Relaxed) != polls;
        if is_new {
            let mut turned = self.turned.lock().unwrap_or_else(PoisonError::into_inner);
            *turned = Some(SystemTime::now());
        }
        is_new
    }

    /// Goes on looking where it was left off.
    pub(crate) fn wake(&self) {
        self.news.notify_one();
    }

    /// All who listen just now.
    pub(crate) fn parties(&self) -> Vec<Arc<Party<M>>> {
        self.lock_roll().parties.values().cloned().collect()
    }

    /// Whether somebody looks for changes.
    #[cfg(test)]
    pub(crate) fn is_attended(&self) -> bool {
        self.lock_roll().attended
    }

    fn leave(&self, party: &Weak<Party<M>>) {
        let gone = self.lock_roll().parties.remove(&party.as_ptr().addr());
        // What it remembers may be much, and is let go when nobody waits for the roll.
        drop(gone);
        self.news.notify_one();
    }

    /// Whether the one who looks for changes may go, since nobody listens.
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

/// Puts somebody who remembers `memory` on the roll, until the stream is dropped.
///
/// Whoever is on the roll before a folder is watched misses nothing of what is heard of it.
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

/// Looks for changes as long as somebody listens.
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
                tracing::error!(%error, "looking for changes broke off");
                tokio::time::sleep(RETRY).await;
                // Nobody knows who has looked at what was heard, and who has not.
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
        // Two looks are never closer than this, so that a busy disk does not keep us busy.
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

/// What is left to do after a round.
#[derive(Default)]
struct Rest {
    more: bool,
    failed: bool,
}

/// Lets everybody look at what was heard; at `all`, and `again` at what failed, if that is due.
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

/// Lets `party` look at what was heard, unless it is at it already; then it looks later.
fn turn<L: Lookout>(lookout: &L, party: &Party<L::Memory>, heard: &Heard) -> Left {
    let mut owed = party.owed.lock().unwrap_or_else(PoisonError::into_inner);
    if owed.rests && !heard.again {
        return Left::Failed;
    }
    let mut memory = match party.memory.try_lock() {
        Ok(memory) => memory,
        Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
        // Its first look may take long, and nobody else is to wait for it.
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
        tracing::error!("looking for changes broke off");
        *owed = Owed { heard: Heard::anything(), rests: true };
        Left::Failed
    })
}

/// `ears`, such that one can wait for them; without them, changes are looked for.
#[expect(
    deprecated,
    reason = "what replaces it is unsafe; ears own their descriptor and always name the same one"
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

/// Waits until then, or for ever.
async fn moment(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
