//! How much work may one request be, and does anybody still wait for it?

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use resource::Context;

use super::fault::{taken, too_long, unattended};
use super::turns::Others;

/// So many names are read before the work belongs on a thread of its own.
const BRIEF: usize = 8_192;

/// How often one request waits for folders that others read, before it reads them itself.
const PATIENCE: usize = 8;

/// After so many names it is asked whether anybody still waits.
const LOOK_UP: u64 = 256;

/// The work of one request.
pub(super) struct Effort {
    /// What may still be done; without an end on a thread that may wait.
    left: Cell<Option<usize>>,
    seen: Cell<u64>,
    ctx: Context,
    gone: Option<Arc<AtomicBool>>,
    patience: Cell<usize>,
    others: RefCell<Option<Others>>,
}

/// Held by whoever waits for work; dropping it tells the work to stop.
#[derive(Default)]
pub(super) struct Attendance(Arc<AtomicBool>);

impl Drop for Attendance {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Effort {
    /// So little that nobody else is held up.
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

    /// As much as it takes while somebody is in attendance, with reports to `ctx`.
    pub(super) fn long(ctx: Context, attendance: &Attendance) -> Self {
        Self {
            left: Cell::new(None),
            ctx,
            gone: Some(attendance.0.clone()),
            patience: Cell::new(PATIENCE),
            ..Self::brief()
        }
    }

    /// As much as it takes, without waiting for others.
    pub(super) fn steady() -> Self {
        Self { left: Cell::new(None), ..Self::brief() }
    }

    pub(super) fn is_long(&self) -> bool {
        self.left.get().is_none()
    }

    /// An error unless all of the work may be done here.
    pub(super) fn must_be_long(&self) -> io::Result<()> {
        if self.is_long() { Ok(()) } else { Err(too_long()) }
    }

    /// Whether it would rather wait for others than do what they do.
    pub(super) fn is_patient(&self) -> bool {
        self.patience.get() > 0
    }

    /// Says that the work goes on when `others` are done.
    pub(super) fn wait_for(&self, others: Others) -> io::Error {
        self.patience.set(self.patience.get().saturating_sub(1));
        self.others.replace(Some(others));
        taken()
    }

    /// Whom the work waits for, if it does.
    pub(super) fn others(&self) -> Option<Others> {
        self.others.take()
    }

    /// An error if nobody waits for this work any more.
    pub(super) fn attended(&self) -> io::Result<()> {
        match &self.gone {
            Some(gone) if gone.load(Ordering::Relaxed) => Err(unattended()),
            _ => Ok(()),
        }
    }

    /// Does `amount` of work, counted in names of a folder read, or says that it is too much.
    pub(super) fn spend(&self, amount: usize) -> io::Result<()> {
        match self.left.get() {
            None => self.attended(),
            Some(left) => {
                self.left.set(Some(left.checked_sub(amount).ok_or_else(too_long)?));
                Ok(())
            }
        }
    }

    /// Counts one name, and reports now and then.
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
