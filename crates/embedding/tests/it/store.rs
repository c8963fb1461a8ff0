//! The vector store as a map from ids to vectors: any sequence of changes, reopened at any time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use embedding::{EmbedError, VectorStore, VectorStoreAccess, VectorStoreOpening};
use proptest::prelude::{Just, ProptestConfig, Strategy, prop, prop_oneof, proptest};

pub(crate) const DIMENSIONS: usize = 4;

pub(crate) fn open(folder: &Path) -> VectorStore {
    VectorStore::open(folder, "model", DIMENSIONS, VectorStoreAccess::Write).unwrap()
}

fn open_reader(folder: &Path) -> VectorStore {
    VectorStore::open(folder, "model", DIMENSIONS, VectorStoreAccess::Read).unwrap()
}

pub(crate) fn ids(store: &VectorStore) -> Vec<u64> {
    let mut ids: Vec<u64> = store.ids().collect();
    ids.sort_unstable();
    ids
}

/// Checks that a store holds exactly the vectors of `expected`, each its own.
#[track_caller]
fn assert_holds(store: &VectorStore, expected: &BTreeMap<u64, [f32; DIMENSIONS]>) {
    assert_eq!(store.len(), expected.len());
    assert_eq!(ids(store), expected.keys().copied().collect::<Vec<_>>());
    for (id, vector) in expected {
        assert!(store.contains(*id));
        let hits = store.search(vector, 1, |candidate| candidate == *id).unwrap();
        assert_eq!(hits.len(), 1);
        assert!(hits[0].0 == *id && (hits[0].1 - 1.0).abs() < 1e-2, "{hits:?}");
    }
}

#[test]
fn a_store_survives_reopening_and_another_model_or_size_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/store");
    let mut store = open(&path);
    assert_eq!(store.opening(), VectorStoreOpening::Created);
    store.append(&[(7, &[1.0, 0.0, 0.0, 0.0]), (9, &[0.0, 2.0, 0.0, 0.0])]).unwrap();
    store.sync().unwrap();
    drop(store);
    let store = open(&path);
    assert_eq!(store.opening(), VectorStoreOpening::Loaded);
    assert_eq!(ids(&store), [7, 9]);
    drop(store);
    let write = VectorStoreAccess::Write;
    for (model, dimensions) in [("other", 4), ("other", 5)] {
        let store = VectorStore::open(&path, model, dimensions, write).unwrap();
        assert_eq!((store.opening(), store.len()), (VectorStoreOpening::Replaced, 0));
    }
    // The first model's vectors are gone for good: they were replaced, not hidden.
    assert!(open(&path).is_empty());
}

#[test]
fn a_second_writer_is_refused_and_a_reader_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    store.append(&[(1, &[1.0, 0.0, 0.0, 0.0])]).unwrap();
    let write = VectorStoreAccess::Write;
    let second = VectorStore::open(folder.path(), "model", DIMENSIONS, write);
    assert!(matches!(second, Err(EmbedError::StoreLocked)));
    let before = fs::read(folder.path().join("vectors.log")).unwrap();
    let mut reader = open_reader(folder.path());
    assert_eq!(ids(&reader), [1]);
    assert!(matches!(reader.append(&[(2, &[1.0; 4])]), Err(EmbedError::Invalid(_))));
    assert!(matches!(reader.remove(&[1]), Err(EmbedError::Invalid(_))));
    assert!(matches!(reader.compact(), Err(EmbedError::Invalid(_))));
    assert_eq!(fs::read(folder.path().join("vectors.log")).unwrap(), before);
    // The reader goes on with what it has when the writer compacts.
    store.remove(&[1]).unwrap();
    store.compact().unwrap();
    assert_eq!(reader.search(&[1.0, 0.0, 0.0, 0.0], 5, |_| true).unwrap().len(), 1);
    let other = VectorStore::open(folder.path(), "other", DIMENSIONS, VectorStoreAccess::Read);
    assert!(other.unwrap().is_empty());
    drop(store);
    assert_eq!(open(folder.path()).opening(), VectorStoreOpening::Loaded);
}

