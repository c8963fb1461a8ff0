//! TTL cache with a grace period, bounded by entries and by bytes.
//!
//! An entry is fresh until its TTL ends. Until its grace period ends, it still serves a client
//! that continues a walk or a windowed read. An epoch keeps out responses that were requested
//! before an invalidation.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

/// How fresh a cached entry must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredFreshness {
    /// Within its TTL.
    Fresh,
    /// Within its TTL or its grace period.
    WithinGrace,
}

/// Cached responses by key.
pub(super) struct TtlCache<K, V> {
    state: Mutex<TtlCacheState<K, V>>,
    max_entries: usize,
    max_bytes: usize,
}

struct TtlCacheState<K, V> {
    entries: HashMap<K, TtlCacheEntry<V>>,
    bytes: usize,
    /// Counts invalidations.
    epoch: u64,
}

struct TtlCacheEntry<V> {
    value: Arc<V>,
    inserted_at: Instant,
    fresh_until: Instant,
    usable_until: Instant,
    weight: usize,
}

/// How long an entry is cached, and its weight in bytes.
pub(super) struct CacheLifetime {
    pub(super) ttl: Duration,
    pub(super) grace: Duration,
    pub(super) weight: usize,
}

impl<K: Hash + Eq + Clone, V> TtlCache<K, V> {
    pub(super) fn new(max_entries: usize, max_bytes: usize) -> Self {
        let shelf = TtlCacheState { entries: HashMap::new(), bytes: 0, epoch: 0 };
        Self { state: Mutex::new(shelf), max_entries, max_bytes }
    }

    /// The cached response, and its remaining TTL.
    pub(super) fn get(&self, key: &K, required: RequiredFreshness) -> Option<(Arc<V>, Duration)> {
        let shelf = self.lock();
        let kept = shelf.entries.get(key)?;
        let now = Instant::now();
        let end = match required {
            RequiredFreshness::Fresh => kept.fresh_until,
            RequiredFreshness::WithinGrace => kept.usable_until,
        };
        let left = kept.fresh_until.saturating_duration_since(now);
        (now < end).then(|| (Arc::clone(&kept.value), left))
    }

    /// The cached response, whatever its age.
    pub(super) fn get_any_age(&self, key: &K) -> Option<Arc<V>> {
        self.lock().entries.get(key).map(|kept| Arc::clone(&kept.value))
    }

    /// The current epoch. Read it before a request, and pass it to `put` with the response.
    pub(super) fn epoch(&self) -> u64 {
        self.lock().epoch
    }

    /// Caches a response, unless the cache was invalidated since `epoch` or it is too large.
    pub(super) fn put(&self, epoch: u64, key: K, value: Arc<V>, worth: &CacheLifetime) {
        let CacheLifetime { ttl, grace, weight } = *worth;
        let mut shelf = self.lock();
        if shelf.epoch != epoch || weight > self.max_bytes {
            return;
        }
        let at = Instant::now();
        let kept = TtlCacheEntry {
            value,
            inserted_at: at,
            fresh_until: at + ttl,
            usable_until: at + ttl.max(grace),
            weight,
        };
        shelf.remove(&key);
        shelf.bytes += weight;
        shelf.entries.insert(key, kept);
        if shelf.entries.len() > self.max_entries || shelf.bytes > self.max_bytes {
            shelf.evict(self.max_entries, self.max_bytes, at);
        }
    }

    /// Removes the entries that `is_meant` selects. Responses to all requests that are in flight,
    /// whatever their keys, will not be cached.
    pub(super) fn invalidate(&self, is_meant: impl Fn(&K) -> bool) {
        let mut shelf = self.lock();
        shelf.epoch += 1;
        let meant: Vec<K> = shelf.entries.keys().filter(|key| is_meant(key)).cloned().collect();
        meant.iter().for_each(|key| shelf.remove(key));
    }

    fn lock(&self) -> MutexGuard<'_, TtlCacheState<K, V>> {
        self.state.lock()
    }
}

impl<K: Hash + Eq + Clone, V> TtlCacheState<K, V> {
    fn remove(&mut self, key: &K) {
        if let Some(old) = self.entries.remove(key) {
            self.bytes -= old.weight;
        }
    }

    /// Removes all expired entries, then the oldest ones until the cache is within its bounds.
    fn evict(&mut self, most: usize, bytes: usize, now: Instant) {
        let mut ages: Vec<(bool, Instant, K)> = self
            .entries
            .iter()
            .map(|(key, kept)| (kept.usable_until > now, kept.inserted_at, key.clone()))
            .collect();
        ages.sort_by_key(|(is_good, at, _)| (*is_good, *at));
        for (is_good, _, key) in ages {
            let is_full = self.entries.len() > most || self.bytes > bytes;
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

    use super::{CacheLifetime, RequiredFreshness, TtlCache};

    fn worth(ttl: u64, weight: usize) -> CacheLifetime {
        CacheLifetime { ttl: Duration::from_secs(ttl), grace: Duration::from_secs(10), weight }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_fresh_first_and_then_good_enough_to_go_on_with() {
        let keep = TtlCache::new(10, 100);
        keep.put(keep.epoch(), "a", Arc::new(1), &worth(3, 1));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(keep.get(&"a", RequiredFreshness::Fresh).unwrap().1, Duration::from_secs(1));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(keep.get(&"a", RequiredFreshness::Fresh).is_none());
        assert_eq!(keep.get(&"a", RequiredFreshness::WithinGrace).unwrap().1, Duration::ZERO);
        tokio::time::advance(Duration::from_secs(7)).await;
        assert!(keep.get(&"a", RequiredFreshness::WithinGrace).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_asked_before_something_was_taken_back_is_not_kept() {
        let keep = TtlCache::new(10, 100);
        let epoch = keep.epoch();
        keep.invalidate(|key| *key == "a");
        keep.put(epoch, "a", Arc::new(1), &worth(3, 1));
        assert!(keep.get(&"a", RequiredFreshness::WithinGrace).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_kept_is_bounded_by_count_and_by_weight() {
        let keep = TtlCache::new(3, 100);
        for key in 0..50 {
            keep.put(keep.epoch(), key, Arc::new(key), &worth(3, 40));
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert!(
            keep.get(&49, RequiredFreshness::Fresh).is_some()
                && keep.get(&47, RequiredFreshness::Fresh).is_none()
        );
        let shelf = keep.lock();
        assert!(shelf.entries.len() <= 3 && shelf.bytes <= 100);
        drop(shelf);
        keep.put(keep.epoch(), 50, Arc::new(50), &worth(3, 101));
        assert!(keep.get(&50, RequiredFreshness::Fresh).is_none());
    }
}
