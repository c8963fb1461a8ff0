//! How often was what asked, and how much of it is still under way?

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts of the requests that reached a provider.
#[derive(Debug, Default)]
pub struct Counts {
    lists: AtomicUsize,
    stats: AtomicUsize,
    reads: AtomicUsize,
    calls: AtomicUsize,
    running: AtomicUsize,
}

impl Counts {
    /// How often a page of resources was asked for.
    pub fn lists(&self) -> usize {
        self.lists.load(Ordering::SeqCst)
    }

    /// How often a description was asked for.
    pub fn stats(&self) -> usize {
        self.stats.load(Ordering::SeqCst)
    }

    /// How often content was asked for.
    pub fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    /// How often a tool or a prompt was called.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// How many requests have neither been answered nor dropped.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

/// A request under way, until it is dropped.
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
