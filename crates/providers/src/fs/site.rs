//! What does a served folder know and keep between requests?

use std::cell::Cell;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use resource::{Context, Freshness, Scope};

use super::confine::Root;
use super::folder::Names;
use super::options::{Listing, Options};
use super::shelf::Shelf;
use super::visible::Rulebook;

/// How much the names of folders may take in memory.
const KEPT_NAMES: usize = 32 * 1024 * 1024;

/// One served folder.
pub(super) struct Site {
    pub(super) root: Root,
    pub(super) hidden: bool,
    pub(super) listing: Listing,
    pub(super) freshness: Freshness,
    pub(super) rules: Rulebook,
    pub(super) names: Shelf<Arc<Names>>,
    /// How old a change must be before its date is trusted.
    pub(super) margin: Duration,
    /// Held while a large folder is read, so that ten askers do not read it ten times.
    pub(super) reading: Mutex<()>,
}

impl Site {
    pub(super) fn open(options: Options) -> io::Result<Self> {
        let Options { root, listing, hidden, ttl } = options;
        let root = Root::open(&root)?;
        // A server's clock and ours may differ, and its ticks may be whole seconds.
        let margin = Duration::from_millis(if root.local { 50 } else { 2_000 });
        Ok(Self {
            root,
            hidden,
            listing,
            freshness: Freshness { ttl, scope: Scope::Private },
            rules: Rulebook::new(margin),
            names: Shelf::new(KEPT_NAMES),
            margin,
            reading: Mutex::new(()),
        })
    }
}

/// How much work may be done before it belongs on a thread of its own.
pub(super) struct Effort {
    left: Cell<Option<usize>>,
    seen: Cell<u64>,
    ctx: Context,
}

impl Effort {
    /// So little that nobody else is held up.
    pub(super) fn brief() -> Self {
        Self { left: Cell::new(Some(8_192)), seen: Cell::new(0), ctx: Context::default() }
    }

    /// As much as it takes, with reports to `ctx`.
    pub(super) fn long(ctx: Context) -> Self {
        Self { left: Cell::new(None), seen: Cell::new(0), ctx }
    }

    pub(super) fn is_long(&self) -> bool {
        self.left.get().is_none()
    }

    /// Does `amount` of work, counted in names of a folder read, or says that it is too much.
    pub(super) fn spend(&self, amount: usize) -> io::Result<()> {
        if let Some(left) = self.left.get() {
            let left = left.checked_sub(amount).ok_or(io::ErrorKind::WouldBlock)?;
            self.left.set(Some(left));
        }
        Ok(())
    }

    /// Counts one name, and reports now and then.
    pub(super) fn count(&self) -> io::Result<()> {
        let seen = self.seen.get() + 1;
        self.seen.set(seen);
        if seen.is_multiple_of(10_000) {
            self.ctx.report(seen, None);
        }
        self.spend(1)
    }
}