#[test]
fn a_reader_of_a_folder_that_is_not_there_sees_an_empty_store() {
    let folder = tempfile::tempdir().unwrap();
    let reader = open_reader(&folder.path().join("none"));
    assert!(reader.is_empty());
    assert_eq!(reader.search(&[1.0; 4], 3, |_| true).unwrap(), []);
    assert!(!folder.path().join("none").exists());
}

#[test]
fn vectors_of_wrong_length_or_numbers_are_refused_and_none_of_their_batch_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let good = [1.0_f32; 4];
    let bad: [&[f32]; 4] = [&[1.0; 3], &[], &[f32::NAN; 4], &[f32::INFINITY, 0.0, 0.0, 0.0]];
    for vector in bad {
        assert!(matches!(store.append(&[(1, &good), (2, vector)]), Err(EmbedError::Invalid(_))));
        assert!(store.search(vector, 1, |_| true).is_err());
    }
    assert!(store.is_empty());
    for dimensions in [0, 100_000] {
        let write = VectorStoreAccess::Write;
        assert!(VectorStore::open(folder.path(), "model", dimensions, write).is_err());
    }
}

#[test]
fn zero_tiny_and_huge_vectors_are_stored_and_found_by_direction() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let (tiny, huge) = ([0.0, 1e-42, 0.0, 0.0], [f32::MAX, 0.0, 0.0, 0.0]);
    store.append(&[(1, &[0.0; 4]), (2, &tiny), (3, &huge)]).unwrap();
    drop(store);
    let store = open(folder.path());
    let hits = store.search(&[0.0, 5.0, 0.0, 0.0], 3, |_| true).unwrap();
    assert_eq!(hits, [(2, 1.0), (1, 0.0), (3, 0.0)]);
}

#[test]
fn compaction_is_worth_it_when_most_of_the_file_is_waste() {
    let folder = tempfile::tempdir().unwrap();
    let mut store =
        VectorStore::open(folder.path(), "model", 1_024, VectorStoreAccess::Write).unwrap();
    let vector = vec![1.0_f32; 1_024];
    for _ in 0..600 {
        store.append(&[(1, &vector)]).unwrap();
    }
    assert!(store.is_worth_compacting());
    let size = || fs::metadata(folder.path().join("vectors.log")).unwrap().len();
    let before = size();
    store.compact().unwrap();
    assert!(!store.is_worth_compacting());
    assert!(size() < before / 100, "{} of {before}", size());
    assert_eq!(store.search(&vector, 2, |_| true).unwrap().len(), 1);
}

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<(u64, [i8; DIMENSIONS])>),
    Remove(Vec<u64>),
    Compact,
    Reopen,
}

fn any_step() -> impl Strategy<Value = Step> {
    let vector = prop::array::uniform4(1_i8..100);
    prop_oneof![
        4 => prop::collection::vec((0_u64..12, vector), 0..5).prop_map(Step::Append),
        2 => prop::collection::vec(0_u64..12, 0..4).prop_map(Step::Remove),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    // Each case waits for the disk a few times.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_sequence_of_changes_leaves_what_a_map_would_hold(
        steps in prop::collection::vec(any_step(), 0..20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut expected = BTreeMap::new();
        let mut store = Some(open(folder.path()));
        for step in steps {
            let current = store.as_mut().unwrap();
            match step {
                Step::Append(vectors) => {
                    let vectors = vectors.into_iter().map(|(id, codes)| (id, codes.map(f32::from)));
                    let vectors: Vec<(u64, [f32; DIMENSIONS])> = vectors.collect();
                    let borrowed: Vec<(u64, &[f32])> =
                        vectors.iter().map(|(id, vector)| (*id, &vector[..])).collect();
                    current.append(&borrowed).unwrap();
                    expected.extend(vectors);
                }
                Step::Remove(ids) => {
                    current.remove(&ids).unwrap();
                    expected.retain(|id, _| !ids.contains(id));
                }
                Step::Compact => current.compact().unwrap(),
                Step::Reopen => {
                    store = None;
                    store = store.or_else(|| Some(open(folder.path())));
                    assert_eq!(store.as_ref().unwrap().opening(), VectorStoreOpening::Loaded);
                }
            }
            assert_holds(store.as_ref().unwrap(), &expected);
        }
        drop(store);
        assert_holds(&open(folder.path()), &expected);
    }
}
