//! Cache with bounds on entries and weight, least-recently-used eviction and optional TTLs.
//!
//! An entry with a lifetime is fresh until its TTL ends. Until its grace period ends, it still
//! serves callers that accept a stale one. An epoch keeps out values that were requested before an
//! invalidation. Evicted values are dropped after the lock is released.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash, RandomState};
use std::time::Duration;

use hashlink::LinkedHashMap;
use parking_lot::Mutex;
use tokio::time::Instant;

/// Values by key, the least recently used first to go. Clones of a value should be cheap.
pub struct Cache<K, V, S = RandomState> {
    bounds: CacheBounds,
    table: Mutex<CacheTable<K, V, S>>,
}

/// The bounds of a cache.
#[derive(Debug, Clone, Copy)]
pub struct CacheBounds {
    /// The most entries.
    pub entries: usize,
    /// The largest total weight.
    pub weight: usize,
    /// The largest weight of one value. A value heavier than all together may be, but not heavier
    /// than this, is cached alone.
    pub heaviest: usize,
}

impl CacheBounds {
    /// At most this many entries.
    pub const fn entries(entries: usize) -> Self {
        Self { entries, weight: usize::MAX, heaviest: usize::MAX }
    }

    /// At most this much weight in all.
    pub const fn weight(weight: usize) -> Self {
        Self { entries: usize::MAX, weight, heaviest: weight }
    }
}

/// How long a value is cached, and its weight.
#[derive(Debug, Clone, Copy)]
pub struct CacheLifetime {
    /// How long it is fresh.
    pub ttl: Duration,
    /// How long it serves callers that accept a stale one; counts from the same moment.
    pub grace: Duration,
    /// Its weight.
    pub weight: usize,
}

/// How fresh a cached value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredFreshness {
    /// Within its TTL.
    Fresh,
    /// Within its TTL or its grace period.
    WithinGrace,
    /// Whatever its age.
    AnyAge,
}

struct CacheTable<K, V, S> {
    /// The least recently used first.
    entries: LinkedHashMap<K, CacheEntry<V>, S>,
    weight: usize,
    /// Counts invalidations.
    epoch: u64,
}

struct CacheEntry<V> {
    value: V,
    weight: usize,
    /// When it stops being fresh, and when it stops being usable; `None` if never.
    ends: Option<(Instant, Instant)>,
}

impl<K: Hash + Eq, V, S: BuildHasher + Default> Cache<K, V, S> {
    /// An empty cache.
    pub fn new(bounds: CacheBounds) -> Self {
        let entries = LinkedHashMap::with_hasher(S::default());
        Self { bounds, table: Mutex::new(CacheTable { entries, weight: 0, epoch: 0 }) }
    }

    /// The value for `key`, if it is fresh.
    pub fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Clone,
    {
        self.get_aged(key, RequiredFreshness::Fresh).map(|(value, _)| value)
    }

    /// The value for `key`, if it is as fresh as `required`, and its remaining TTL.
    pub fn get_aged<Q>(&self, key: &Q, required: RequiredFreshness) -> Option<(V, Duration)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Clone,
    {
        let mut table = self.table.lock();
        let entry = table.entries.to_back(key)?;
        let remaining = entry.remaining_ttl(required)?;
        Some((entry.value.clone(), remaining))
    }

    /// Runs `act` on the value for `key` in place, whatever its age. `act` must be short, since the
    /// cache is locked meanwhile, and must not change the weight.
    pub fn with<Q, R>(&self, key: &Q, act: impl FnOnce(&mut V) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.table.lock().entries.to_back(key).map(|entry| act(&mut entry.value))
    }

    /// Caches a value without a time limit in place of the one before it. A value that is too heavy
    /// is not cached.
    pub fn insert(&self, key: K, value: V, weight: usize) {
        self.insert_entry(None, key, CacheEntry { value, weight, ends: None });
    }

    /// The current epoch. Read it before a request, and pass it to `insert_current` with the
    /// response.
    pub fn epoch(&self) -> u64 {
        self.table.lock().epoch
    }

