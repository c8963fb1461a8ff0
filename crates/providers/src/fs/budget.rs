//! Work budget and cancellation of one request.
//!
//! An inline budget is small, so that work on an async thread stays short. Work on a blocking
//! thread is unlimited, but stops when its request is dropped.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use machinery::Flight;
use resource::Context;

use super::error::{cancelled, over_budget, scan_in_progress};
use crate::permits::PrincipalPermits;

/// Names that may be read inline before the work moves to a blocking thread.
const MAX_INLINE_NAMES: usize = 8_192;

/// Time that inline work may take before it moves to a blocking thread: a name costs more where
/// there are many ignore patterns or a costly filter.
const MAX_INLINE_TIME: Duration = Duration::from_millis(50);

/// Steps between two looks at the clock.
const CLOCK_CHECK_INTERVAL: u64 = 16;

/// How often one request waits for another request's scan before it scans a folder itself.
const MAX_SCAN_WAITS: usize = 8;

/// Names read between two checks for cancellation.
const CANCEL_CHECK_INTERVAL: u64 = 256;

/// The budget of one request.
pub(super) struct WorkBudget {
    /// Names that may still be read; `None` if unlimited.
    remaining: Cell<Option<usize>>,
    started: Instant,
    steps: Cell<u64>,
    names_read: Cell<u64>,
    /// Receives progress reports.
    ctx: Option<Context>,
    /// For what the request reads after the work.
    permits: Option<PrincipalPermits>,
    cancelled: Option<Arc<AtomicBool>>,
    waits_left: Cell<usize>,
    awaited_scan: RefCell<Option<Flight<()>>>,
}

/// Cancels the work of one request when dropped.
#[derive(Default)]
pub(super) struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl WorkBudget {
    /// A budget small enough to run on an async thread. `permits` are for what is read later.
    pub(super) fn inline(permits: Option<PrincipalPermits>) -> Self {
        Self {
            remaining: Cell::new(Some(MAX_INLINE_NAMES)),
            started: Instant::now(),
            steps: Cell::new(0),
            names_read: Cell::new(0),
            ctx: None,
            permits,
            cancelled: None,
            waits_left: Cell::new(0),
            awaited_scan: RefCell::new(None),
        }
    }

    /// An unlimited budget that `attendance` cancels and that reports progress to `ctx`.
    pub(super) fn blocking(
        (ctx, permits): (Context, PrincipalPermits),
        attendance: &CancelOnDrop,
    ) -> Self {
        Self {
            remaining: Cell::new(None),
            ctx: Some(ctx),
            cancelled: Some(attendance.0.clone()),
            waits_left: Cell::new(MAX_SCAN_WAITS),
            ..Self::inline(Some(permits))
        }
    }

    /// An unlimited budget that nothing cancels and that does not wait for other requests' scans.
    pub(super) fn background() -> Self {
        Self { remaining: Cell::new(None), ..Self::inline(None) }
    }

    /// The permits for what the request reads after the work.
    pub(super) fn permits(&self) -> Option<PrincipalPermits> {
        self.permits.clone()
    }

    pub(super) fn is_unlimited(&self) -> bool {
        self.remaining.get().is_none()
    }

    /// An error unless the budget is unlimited.
    pub(super) fn require_unlimited(&self) -> io::Result<()> {
        if self.is_unlimited() { Ok(()) } else { Err(over_budget()) }
    }

    /// True if the request should wait for another's scan instead of repeating it.
    pub(super) fn may_wait(&self) -> bool {
        self.waits_left.get() > 0
    }

    /// Records that the request waits for `others`, and returns the error that stops its work until
    /// then.
    pub(super) fn await_scan(&self, waiter: Flight<()>) -> io::Error {
        self.waits_left.set(self.waits_left.get().saturating_sub(1));
        self.awaited_scan.replace(Some(waiter));
        scan_in_progress()
    }

    /// Takes the scan that the request waits for, if any.
    pub(super) fn take_awaited_scan(&self) -> Option<Flight<()>> {
        self.awaited_scan.take()
    }

    /// An error if the request was dropped, or if inline work takes too long.
    pub(super) fn check_cancelled(&self) -> io::Result<()> {
        self.steps.set(self.steps.get() + 1);
        let looks = !self.is_unlimited() && self.steps.get().is_multiple_of(CLOCK_CHECK_INTERVAL);
        match &self.cancelled {
            Some(gone) if gone.load(Ordering::Relaxed) => Err(cancelled()),
            _ if looks && self.started.elapsed() > MAX_INLINE_TIME => Err(over_budget()),
            _ => Ok(()),
        }
    }

    /// Spends `amount` names, or fails if the budget is exceeded or the request was dropped.
    pub(super) fn spend(&self, amount: usize) -> io::Result<()> {
        if let Some(left) = self.remaining.get() {
            self.remaining.set(Some(left.checked_sub(amount).ok_or_else(over_budget)?));
        }
        self.check_cancelled()
    }

    /// Spends one name; reports progress every 10,000 names.
    pub(super) fn spend_name(&self) -> io::Result<()> {
        let seen = self.names_read.get() + 1;
        self.names_read.set(seen);
        if seen.is_multiple_of(10_000)
            && let Some(ctx) = &self.ctx
        {
            ctx.report_progress(seen, None);
        }
        if self.is_unlimited() && !seen.is_multiple_of(CANCEL_CHECK_INTERVAL) {
            return Ok(());
        }
        self.spend(1)
    }
}
