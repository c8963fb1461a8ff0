//! Request counters of the in-memory provider: totals per method, and requests in flight.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The numbers of requests that reached the provider.
#[derive(Debug, Default)]
pub struct Counts {
    lists: AtomicUsize,
    stats: AtomicUsize,
    reads: AtomicUsize,
    calls: AtomicUsize,
    running: AtomicUsize,
}

impl Counts {
    /// The number of list requests: resources, tools and prompts.
    pub fn lists(&self) -> usize {
        self.lists.load(Ordering::SeqCst)
    }

    /// The number of stat requests.
    pub fn stats(&self) -> usize {
        self.stats.load(Ordering::SeqCst)
    }

    /// The number of read requests.
    pub fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    /// The number of tool calls and prompt requests.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// The number of requests in flight: neither answered nor dropped.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

/// Guard of a request in flight. Dropping it ends the request.
pub(super) struct Running<'a>(&'a AtomicUsize);

impl<'a> Running<'a> {
    pub(super) fn list(counts: &'a Counts) -> Self {
        Self::begin(&counts.lists, &counts.running)
    }

    pub(super) fn stat(counts: &'a Counts) -> Self {
        Self::begin(&counts.stats, &counts.running)
    }

    pub(super) fn read(counts: &'a Counts) -> Self {
        Self::begin(&counts.reads, &counts.running)
    }

    pub(super) fn call(counts: &'a Counts) -> Self {
        Self::begin(&counts.calls, &counts.running)
    }

    fn begin(asked: &AtomicUsize, running: &'a AtomicUsize) -> Self {
        asked.fetch_add(1, Ordering::SeqCst);
        running.fetch_add(1, Ordering::SeqCst);
        Self(running)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
