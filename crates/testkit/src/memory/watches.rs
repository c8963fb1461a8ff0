//! Change streams of the in-memory provider.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use parking_lot::Mutex;
use resource::{Change, Interest, Principal, Uri};

/// All open watches.
#[derive(Default)]
pub(super) struct MemoryWatches(Mutex<Vec<Weak<MemoryWatch>>>);

struct MemoryWatch {
    interest: Interest,
    principal: Principal,
    queue: Mutex<(VecDeque<Change>, Option<Waker>)>,
}

/// The change stream of one watch.
pub(super) struct MemoryChanges(Arc<MemoryWatch>);

impl MemoryWatches {
    pub(super) fn open(&self, interest: Interest, principal: &Principal) -> MemoryChanges {
        let (principal, queue) = (principal.clone(), Mutex::default());
        let watcher = Arc::new(MemoryWatch { interest, principal, queue });
        self.0.lock().push(Arc::downgrade(&watcher));
        MemoryChanges(watcher)
    }

    pub(super) fn count(&self) -> usize {
        self.0.lock().iter().filter(|watcher| watcher.strong_count() > 0).count()
    }

    /// Sends `change` to every watch that it touches; `parents` are the collections that contain
    /// the changed resource, `owner` is the only principal for which it exists.
    pub(super) fn send(&self, change: &Change, parents: &[Uri], owner: Option<&str>) {
        let mut all = self.0.lock();
        all.retain(|watcher| watcher.strong_count() > 0);
        for watcher in all.iter().filter_map(Weak::upgrade) {
            let may_know = owner.is_none_or(|owner| *owner == **watcher.principal.key());
            if !may_know || !touches(change, &watcher.interest, parents) {
                continue;
            }
            let mut heard = watcher.queue.lock();
            if !heard.0.contains(change) {
                heard.0.push_back(change.clone());
            }
            if let Some(waker) = heard.1.take() {
                waker.wake();
            }
        }
    }
}

impl Stream for MemoryChanges {
    type Item = Change;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        let mut heard = self.0.queue.lock();
        match heard.0.pop_front() {
            Some(change) => Poll::Ready(Some(change)),
            None => {
                heard.1 = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn touches(change: &Change, interest: &Interest, parents: &[Uri]) -> bool {
    match (interest, change.without_extra()) {
        (Interest::Everything, _) => true,
        (Interest::Listing, change) => *change == Change::Listing,
        (Interest::Components(component), change) => *change == Change::Components(*component),
        (Interest::Resource(wanted), Change::Updated(uri) | Change::Removed(uri)) => {
            wanted == uri || parents.contains(wanted)
        }
        (Interest::Resource(_), _) => false,
    }
}
