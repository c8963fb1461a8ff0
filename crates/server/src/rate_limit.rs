//! Token-bucket rate limit, with a bucket for each principal. Time that passes unused never saves
//! up more than one second.

use std::sync::Arc;

use machinery::{Cache, CacheBounds};
use parking_lot::Mutex;
use resource::Principal;
use tokio::time::Instant;

/// The most buckets: that of the principal that has been silent for the longest time makes room.
const MAX_BUCKETS: usize = 1024;

/// Admits `rate` requests per second of each principal, in bursts of at most `rate`.
pub(crate) struct RateLimit {
    rate: f64,
    buckets: Cache<Arc<str>, Arc<Mutex<TokenBucket>>>,
}

struct TokenBucket {
    tokens: f64,
    refilled_at: Instant,
}

impl RateLimit {
    pub(crate) fn new(rate: u32) -> Self {
        let buckets = Cache::new(CacheBounds::entries(MAX_BUCKETS));
        Self { rate: f64::from(rate), buckets }
    }

    /// Takes one token of `principal`; false if none is left.
    pub(crate) fn try_take(&self, principal: &Principal) -> bool {
        let key = principal.key();
        let bucket = self.buckets.get(key).unwrap_or_else(|| {
            let full = TokenBucket { tokens: self.rate, refilled_at: Instant::now() };
            let bucket = Arc::new(Mutex::new(full));
            self.buckets.insert(Arc::clone(key), Arc::clone(&bucket), 0);
            bucket
        });
        bucket.lock().try_take(self.rate)
    }
}

impl TokenBucket {
    fn try_take(&mut self, rate: f64) -> bool {
        let now = Instant::now();
        let since = now.duration_since(self.refilled_at).as_secs_f64();
        self.tokens = rate.min(self.tokens + since * rate);
        self.refilled_at = now;
        let admits = self.tokens >= 1.0;
        if admits {
            self.tokens -= 1.0;
        }
        admits
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use resource::Principal;

    use super::{MAX_BUCKETS, RateLimit};

    #[tokio::test(start_paused = true)]
    async fn a_second_brings_as_many_again() {
        let (pace, local) = (RateLimit::new(3), Principal::local());
        let admitted = |tries: usize| (0..tries).filter(|_| pace.try_take(&local)).count();
        assert_eq!(admitted(5), 3);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(admitted(5), 3);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(admitted(5), 3, "patience is not saved up");
    }

    #[tokio::test(start_paused = true)]
    async fn a_principal_that_floods_takes_nothing_from_another() {
        let pace = RateLimit::new(3);
        let [greedy, modest] = ["ada", "alan"].map(Principal::authenticated);
        let admitted = |principal: &Principal| (0..5).filter(|_| pace.try_take(principal)).count();
        assert_eq!((admitted(&greedy), admitted(&modest)), (3, 3));
        tokio::time::advance(Duration::from_millis(400)).await;
        assert_eq!((admitted(&greedy), admitted(&modest)), (1, 1));
        for number in 0..2 * MAX_BUCKETS {
            pace.try_take(&Principal::authenticated(&number.to_string()));
        }
        assert_eq!(pace.buckets.len(), MAX_BUCKETS);
    }
}
