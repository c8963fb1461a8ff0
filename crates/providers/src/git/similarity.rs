//! Similarity of two files, measured as `git diff -M` measures it.

use std::collections::HashMap;

/// The score of equal files.
pub(super) const MAX_SCORE: u64 = 60_000;

/// The least score of a rename.
pub(super) const MIN_SCORE: u64 = MAX_SCORE / 2;

/// The least score of a rename that keeps its file name, which nothing else has to confirm.
pub(super) const MIN_BASENAME_SCORE: u64 = MIN_SCORE + (MAX_SCORE - MIN_SCORE) / 2;

/// Chunks are lines, or this many bytes of longer lines.
const MAX_CHUNK: u32 = 64;

/// How many values git's hash of a chunk has. Equal hashes count as equal chunks.
const HASH_BASE: u32 = 107_927;

/// How many bytes of a file belong to chunks of each hash.
pub(super) type ChunkCounts = HashMap<u32, u64>;

/// Counts the chunks of a file.
pub(super) fn count_chunks(bytes: &[u8]) -> ChunkCounts {
    let is_text = !bytes[..bytes.len().min(8_000)].contains(&0);
    let mut counts = ChunkCounts::new();
    let (mut low, mut high, mut length) = (0_u32, 0_u32, 0_u32);
    let mut add = |low: u32, high: u32, length: u32| {
        let hash = low.wrapping_add(high.wrapping_mul(0x61)) % HASH_BASE;
        *counts.entry(hash).or_default() += u64::from(length);
    };
    for (at, byte) in bytes.iter().enumerate() {
        if is_text && *byte == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
            continue;
        }
        let before = low;
        low = (low << 7) ^ (high >> 25);
        high = (high << 7) ^ (before >> 25);
        low = low.wrapping_add(u32::from(*byte));
        length += 1;
        if length >= MAX_CHUNK || *byte == b'\n' {
            add(low, high, length);
            (low, high, length) = (0, 0, 0);
        }
    }
    if length > 0 {
        add(low, high, length);
    }
    counts
}

/// Whether files of these sizes can be similar enough.
pub(super) fn may_be_similar(old: u64, new: u64) -> bool {
    let (large, small) = (old.max(new), old.min(new));
    old > 0
        && new > 0
        && u128::from(large) * u128::from(MAX_SCORE - MIN_SCORE)
            >= u128::from(large - small) * u128::from(MAX_SCORE)
}

/// The score of two files of these sizes.
pub(super) fn score(old: (&ChunkCounts, u64), new: (&ChunkCounts, u64)) -> u64 {
    let copied =
        old.0.iter().map(|(hash, count)| new.0.get(hash).map_or(0, |other| (*count).min(*other)));
    let copied: u64 = copied.sum();
    copied * MAX_SCORE / old.1.max(new.1).max(1)
}

#[cfg(test)]
mod tests {
    use super::{MAX_SCORE, count_chunks, may_be_similar, score};

    #[test]
    fn scores_are_shares_of_the_larger_file() {
        let measure = |old: &[u8], new: &[u8]| {
            let (a, b) = (count_chunks(old), count_chunks(new));
            score((&a, old.len() as u64), (&b, new.len() as u64))
        };
        assert_eq!(measure(b"a\nb\n", b"a\nb\n"), MAX_SCORE);
        assert_eq!(measure(b"a\nb\n", b"b\nc\n"), MAX_SCORE / 2);
        assert_eq!(measure(b"a\n", b"z\n"), 0);
        assert!(may_be_similar(10, 20) && !may_be_similar(10, 21) && !may_be_similar(0, 1));
    }
}
