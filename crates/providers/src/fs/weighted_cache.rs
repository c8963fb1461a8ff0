//! Cache bounded by total weight, with approximate LRU eviction.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};

use parking_lot::{Mutex, MutexGuard};

/// Values by key, with a limited total weight. Evicts approximately the least recently used.
///
/// Two generations replace a list of uses. When the new one is full, it becomes the old one and the
/// previous old one is dropped. A hit in the old generation moves the value to the new one.
pub(super) struct WeightedCache<K, V, S = RandomState> {
    capacity: usize,
    generations: Mutex<CacheGenerations<K, V, S>>,
}

struct CacheGenerations<K, V, S> {
    new: HashMap<K, (V, usize), S>,
    old: HashMap<K, (V, usize), S>,
    weight: usize,
}

impl<K: Eq + Hash, V: Clone, S: BuildHasher + Default> WeightedCache<K, V, S> {
    /// A cache for a total weight of about `capacity`. One value may weigh up to four times that,
    /// and then evicts all others.
    pub(super) fn new(capacity: usize) -> Self {
        let rows = CacheGenerations { new: HashMap::default(), old: HashMap::default(), weight: 0 };
        Self { capacity, generations: Mutex::new(rows) }
    }

    /// Returns the value for `key`.
    pub(super) fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let mut rows = self.lock();
        if let Some((value, _)) = rows.new.get(key) {
            return Some(value.clone());
        }
        let (value, weight) = rows.old.remove(key)?;
        self.insert_locked(&mut rows, key, value.clone(), weight);
        Some(value)
    }

    /// Inserts `value`, unless it weighs more than four times the capacity.
    pub(super) fn insert<Q>(&self, key: &Q, value: V, weight: usize)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        if weight <= 4 * self.capacity {
            self.insert_locked(&mut self.lock(), key, value, weight);
        }
    }

    fn insert_locked<Q>(
        &self,
        rows: &mut CacheGenerations<K, V, S>,
        key: &Q,
        value: V,
        weight: usize,
    ) where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        rows.old.remove(key);
        if let Some((_, gone)) = rows.new.remove(key) {
            rows.weight -= gone;
        }
        let row = self.capacity / 2;
        if rows.weight + weight > row {
            rows.old = std::mem::take(&mut rows.new);
            rows.weight = 0;
        }
        if weight > row {
            rows.old.clear();
        }
        rows.weight += weight;
        rows.new.insert(key.to_owned(), (value, weight));
    }

    fn lock(&self) -> MutexGuard<'_, CacheGenerations<K, V, S>> {
        self.generations.lock()
    }

    #[cfg(test)]
    pub(super) fn weight(&self) -> usize {
        let rows = self.lock();
        rows.new.values().chain(rows.old.values()).map(|(_, weight)| weight).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::WeightedCache;

    #[test]
    fn the_weight_stays_within_the_capacity_and_what_is_used_stays() {
        let shelf = WeightedCache::<usize, usize>::new(100);
        for number in 0..1_000 {
            shelf.insert(&number, number, 10);
            assert_eq!(shelf.get(&0), Some(0));
            assert!(shelf.weight() <= 100);
        }
        assert_eq!(shelf.get(&500), None);
    }

    #[test]
    fn one_heavy_value_stands_alone_and_a_far_too_heavy_one_is_not_kept() {
        let shelf = WeightedCache::<usize, usize>::new(100);
        shelf.insert(&1, 1, 10);
        shelf.insert(&2, 2, 400);
        assert_eq!((shelf.get(&1), shelf.get(&2)), (None, Some(2)));
        shelf.insert(&3, 3, 401);
        assert_eq!(shelf.get(&3), None);
    }
}
