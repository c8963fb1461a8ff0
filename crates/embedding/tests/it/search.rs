//! Nearest-neighbour search: as good as comparing all vectors in full precision.

use std::cell::Cell;

use embedding::{VectorStore, VectorStoreAccess};

const DIMENSIONS: usize = 64;

/// Pseudo-random numbers, the same in every run.
pub(crate) struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 31)
    }

    /// A vector with about normally distributed numbers.
    fn vector(&mut self) -> Vec<f32> {
        let mut uniform = || (self.next() >> 40) as f32 / (1 << 24) as f32 - 0.5;
        (0..DIMENSIONS).map(|_| uniform() + uniform() + uniform() + uniform()).collect()
    }
}

fn open(folder: &std::path::Path) -> VectorStore {
    VectorStore::open(folder, "model", DIMENSIONS, VectorStoreAccess::Write).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

fn brute_force(vectors: &[Vec<f32>], query: &[f32], k: usize) -> Vec<u64> {
    let scored = vectors.iter().enumerate().map(|(id, vector)| (id as u64, cosine(query, vector)));
    let mut scored: Vec<(u64, f32)> = scored.collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut ids: Vec<u64> = scored.iter().take(k).map(|(id, _)| *id).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn the_ten_nearest_are_those_of_full_precision_in_99_of_100_searches() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(1);
    let vectors: Vec<Vec<f32>> = (0..2_000).map(|_| numbers.vector()).collect();
    let pairs: Vec<(u64, &[f32])> =
        vectors.iter().enumerate().map(|(id, vector)| (id as u64, &vector[..])).collect();
    let mut store = open(folder.path());
    store.append(&pairs).unwrap();
    let searches = 300;
    let mut equal = 0;
    for _ in 0..searches {
        let query = numbers.vector();
        let hits = store.search(&query, 10, |_| true).unwrap();
        assert!(hits.is_sorted_by(|a, b| a.1 >= b.1));
        for (id, score) in &hits {
            assert!((score - cosine(&query, &vectors[*id as usize])).abs() < 1e-3);
        }
        let mut found: Vec<u64> = hits.iter().map(|(id, _)| *id).collect();
        found.sort_unstable();
        equal += usize::from(found == brute_force(&vectors, &query, 10));
    }
    assert!(equal * 100 >= searches * 99, "{equal} of {searches}");
}

#[test]
fn only_accepted_ids_are_found_and_the_rest_does_not_crowd_them_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let mut numbers = Numbers(2);
    let query = numbers.vector();
    // The query itself a thousand times, none of them accepted.
    let near: Vec<(u64, &[f32])> = (0..1_000).map(|id| (id, &query[..])).collect();
    store.append(&near).unwrap();
    let far: Vec<Vec<f32>> = (0..5).map(|_| numbers.vector()).collect();
    let far: Vec<(u64, &[f32])> =
        far.iter().enumerate().map(|(id, vector)| (1_000 + id as u64, &vector[..])).collect();
    store.append(&far).unwrap();
    let hits = store.search(&query, 10, |id| id >= 1_000).unwrap();
    assert_eq!(hits.len(), 5);
    assert!(hits.iter().all(|(id, _)| *id >= 1_000));
    assert_eq!(store.search(&query, 10, |_| false).unwrap(), []);
    assert_eq!(store.search(&query, 0, |_| true).unwrap(), []);
}

#[test]
fn equal_vectors_come_in_the_order_of_their_ids_whatever_was_removed_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let vector = Numbers(3).vector();
    for id in (0..300).rev() {
        store.append(&[(id, &vector)]).unwrap();
    }
    store.remove(&[0, 150, 2]).unwrap();
    let hits = store.search(&vector, 3, |_| true).unwrap();
    assert_eq!(hits.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 3, 4]);
}

#[test]
fn the_filter_is_asked_only_about_candidates() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let mut numbers = Numbers(4);
    let query = numbers.vector();
    let opposite: Vec<f32> = query.iter().map(|number| -number).collect();
    let near: Vec<(u64, &[f32])> = (0..200).map(|id| (id, &query[..])).collect();
    let far: Vec<(u64, &[f32])> = (200..10_000).map(|id| (id, &opposite[..])).collect();
    store.append(&near).unwrap();
    store.append(&far).unwrap();
    let asked = Cell::new(0);
    let accept = |_| {
        asked.set(asked.get() + 1);
        true
    };
    store.search(&query, 10, accept).unwrap();
    assert!(asked.get() <= 200, "asked {} times", asked.get());
}
