//! Request counters of the in-memory provider: totals per method, and requests in flight.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The numbers of requests that reached the provider.
#[derive(Debug, Default)]
pub struct RequestCounts {
    lists: AtomicUsize,
    stats: AtomicUsize,
    reads: AtomicUsize,
    calls: AtomicUsize,
    in_flight: AtomicUsize,
}

impl RequestCounts {
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
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }
}

/// Guard of a request in flight. Dropping it ends the request.
pub(super) struct RequestGuard<'a>(&'a AtomicUsize);

impl<'a> RequestGuard<'a> {
    pub(super) fn list(counts: &'a RequestCounts) -> Self {
        Self::begin(&counts.lists, &counts.in_flight)
    }

    pub(super) fn stat(counts: &'a RequestCounts) -> Self {
        Self::begin(&counts.stats, &counts.in_flight)
    }

    pub(super) fn read(counts: &'a RequestCounts) -> Self {
        Self::begin(&counts.reads, &counts.in_flight)
    }

    pub(super) fn call(counts: &'a RequestCounts) -> Self {
        Self::begin(&counts.calls, &counts.in_flight)
    }

    fn begin(asked: &AtomicUsize, running: &'a AtomicUsize) -> Self {
        asked.fetch_add(1, Ordering::SeqCst);
        running.fetch_add(1, Ordering::SeqCst);
        Self(running)
    }
}

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
