//! TTL cache with a grace period, bounded by entries and by bytes.
//!
//! An entry is fresh until its TTL ends. Until its grace period ends, it still serves a client
//! that continues a walk or a windowed read. An epoch keeps out responses that were requested
//! before an invalidation.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How fresh a cached entry must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Within its TTL.
    Fresh,
    /// Within its TTL or its grace period.
    Begun,
}

/// Cached responses by key.
pub(super) struct Keep<K, V> {
    shelf: Mutex<Shelf<K, V>>,
    most: usize,
    bytes: usize,
}

struct Shelf<K, V> {
    kept: HashMap<K, Kept<V>>,
    bytes: usize,
    /// Counts invalidations.
    epoch: u64,
}

struct Kept<V> {
    value: Arc<V>,
    at: Instant,
    fresh: Instant,
    until: Instant,
    weight: usize,
}

/// How long an entry is cached, and its weight in bytes.
pub(super) struct Worth {
    pub(super) ttl: Duration,
    pub(super) grace: Duration,
    pub(super) weight: usize,
}

impl<K: Hash + Eq + Clone, V> Keep<K, V> {
    pub(super) fn new(most: usize, bytes: usize) -> Self {
        let shelf = Shelf { kept: HashMap::new(), bytes: 0, epoch: 0 };
        Self { shelf: Mutex::new(shelf), most, bytes }
    }

    /// The cached response, and its remaining TTL.
    pub(super) fn get(&self, key: &K, need: Need) -> Option<(Arc<V>, Duration)> {
        let shelf = self.lock();
        let kept = shelf.kept.get(key)?;
        let now = Instant::now();
        let end = match need {
            Need::Fresh => kept.fresh,
            Need::Begun => kept.until,
        };
        let left = kept.fresh.saturating_duration_since(now);
        (now < end).then(|| (Arc::clone(&kept.value), left))
    }

    /// The cached response, whatever its age.
    pub(super) fn last(&self, key: &K) -> Option<Arc<V>> {
        self.lock().kept.get(key).map(|kept| Arc::clone(&kept.value))
    }

    /// The current epoch. Read it before a request, and pass it to `put` with the response.
    pub(super) fn epoch(&self) -> u64 {
        self.lock().epoch
    }

    /// Caches a response, unless the cache was invalidated since `epoch` or it is too large.
    pub(super) fn put(&self, epoch: u64, key: K, value: Arc<V>, worth: &Worth) {
        let Worth { ttl, grace, weight } = *worth;
        let mut shelf = self.lock();
        if shelf.epoch != epoch || weight > self.bytes {
            return;
        }
        let at = Instant::now();
        let kept = Kept { value, at, fresh: at + ttl, until: at + ttl.max(grace), weight };
        shelf.remove(&key);
        shelf.bytes += weight;
        shelf.kept.insert(key, kept);
        if shelf.kept.len() > self.most || shelf.bytes > self.bytes {
            shelf.shrink(self.most, self.bytes, at);
        }
    }

    /// Removes the entries that `is_meant` selects. Responses to all requests that are in flight,
    /// whatever their keys, will not be cached.
    pub(super) fn forget(&self, is_meant: impl Fn(&K) -> bool) {
        let mut shelf = self.lock();
        shelf.epoch += 1;
        let meant: Vec<K> = shelf.kept.keys().filter(|key| is_meant(key)).cloned().collect();
        meant.iter().for_each(|key| shelf.remove(key));
    }

    fn lock(&self) -> MutexGuard<'_, Shelf<K, V>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone, V> Shelf<K, V> {
    fn remove(&mut self, key: &K) {
        if let Some(old) = self.kept.remove(key) {
            self.bytes -= old.weight;
        }
    }

    /// Removes all expired entries, then the oldest ones until the cache is within its bounds.
    fn shrink(&mut self, most: usize, bytes: usize, now: Instant) {
        let mut ages: Vec<(bool, Instant, K)> =
            self.kept.iter().map(|(key, kept)| (kept.until > now, kept.at, key.clone())).collect();
        ages.sort_by_key(|(is_good, at, _)| (*is_good, *at));
        for (is_good, _, key) in ages {
            let is_full = self.kept.len() > most || self.bytes > bytes;
            if is_good && !is_full {
                return;
            }
            self.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Keep, Need, Worth};

    fn worth(ttl: u64, weight: usize) -> Worth {
        Worth { ttl: Duration::from_secs(ttl), grace: Duration::from_secs(10), weight }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_fresh_first_and_then_good_enough_to_go_on_with() {
        let keep = Keep::new(10, 100);
        keep.put(keep.epoch(), "a", Arc::new(1), &worth(3, 1));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(keep.get(&"a", Need::Fresh).unwrap().1, Duration::from_secs(1));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(keep.get(&"a", Need::Fresh).is_none());
        assert_eq!(keep.get(&"a", Need::Begun).unwrap().1, Duration::ZERO);
        tokio::time::advance(Duration::from_secs(7)).await;
        assert!(keep.get(&"a", Need::Begun).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_asked_before_something_was_taken_back_is_not_kept() {
        let keep = Keep::new(10, 100);
        let epoch = keep.epoch();
        keep.forget(|key| *key == "a");
        keep.put(epoch, "a", Arc::new(1), &worth(3, 1));
        assert!(keep.get(&"a", Need::Begun).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_kept_is_bounded_by_count_and_by_weight() {
        let keep = Keep::new(3, 100);
        for key in 0..50 {
            keep.put(keep.epoch(), key, Arc::new(key), &worth(3, 40));
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert!(keep.get(&49, Need::Fresh).is_some() && keep.get(&47, Need::Fresh).is_none());
        let shelf = keep.lock();
        assert!(shelf.kept.len() <= 3 && shelf.bytes <= 100);
        drop(shelf);
        keep.put(keep.epoch(), 50, Arc::new(50), &worth(3, 101));
        assert!(keep.get(&50, Need::Fresh).is_none());
    }
}
