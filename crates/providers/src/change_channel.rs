//! Coalescing channel for changes: one sender, one stream.
//!
//! It is a set, not a queue: it holds each URI once, with the latest change and the latest extra
//! fields, in the order of the first change.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use parking_lot::{Mutex, MutexGuard};
use resource::{Change, UnknownMembers, Uri};

/// The sending end. Dropping it ends the stream after the pending changes.
pub(crate) struct ChangeSender(Arc<SharedChangeBuffer>);

/// The receiving end, a stream. Dropping it runs the cleanup given at creation.
pub(crate) struct ChangeReceiver {
    shared: Arc<SharedChangeBuffer>,
    on_drop: Option<Box<dyn FnOnce() + Send>>,
}

#[derive(Default)]
struct SharedChangeBuffer(Mutex<ChangeBuffer>);

#[derive(Default)]
struct ChangeBuffer {
    /// In the order of the first change; `None` stands for the listing.
    order: VecDeque<Option<Uri>>,
    /// Whether each exists (or is removed), and the extra fields of the latest change.
    latest: HashMap<Option<Uri>, (bool, Option<Arc<UnknownMembers>>)>,
    waker: Option<Waker>,
    is_closed: bool,
}

impl ChangeSender {
    /// Creates both ends. The receiving end calls `leave` when it is dropped.
    pub(crate) fn channel(leave: impl FnOnce() + Send + 'static) -> (Self, ChangeReceiver) {
        let shared = Arc::new(SharedChangeBuffer::default());
        (Self(shared.clone()), ChangeReceiver { shared, on_drop: Some(Box::new(leave)) })
    }

    /// Adds a change, replacing a pending one about the same URI.
    pub(crate) fn send(&self, change: Change) {
        let (change, words) = change.into_parts();
        let (about, is_there) = match change {
            Change::Updated(uri) => (Some(uri), true),
            Change::Removed(uri) => (Some(uri), false),
            Change::Listing => (None, true),
            // Changes of tools and prompts do not travel through this channel.
            Change::Components(_) | Change::WithExtra(..) => return,
        };
        let mut waiting = self.0.lock();
        if waiting.latest.insert(about.clone(), (is_there, words)).is_none() {
            waiting.order.push_back(about);
        }
        waiting.wake();
    }

    /// True while the receiving end exists.
    pub(crate) fn has_receiver(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Number of pending changes.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.lock().order.len()
    }
}

impl Drop for ChangeSender {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        waiting.is_closed = true;
        waiting.wake();
    }
}

impl SharedChangeBuffer {
    fn lock(&self) -> MutexGuard<'_, ChangeBuffer> {
        self.0.lock()
    }
}

impl ChangeBuffer {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn pop(&mut self) -> Option<Change> {
        let about = self.order.pop_front()?;
        let (is_there, words) = self.latest.remove(&about).unwrap_or((true, None));
        let change = match about {
            Some(uri) if is_there => Change::Updated(uri),
            Some(uri) => Change::Removed(uri),
            None => Change::Listing,
        };
        Some(change.with_extra(words))
    }
}

impl Stream for ChangeReceiver {
    type Item = Change;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        let mut waiting = self.shared.lock();
        match waiting.pop() {
            Some(change) => Poll::Ready(Some(change)),
            None if waiting.is_closed => Poll::Ready(None),
            None => {
                waiting.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for ChangeReceiver {
    fn drop(&mut self) {
        if let Some(leave) = self.on_drop.take() {
            leave();
        }
    }
}
