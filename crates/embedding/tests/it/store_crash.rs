//! The vector store after a crash: torn tails, flipped bytes, and files cut or changed beneath it.

use std::fs;
use std::path::Path;

use embedding::{EmbedError, VectorStore, VectorStoreAccess, VectorStoreOpening};

use crate::store::{DIMENSIONS, ids, open};

const HEADER: usize = 48;
const VECTOR: usize = 21;
const REMOVAL: usize = 13;

/// Three vectors, a removal, and a vector again. Returns the file's content.
fn write_store(folder: &Path) -> Vec<u8> {
    let mut store = open(folder);
    store.append(&[(1, &[1.0, 0.0, 0.0, 0.0]), (2, &[0.0, 1.0, 0.0, 0.0])]).unwrap();
    store.append(&[(3, &[0.0, 0.0, 1.0, 0.0])]).unwrap();
    store.remove(&[2]).unwrap();
    store.append(&[(4, &[0.0, 0.0, 0.0, 1.0])]).unwrap();
    fs::read(folder.join("vectors.log")).unwrap()
}

/// What the store holds once the first `length` bytes of the file are there.
fn expected_ids(length: usize) -> (Vec<u64>, usize) {
    let states: [(usize, &[u64]); 6] = [
        (HEADER, &[]),
        (HEADER + VECTOR, &[1]),
        (HEADER + 2 * VECTOR, &[1, 2]),
        (HEADER + 3 * VECTOR, &[1, 2, 3]),
        (HEADER + 3 * VECTOR + REMOVAL, &[1, 3]),
        (HEADER + 4 * VECTOR + REMOVAL, &[1, 3, 4]),
    ];
    let state = states.iter().rev().find(|(end, _)| *end <= length);
    state.map_or((Vec::new(), 0), |(end, ids)| (ids.to_vec(), *end))
}

#[test]
fn a_file_cut_at_any_byte_opens_with_the_records_before_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let whole = write_store(folder.path());
    assert_eq!(expected_ids(whole.len()), (vec![1, 3, 4], whole.len()));
    for length in 0..=whole.len() {
        fs::write(folder.path().join("vectors.log"), &whole[..length]).unwrap();
        let mut store = open(folder.path());
        let (expected, end) = expected_ids(length);
        assert_eq!(ids(&store), expected, "cut at {length}");
        let opening = match length {
            length if length < HEADER => VectorStoreOpening::Replaced,
            length if length == end => VectorStoreOpening::Loaded,
            length => VectorStoreOpening::Recovered { lost: (length - end) as u64 },
        };
        assert_eq!(store.opening(), opening, "cut at {length}");
        // The next record stands where the torn one was.
        store.append(&[(9, &[0.5; DIMENSIONS])]).unwrap();
        drop(store);
        let store = open(folder.path());
        assert_eq!(store.opening(), VectorStoreOpening::Loaded);
        assert_eq!(store.len(), expected.len() + 1);
    }
}

#[test]
fn a_flipped_byte_loses_its_record_and_those_behind_it_and_no_removed_vector_returns() {
    let folder = tempfile::tempdir().unwrap();
    let whole = write_store(folder.path());
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x40;
        fs::write(folder.path().join("vectors.log"), &bytes).unwrap();
        let store = open(folder.path());
        let expected = if place < HEADER { Vec::new() } else { expected_ids(place).0 };
        assert_eq!(ids(&store), expected, "flipped at {place}");
    }
}

#[test]
fn garbage_behind_the_records_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let whole = write_store(folder.path());
    for garbage in [&[0_u8; 100][..], &[b'v'; 100], &[b'r'; 100], &[0xff; 3]] {
        let bytes = [&whole, garbage].concat();
        fs::write(folder.path().join("vectors.log"), bytes).unwrap();
        let store = open(folder.path());
        assert_eq!(ids(&store), [1, 3, 4]);
        drop(store);
        assert_eq!(fs::read(folder.path().join("vectors.log")).unwrap(), whole);
    }
}

#[test]
fn a_reader_leaves_a_torn_tail_to_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let whole = write_store(folder.path());
    let torn = &whole[..whole.len() - 1];
    fs::write(folder.path().join("vectors.log"), torn).unwrap();
    let read = VectorStoreAccess::Read;
    let reader = VectorStore::open(folder.path(), "model", DIMENSIONS, read).unwrap();
    assert_eq!(ids(&reader), [1, 3]);
    assert_eq!(fs::read(folder.path().join("vectors.log")).unwrap(), torn);
}

#[test]
fn a_compaction_that_was_killed_leaves_the_old_file_and_the_next_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let whole = write_store(folder.path());
    fs::write(folder.path().join("vectors.log.new"), &whole[..60]).unwrap();
    let mut store = open(folder.path());
    assert_eq!(ids(&store), [1, 3, 4]);
    store.compact().unwrap();
    drop(store);
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["lock", "vectors.log"]);
    assert_eq!(ids(&open(folder.path())), [1, 3, 4]);
}

#[test]
fn a_record_that_changes_under_an_open_store_is_an_error_and_no_wrong_score() {
    let folder = tempfile::tempdir().unwrap();
    drop(write_store(folder.path()));
    let mut store = open(folder.path());
    let path = folder.path().join("vectors.log");
    let mut bytes = fs::read(&path).unwrap();
    bytes[HEADER + 10] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let query = [1.0, 0.0, 0.0, 0.0];
    assert!(matches!(store.search(&query, 3, |_| true), Err(EmbedError::StoreDamaged(_))));
    assert!(matches!(store.compact(), Err(EmbedError::StoreDamaged(_))));
    fs::write(&path, &bytes[..HEADER]).unwrap();
    assert!(matches!(store.search(&query, 3, |_| true), Err(EmbedError::StoreDamaged(_))));
}