    /// Caches a value for a limited time in place of the one before it, unless the cache was
    /// invalidated since `epoch`. A value that is too heavy is not cached.
    pub fn insert_current(&self, epoch: u64, key: K, value: V, lifetime: &CacheLifetime) {
        let CacheLifetime { ttl, grace, weight } = *lifetime;
        let now = Instant::now();
        let ends = Some((now + ttl, now + ttl.max(grace)));
        self.insert_entry(Some(epoch), key, CacheEntry { value, weight, ends });
    }

    fn insert_entry(&self, epoch: Option<u64>, key: K, entry: CacheEntry<V>) {
        let mut evicted = Vec::new();
        let mut table = self.table.lock();
        if epoch.is_some_and(|epoch| epoch != table.epoch) {
            return;
        }
        // A value that is too heavy still replaces the one before it, which is stale now.
        let replaced = table.entries.remove(&key);
        table.weight -= replaced.as_ref().map_or(0, |old| old.weight);
        if entry.weight > self.bounds.heaviest {
            drop(table);
            return;
        }
        table.weight += entry.weight;
        table.entries.insert(key, entry);
        while table.entries.len() > 1
            && (table.entries.len() > self.bounds.entries || table.weight > self.bounds.weight)
        {
            let Some((key, old)) = table.entries.pop_front() else { break };
            table.weight -= old.weight;
            evicted.push((key, old));
        }
        drop(table);
    }

    /// Removes the value for `key`.
    pub fn remove<Q>(&self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let mut table = self.table.lock();
        let removed = table.entries.remove(key);
        table.weight -= removed.as_ref().map_or(0, |old| old.weight);
        drop(table);
    }

    /// Removes the entries that `is_meant` selects. Values requested before, whatever their keys,
    /// will not be cached.
    pub fn invalidate(&self, is_meant: impl Fn(&K) -> bool) {
        let mut table = self.table.lock();
        let CacheTable { entries, weight, epoch } = &mut *table;
        *epoch += 1;
        entries.retain(|key, entry| {
            let is_meant = is_meant(key);
            *weight -= if is_meant { entry.weight } else { 0 };
            !is_meant
        });
    }

