//! Memory budget: how many bytes the process, and each of its clients, may hold at a time.
//!
//! It counts what callers report, where they hold it. Nothing is allocated here.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// Shares beyond this number are searched for ones that nobody holds any more.
const MIN_SHARES: usize = 64;

/// A limit on bytes, within that of its parent.
#[derive(Debug)]
pub struct MemoryBudget {
    parent: Option<Arc<Self>>,
    limit: usize,
    held: AtomicUsize,
}

/// Bytes held in a budget until this is dropped.
#[derive(Debug)]
pub struct MemoryHold {
    budget: Arc<MemoryBudget>,
    bytes: usize,
}

impl MemoryBudget {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { parent: None, limit, held: AtomicUsize::new(0) })
    }

    /// A budget of at most `limit` bytes inside this one.
    pub fn child(self: &Arc<Self>, limit: usize) -> Arc<Self> {
        Arc::new(Self { parent: Some(Arc::clone(self)), limit, held: AtomicUsize::new(0) })
    }

    /// Holds `bytes`; `None` if that is more than the budget, or one around it, has left.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> Option<MemoryHold> {
        let mut hold = MemoryHold { budget: Arc::clone(self), bytes: 0 };
        hold.grow(bytes).then_some(hold)
    }

    /// Holds `bytes` that exist already, over the limit if need be: what runs is not harmed, and
    /// the next request is refused.
    pub fn hold_anyway(self: &Arc<Self>, bytes: usize) -> MemoryHold {
        self.chain().for_each(|budget| {
            budget.held.fetch_add(bytes, Ordering::Relaxed);
        });
        MemoryHold { budget: Arc::clone(self), bytes }
    }

    /// The bytes held now.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// This budget and those around it.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |budget| budget.parent.as_deref())
    }

    fn take(&self, bytes: usize) -> bool {
        let fits = |held: usize| held.checked_add(bytes).filter(|held| *held <= self.limit);
        self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl MemoryHold {
    /// Holds `bytes` more; false if they do not fit, and then nothing changes.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        for (taken, budget) in self.budget.chain().enumerate() {
            if !budget.take(bytes) {
                self.budget.chain().take(taken).for_each(|budget| budget.give_back(bytes));
                return false;
            }
        }
        self.bytes += bytes;
        true
    }

    /// Holds `bytes` that exist instead of those before, over the limit if need be.
    pub fn set(&mut self, bytes: usize) {
        for budget in self.budget.chain() {
            match bytes.checked_sub(self.bytes) {
                Some(more) => {
                    budget.held.fetch_add(more, Ordering::Relaxed);
                }
                None => budget.give_back(self.bytes - bytes),
            }
        }
        self.bytes = bytes;
    }

    /// The budget that it counts against.
    pub fn budget(&self) -> &Arc<MemoryBudget> {
        &self.budget
    }
}

impl Drop for MemoryHold {
    fn drop(&mut self) {
        self.budget.chain().for_each(|budget| budget.give_back(self.bytes));
    }
}

/// A budget of the whole process, and a share of it for each client.
#[derive(Debug)]
pub struct MemoryShares {
    whole: Arc<MemoryBudget>,
    share: usize,
    by_client: Mutex<HashMap<Box<str>, Arc<MemoryBudget>>>,
}

impl MemoryShares {
    /// A budget of `limit` bytes, of which one client gets at most `share`.
    pub fn new(limit: usize, share: usize) -> Self {
        Self::within(MemoryBudget::new(limit), share)
    }

    /// Shares of `whole`, in which others may hold bytes too; one client gets at most `share`.
    pub fn within(whole: Arc<MemoryBudget>, share: usize) -> Self {
        Self { whole, share, by_client: Mutex::default() }
    }

    /// The share of a client.
    pub fn of(&self, client: &str) -> Arc<MemoryBudget> {
        let mut shares = self.by_client.lock();
        if let Some(share) = shares.get(client) {
            return Arc::clone(share);
        }
        if shares.len() >= MIN_SHARES && shares.len() == shares.capacity() {
            shares.retain(|_, share| Arc::strong_count(share) > 1);
        }
        let share = self.whole.child(self.share);
        shares.insert(client.into(), Arc::clone(&share));
        share
    }

    /// The bytes held by all clients now.
    pub fn held(&self) -> usize {
        self.whole.held()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{MIN_SHARES, MemoryBudget, MemoryShares};

    #[test]
    fn a_hold_counts_until_it_is_dropped() {
        let budget = MemoryBudget::new(10);
        let mut hold = budget.hold(6).unwrap();
        assert!(budget.hold(5).is_none());
        assert!(hold.grow(4) && !hold.grow(1));
        assert_eq!(budget.held(), 10);
        drop(hold);
        assert_eq!(budget.held(), 0);
        assert!(budget.hold(10).is_some() && budget.hold(usize::MAX).is_none());
    }

    #[test]
    fn one_client_cannot_use_up_the_share_of_another() {
        let shares = MemoryShares::new(10, 6);
        let greedy = shares.of("greedy").hold(6).unwrap();
        assert!(shares.of("greedy").hold(1).is_none());
        let honest = shares.of("honest").hold(4).unwrap();
        assert!(shares.of("third").hold(1).is_none(), "the whole is used up");
        assert_eq!(shares.of("third").held(), 0, "what did not fit is not held");
        drop((greedy, honest));
        assert_eq!(shares.held(), 0);
    }

    #[test]
    fn what_exists_already_is_counted_over_the_limit() {
        let shares = MemoryShares::new(10, 10);
        let answer = shares.of("a").hold_anyway(25);
        assert!(shares.of("a").hold(1).is_none() && shares.of("b").hold(1).is_none());
        drop(answer);
        assert!(shares.of("b").hold(1).is_some());
    }

    #[test]
    fn a_buffer_that_grows_and_shrinks_is_counted_as_it_is() {
        let whole = MemoryBudget::new(10);
        let shares = MemoryShares::within(Arc::clone(&whole), 10);
        let mut buffer = whole.hold_anyway(0);
        for bytes in [4, 25, 25, 3] {
            buffer.set(bytes);
            assert_eq!(shares.held(), bytes);
            assert_eq!(shares.of("a").hold(1).is_some(), bytes < 10, "{bytes}");
        }
        drop(buffer);
        assert_eq!(whole.held(), 0);
    }

    #[test]
    fn shares_of_clients_that_are_gone_are_forgotten() {
        let shares = MemoryShares::new(10, 10);
        let kept = shares.of("kept").hold(1).unwrap();
        for client in 0..10 * MIN_SHARES {
            shares.of(&client.to_string());
        }
        assert!(shares.by_client.lock().len() < 4 * MIN_SHARES);
        assert_eq!(shares.of("kept").held(), 1);
        drop(kept);
    }
}
