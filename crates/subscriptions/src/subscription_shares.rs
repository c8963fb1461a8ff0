//! Fair share of subscriptions: whatever a principal takes, it leaves places to others.
//!
//! A subscription cannot be taken away unnoticed, so the share depends on what is free now.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

/// A principal may hold this many times what is free: alone it gets three quarters of all, and the
/// next one three quarters of the rest.
const SHARE_OF_FREE: usize = 3;

/// A number of places for subscriptions.
pub(crate) struct SubscriptionShares {
    max: usize,
    taken: Mutex<TakenSubscriptions>,
}

#[derive(Default)]
struct TakenSubscriptions {
    total: usize,
    by_principal: HashMap<Arc<str>, usize>,
}

/// A place of one principal, until it is dropped.
pub(crate) struct SubscriptionPlace {
    shares: Arc<SubscriptionShares>,
    principal: Arc<str>,
}

impl SubscriptionShares {
    /// `max` places.
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, taken: Mutex::default() })
    }

    /// A place for `principal`; `None` if it has its share, or all are taken.
    pub(crate) fn take(self: &Arc<Self>, principal: &Arc<str>) -> Option<SubscriptionPlace> {
        let mut taken = self.taken.lock();
        let free = self.max.saturating_sub(taken.total);
        let own = taken.by_principal.get(principal).copied().unwrap_or(0);
        if own >= free.saturating_mul(SHARE_OF_FREE) {
            return None;
        }
        taken.total += 1;
        taken.by_principal.insert(Arc::clone(principal), own + 1);
        Some(SubscriptionPlace { shares: Arc::clone(self), principal: Arc::clone(principal) })
    }
}

impl Drop for SubscriptionPlace {
    fn drop(&mut self) {
        let mut taken = self.shares.taken.lock();
        taken.total -= 1;
        if let Some(own) = taken.by_principal.get_mut(&self.principal) {
            *own -= 1;
            if *own == 0 {
                taken.by_principal.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::SubscriptionShares;

    #[test]
    fn each_principal_gets_a_share_and_places_that_are_given_back_are_free_again() {
        let shares = SubscriptionShares::new(64);
        let fill = |name: &str| {
            let name: Arc<str> = name.into();
            std::iter::from_fn(|| shares.take(&name)).collect::<Vec<_>>()
        };
        let held = ["ada", "ben", "carl", "dora"].map(fill);
        assert_eq!(held.each_ref().map(Vec::len), [48, 12, 3, 1]);
        assert!(fill("eve").is_empty(), "there is none left");
        drop(held);
        assert!(shares.taken.lock().by_principal.is_empty());
        assert_eq!(fill("eve").len(), 48);
    }
}