    /// The number of entries, expired ones included.
    pub fn len(&self) -> usize {
        self.table.lock().entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The weight of all entries together.
    pub fn weight(&self) -> usize {
        self.table.lock().weight
    }
}

impl<V> CacheEntry<V> {
    fn remaining_ttl(&self, required: RequiredFreshness) -> Option<Duration> {
        // Without a lifetime, no need to ask for the time.
        let Some((fresh_until, usable_until)) = self.ends else { return Some(Duration::MAX) };
        let now = Instant::now();
        let is_usable = match required {
            RequiredFreshness::Fresh => now < fresh_until,
            RequiredFreshness::WithinGrace => now < usable_until,
            RequiredFreshness::AnyAge => true,
        };
        is_usable.then(|| fresh_until.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
    use tokio::time::advance;

    use super::{Cache, CacheBounds, CacheLifetime, RequiredFreshness};

    fn lifetime(ttl: u64, weight: usize) -> CacheLifetime {
        CacheLifetime { ttl: Duration::from_secs(ttl), grace: Duration::from_secs(10), weight }
    }

    #[test]
    fn the_weight_stays_within_its_bound_and_what_is_used_stays() {
        let cache = Cache::<usize, usize>::new(CacheBounds::weight(100));
        for number in 0..1_000 {
            cache.insert(number, number, 10);
            assert_eq!(cache.get(&0), Some(0));
            assert!(cache.weight() <= 100 && cache.len() <= 10);
        }
        assert_eq!((cache.get(&500), cache.get(&991)), (None, Some(991)));
    }

    #[test]
    fn the_least_recently_used_is_evicted() {
        let cache = Cache::<&str, u8>::new(CacheBounds::entries(2));
        cache.insert("a", 1, 0);
        cache.insert("b", 2, 0);
        assert_eq!(cache.with("a", |value| std::mem::replace(value, 3)), Some(1));
        cache.insert("c", 4, 0);
        assert_eq!((cache.get("a"), cache.get("b"), cache.get("c")), (Some(3), None, Some(4)));
        cache.remove("a");
        assert_eq!((cache.get("a"), cache.len(), cache.is_empty()), (None, 1, false));
    }

    #[test]
    fn one_heavy_value_stands_alone_and_a_far_too_heavy_one_is_not_kept() {
        let bounds = CacheBounds { heaviest: 400, ..CacheBounds::weight(100) };
        let cache = Cache::<usize, usize>::new(bounds);
        cache.insert(1, 1, 10);
        cache.insert(2, 2, 400);
        assert_eq!((cache.get(&1), cache.get(&2)), (None, Some(2)));
        cache.insert(3, 3, 401);
        assert_eq!((cache.get(&2), cache.get(&3)), (Some(2), None));
    }

    #[test]
    fn a_value_that_is_too_heavy_leaves_no_stale_one_behind() {
        let cache = Cache::<usize, usize>::new(CacheBounds::weight(100));
        let epoch = cache.epoch();
        cache.invalidate(|_| true);
        cache.insert(1, 1, 10);
        cache.insert_current(epoch, 1, 2, &lifetime(3, 101));
        assert_eq!(cache.get(&1), Some(1), "a value of an epoch before replaces nothing");
        cache.insert(1, 2, 101);
        assert_eq!((cache.get(&1), cache.len(), cache.weight()), (None, 0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_value_is_fresh_first_and_then_good_enough_to_go_on_with() {
        let cache: Cache<_, _> = Cache::new(CacheBounds::entries(10));
        cache.insert_current(cache.epoch(), "a", 1, &lifetime(3, 1));
        let get = |required| cache.get_aged("a", required).map(|(_, ttl)| ttl.as_secs());
        advance(Duration::from_secs(2)).await;
        assert_eq!((get(RequiredFreshness::Fresh), cache.get("a")), (Some(1), Some(1)));
        advance(Duration::from_secs(2)).await;
        assert_eq!((get(RequiredFreshness::Fresh), cache.get("a")), (None, None));
        assert_eq!(get(RequiredFreshness::WithinGrace), Some(0));
        advance(Duration::from_secs(7)).await;
        assert_eq!(get(RequiredFreshness::WithinGrace), None);
        assert_eq!(get(RequiredFreshness::AnyAge), Some(0));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_requested_before_an_invalidation_is_not_kept() {
        let cache: Cache<_, _> = Cache::new(CacheBounds::entries(10));
        cache.insert_current(cache.epoch(), "b", 2, &lifetime(3, 1));
        let epoch = cache.epoch();
        cache.invalidate(|key| *key == "a");
        cache.insert_current(epoch, "a", 1, &lifetime(3, 1));
        assert_eq!((cache.get("a"), cache.get("b"), cache.weight()), (None, Some(2), 1));
        cache.invalidate(|_| true);
        assert_eq!((cache.len(), cache.weight()), (0, 0));
    }

    proptest! {
        #[test]
        fn both_bounds_hold_and_the_weight_is_the_sum(
            steps in proptest::collection::vec((0_u8..9, 0_usize..50, any::<bool>()), 0..60),
        ) {
            let bounds = CacheBounds { entries: 3, weight: 100, heaviest: 40 };
            let cache = Cache::<u8, usize>::new(bounds);
            for (key, weight, is_removal) in steps {
                if is_removal {
                    cache.remove(&key);
                } else {
                    cache.insert(key, weight, weight);
                    prop_assert_eq!(cache.get(&key), (weight <= 40).then_some(weight));
                }
                prop_assert!(cache.len() <= 3 && cache.weight() <= 100);
                let sum: usize = (0..9).filter_map(|key| cache.get(&key)).sum();
                prop_assert!(sum == cache.weight());
            }
        }
    }
}
