//! What is worth keeping in memory, when only so much may be kept?

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::path::Local;

/// Values by path, of a limited total weight; those used least recently go first.
///
/// They stand in two rows. When the new row is full the old one is cleared away, and what is
/// asked for moves to the new one, so that no list of uses has to be kept.
pub(super) struct Shelf<V> {
    capacity: usize,
    rows: Mutex<Rows<V>>,
}

struct Rows<V> {
    new: HashMap<Vec<u8>, (V, usize)>,
    old: HashMap<Vec<u8>, (V, usize)>,
    weight: usize,
}

impl<V: Clone> Shelf<V> {
    /// A shelf for about `capacity`. One value may weigh up to four times as much, and then
    /// stands alone.
    pub(super) fn new(capacity: usize) -> Self {
        let rows = Rows { new: HashMap::new(), old: HashMap::new(), weight: 0 };
        Self { capacity, rows: Mutex::new(rows) }
    }

    /// What is kept for `path`.
    pub(super) fn get(&self, path: &Local) -> Option<V> {
        let mut rows = self.lock();
        if let Some((value, _)) = rows.new.get(path.as_bytes()) {
            return Some(value.clone());
        }
        let (value, weight) = rows.old.remove(path.as_bytes())?;
        self.put(&mut rows, path, value.clone(), weight);
        Some(value)
    }

    /// Keeps `value` for `path`, unless it is far too heavy.
    pub(super) fn keep(&self, path: &Local, value: V, weight: usize) {
        if weight <= 4 * self.capacity {
            self.put(&mut self.lock(), path, value, weight);
        }
    }

    fn put(&self, rows: &mut Rows<V>, path: &Local, value: V, weight: usize) {
        rows.old.remove(path.as_bytes());
        if let Some((_, gone)) = rows.new.remove(path.as_bytes()) {
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
        rows.new.insert(path.as_bytes().to_vec(), (value, weight));
    }

    fn lock(&self) -> MutexGuard<'_, Rows<V>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn weight(&self) -> usize {
        let rows = self.lock();
        rows.new.values().chain(rows.old.values()).map(|(_, weight)| weight).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Shelf;
    use crate::fs::path::Local;

    fn path(number: usize) -> Local {
        Local::from_bytes(number.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn the_weight_stays_within_the_capacity_and_what_is_used_stays() {
        let shelf = Shelf::new(100);
        for number in 0..1_000 {
            shelf.keep(&path(number), number, 10);
            assert_eq!(shelf.get(&path(0)), Some(0));
            assert!(shelf.weight() <= 100);
        }
        assert_eq!(shelf.get(&path(500)), None);
    }

    #[test]
    fn one_heavy_value_stands_alone_and_a_far_too_heavy_one_is_not_kept() {
        let shelf = Shelf::new(100);
        shelf.keep(&path(1), 1, 10);
        shelf.keep(&path(2), 2, 400);
        assert_eq!((shelf.get(&path(1)), shelf.get(&path(2))), (None, Some(2)));
        shelf.keep(&path(3), 3, 401);
        assert_eq!(shelf.get(&path(3)), None);
    }
}
