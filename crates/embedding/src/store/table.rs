//! The vector table in memory: ids, quantized vectors, and where their records stand in the file.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

use super::quantized::{QuantizedQuery, QuantizedVector, QuantizedVectors};

/// Vectors by id, in dense slots.
pub(super) struct VectorTable {
    vectors: QuantizedVectors,
    ids: Vec<u64>,
    /// Where the record of each slot begins.
    positions: Vec<u64>,
    slots: HashMap<u64, u32>,
}

impl VectorTable {
    pub(super) fn new(dimensions: usize) -> Self {
        let vectors = QuantizedVectors::new(dimensions);
        Self { vectors, ids: Vec::new(), positions: Vec::new(), slots: HashMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The id of each slot.
    pub(super) fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Where the record of each slot begins.
    pub(super) fn positions(&self) -> &[u64] {
        &self.positions
    }

    pub(super) fn set_positions(&mut self, positions: Vec<u64>) {
        self.positions = positions;
    }

    pub(super) fn contains(&self, id: u64) -> bool {
        self.slots.contains_key(&id)
    }

    /// Whether this many vectors can be added.
    pub(super) fn has_room(&self, more: usize) -> bool {
        u32::try_from(self.ids.len().saturating_add(more)).is_ok()
    }

    /// Sets the vector of `id`. Returns whether there is room for it.
    pub(super) fn set(&mut self, id: u64, position: u64, vector: &QuantizedVector) -> bool {
        if let Some(slot) = self.slots.get(&id) {
            self.vectors.replace(*slot as usize, vector);
            self.positions[*slot as usize] = position;
            return true;
        }
        let Ok(slot) = u32::try_from(self.ids.len()) else { return false };
        self.slots.insert(id, slot);
        self.vectors.push(vector);
        self.ids.push(id);
        self.positions.push(position);
        true
    }

    /// Removes the vector of `id`; the last one takes its slot.
    pub(super) fn remove(&mut self, id: u64) {
        let Some(slot) = self.slots.remove(&id) else { return };
        let index = slot as usize;
        self.vectors.swap_remove(index);
        self.ids.swap_remove(index);
        self.positions.swap_remove(index);
        if let Some(moved) = self.ids.get(index) {
            self.slots.insert(*moved, slot);
        }
    }

    /// The approximate score of the vector of `id`.
    pub(super) fn score(&self, query: &QuantizedQuery, id: u64) -> Option<f32> {
        self.slots.get(&id).map(|slot| self.vectors.score(query, *slot as usize))
    }

    /// The slots of the `most` vectors with the highest approximate score, in no order.
    pub(super) fn nearest(
        &self,
        query: &QuantizedQuery,
        most: usize,
        accept: impl Fn(u64) -> bool,
    ) -> Vec<usize> {
        // The worst candidate is on top.
        let mut best: BinaryHeap<Reverse<VectorCandidate>> = BinaryHeap::new();
        let mut bound = f32::NEG_INFINITY;
        self.vectors.for_each_score(query, |slot, score| {
            if score < bound {
                return;
            }
            let candidate = VectorCandidate { score, id: self.ids[slot], slot };
            let is_full = best.len() == most;
            if is_full && best.peek().is_some_and(|worst| candidate <= worst.0) {
                return;
            }
            if !accept(candidate.id) {
                return;
            }
            best.push(Reverse(candidate));
            if is_full {
                best.pop();
            }
            if best.len() == most {
                bound = best.peek().map_or(bound, |worst| worst.0.score);
            }
        });
        best.into_iter().map(|candidate| candidate.0.slot).collect()
    }
}

/// A vector that may be among the nearest. Ordered by score; of equal scores, the lower id is the
/// greater, so that the slots do not matter.
#[derive(Debug, Clone, Copy)]
struct VectorCandidate {
    score: f32,
    id: u64,
    slot: usize,
}

impl Ord for VectorCandidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.id.cmp(&self.id))
    }
}

impl PartialOrd for VectorCandidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for VectorCandidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for VectorCandidate {}
