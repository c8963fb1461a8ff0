//! Work budget and cancellation of one request.
//!
//! An inline budget is small, so that work on an async thread stays short. Work on a blocking
//! thread is unlimited, but stops when its request is dropped.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use resource::Context;

use super::fault::{taken, too_long, unattended};
use super::turns::Others;

/// Names that may be read inline before the work moves to a blocking thread.
const BRIEF: usize = 8_192;

/// How often one request waits for another request's scan before it scans a folder itself.
const PATIENCE: usize = 8;

/// Names read between two checks for cancellation.
const LOOK_UP: u64 = 256;

/// The budget of one request.
pub(super) struct Effort {
    /// Names that may still be read; `None` if unlimited.
    left: Cell<Option<usize>>,
    seen: Cell<u64>,
    ctx: Context,
    gone: Option<Arc<AtomicBool>>,
    patience: Cell<usize>,
    others: RefCell<Option<Others>>,
}

/// Cancels the work of one request when dropped.
#[derive(Default)]
pub(super) struct Attendance(Arc<AtomicBool>);

impl Drop for Attendance {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Effort {
    /// A budget small enough to run on an async thread.
    pub(super) fn brief() -> Self {
        Self {
            left: Cell::new(Some(BRIEF)),
            seen: Cell::new(0),
            ctx: Context::default(),
            gone: None,
            patience: Cell::new(0),
            others: RefCell::new(None),
        }
    }

    /// An unlimited budget that `attendance` cancels and that reports progress to `ctx`.
    pub(super) fn long(ctx: Context, attendance: &Attendance) -> Self {
        Self {
            left: Cell::new(None),
            ctx,
            gone: Some(attendance.0.clone()),
            patience: Cell::new(PATIENCE),
            ..Self::brief()
        }
    }

    /// An unlimited budget that nothing cancels and that does not wait for other requests' scans.
    pub(super) fn steady() -> Self {
        Self { left: Cell::new(None), ..Self::brief() }
    }

    pub(super) fn is_long(&self) -> bool {
        self.left.get().is_none()
    }

    /// An error unless the budget is unlimited.
    pub(super) fn must_be_long(&self) -> io::Result<()> {
        if self.is_long() { Ok(()) } else { Err(too_long()) }
    }

    /// True if the request should wait for another's scan instead of repeating it.
    pub(super) fn is_patient(&self) -> bool {
        self.patience.get() > 0
    }

    /// Records that the request waits for `others`, and returns the error that stops its work until
    /// then.
    pub(super) fn wait_for(&self, others: Others) -> io::Error {
        self.patience.set(self.patience.get().saturating_sub(1));
        self.others.replace(Some(others));
        taken()
    }

    /// Takes the scan that the request waits for, if any.
    pub(super) fn others(&self) -> Option<Others> {
        self.others.take()
    }

    /// An error if the request was dropped.
    pub(super) fn attended(&self) -> io::Result<()> {
        match &self.gone {
            Some(gone) if gone.load(Ordering::Relaxed) => Err(unattended()),
            _ => Ok(()),
        }
    }

    /// Spends `amount` names, or fails if the budget is exceeded or the request was dropped.
    pub(super) fn spend(&self, amount: usize) -> io::Result<()> {
        match self.left.get() {
            None => self.attended(),
            Some(left) => {
                self.left.set(Some(left.checked_sub(amount).ok_or_else(too_long)?));
                Ok(())
            }
        }
    }

    /// Spends one name; reports progress every 10,000 names.
    pub(super) fn count(&self) -> io::Result<()> {
        let seen = self.seen.get() + 1;
        self.seen.set(seen);
        if seen.is_multiple_of(10_000) {
            self.ctx.report(seen, None);
        }
        if self.is_long() && !seen.is_multiple_of(LOOK_UP) {
            return Ok(());
        }
        self.spend(1)
    }
}
