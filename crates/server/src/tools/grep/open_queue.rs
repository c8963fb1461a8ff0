//! The prefetch queue of a search: resources being opened concurrently, taken in order.

use std::collections::VecDeque;
use std::future::{self, Future};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use machinery::MemoryHold;
use resource::{Resource, Result};

use super::position::SearchPosition;
use super::text_reader::TextReader;

/// The queue, and how far the walk that fills it has come.
pub(super) struct OpenQueue<'a> {
    opening: FuturesOrdered<Pin<Box<dyn Future<Output = Result<TextReader>> + Send + 'a>>>,
    /// What was opened beside other work, the first to take first.
    opened: VecDeque<Result<TextReader>>,
    pub(super) queued: VecDeque<QueuedResource>,
    /// The resource for which there was no memory yet.
    pub(super) waiting: Option<Arc<Resource>>,
    /// The listing position after the last queued resource.
    pub(super) position_after: Vec<u8>,
    pub(super) scanned: u64,
    pub(super) ended: bool,
}

/// A resource that is being opened.
pub(super) struct QueuedResource {
    /// The listing position before it.
    pub(super) position: Vec<u8>,
    pub(super) resource: Arc<Resource>,
    /// What its text holds, until it is searched.
    pub(super) _memory: MemoryHold,
}

impl<'a> OpenQueue<'a> {
    /// An empty queue before the resources after `position`.
    pub(super) fn new(position: Vec<u8>) -> Self {
        Self {
            opening: FuturesOrdered::new(),
            opened: VecDeque::new(),
            queued: VecDeque::new(),
            waiting: None,
            position_after: position,
            scanned: 0,
            ended: false,
        }
    }

    pub(super) fn push(
        &mut self,
        resource: QueuedResource,
        opening: impl Future<Output = Result<TextReader>> + Send + 'a,
    ) {
        self.opening.push_back(Box::pin(opening));
        self.queued.push_back(resource);
    }

    /// The outcome of the first queued resource that was not taken; `None` if there is none.
    pub(super) async fn next_opened(&mut self) -> Option<Result<TextReader>> {
        match self.opened.pop_front() {
            Some(opened) => Some(opened),
            None => self.opening.next().await,
        }
    }

    /// Does `work` while the queued resources are being opened. A source gives its places in turn:
    /// without this, `work` could wait for a place behind openings that have theirs and stand still.
    pub(super) async fn open_beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        future::poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            while let Poll::Ready(Some(opened)) = self.opening.poll_next_unpin(context) {
                self.opened.push_back(opened);
            }
            Poll::Pending
        })
        .await
    }

    /// The position before the next queued resource.
    pub(super) fn next_position(mut self) -> SearchPosition {
        let next = self.queued.pop_front().map(|queued| queued.position);
        SearchPosition { list_position: next.unwrap_or(self.position_after), resume_line: None }
    }
}
