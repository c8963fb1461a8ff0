//! Coalescing channel for changes: one sender, one stream.
//!
//! It is a set, not a queue: it holds each URI and list once, with the latest change and the latest extra
//! fields, in the order of the first change.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use hashlink::LinkedHashMap;
use parking_lot::Mutex;
use resource::{Change, Interest};

/// The sending end. Dropping it ends the stream after the pending changes.
pub(crate) struct ChangeSender(Arc<Mutex<ChangeBuffer>>);

/// The receiving end, a stream. Dropping it runs the cleanup given at creation.
pub(crate) struct ChangeReceiver {
    shared: Arc<Mutex<ChangeBuffer>>,
    on_drop: Option<Box<dyn FnOnce() + Send>>,
}

#[derive(Default)]
struct ChangeBuffer {
    /// The latest change of each subject, in the order of the first.
    pending: LinkedHashMap<Interest, Change>,
    waker: Option<Waker>,
    is_closed: bool,
}

impl ChangeSender {
    /// Creates both ends. The receiving end calls `leave` when it is dropped.
    pub(crate) fn channel(leave: impl FnOnce() + Send + 'static) -> (Self, ChangeReceiver) {
        let shared = Arc::new(Mutex::new(ChangeBuffer::default()));
        (Self(shared.clone()), ChangeReceiver { shared, on_drop: Some(Box::new(leave)) })
    }

    /// Adds a change, replacing a pending one about the same URI or list.
    pub(crate) fn send(&self, change: Change) {
        let about = match change.without_extra() {
            Change::Updated(uri) | Change::Removed(uri) => Interest::Resource(uri.clone()),
            Change::Listing => Interest::Listing,
            Change::Components(kind) => Interest::Components(*kind),
            // Extra fields do not nest.
            Change::WithExtra(..) => return,
        };
        let mut waiting = self.0.lock();
        waiting.pending.replace(about, change);
        waiting.wake();
    }

    /// True while the receiving end exists.
    pub(crate) fn has_receiver(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Number of pending changes.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.lock().pending.len()
    }
}

impl Drop for ChangeSender {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        waiting.is_closed = true;
        waiting.wake();
    }
}

impl ChangeBuffer {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Stream for ChangeReceiver {
    type Item = Change;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        let mut waiting = self.shared.lock();
        match waiting.pending.pop_front() {
            Some((_, change)) => Poll::Ready(Some(change)),
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
