//! Reciprocal rank fusion (RRF): merges ranked lists whose scores cannot be compared.

use std::collections::HashMap;

/// The usual constant of reciprocal rank fusion.
pub const FUSION_K: f32 = 60.0;

/// A ranked list of ids, the best first.
#[derive(Debug, Clone)]
pub struct RankedList {
    /// The ids.
    pub ids: Vec<u64>,
    /// How much a rank in this list counts beside the others.
    pub weight: f32,
}

impl RankedList {
    /// A list that counts as much as others.
    pub fn new(ids: impl IntoIterator<Item = u64>) -> Self {
        Self { ids: ids.into_iter().collect(), weight: 1.0 }
    }
}

/// Merges ranked lists. An item scores `weight / (k + rank)` in each list that has it, ranks from 1;
/// the sum orders the result.
///
/// Items of equal score are ordered by id, so the result does not depend on the order of lists.
/// Only the best rank counts of an item that a list names twice.
pub fn fuse(lists: &[RankedList], k: f32) -> Vec<(u64, f32)> {
    let k = if k.is_finite() { f64::from(k.max(0.0)) } else { f64::from(FUSION_K) };
    let mut scores: HashMap<u64, (f64, usize)> = HashMap::new();
    for (number, RankedList { ids, weight }) in lists.iter().enumerate() {
        for (index, id) in ids.iter().enumerate() {
            // The second number is the last list that had the item, counted from 1.
            let (score, seen_in) = scores.entry(*id).or_default();
            if *seen_in != number + 1 {
                *seen_in = number + 1;
                *score += f64::from(*weight) / (k + index as f64 + 1.0);
            }
        }
    }
    // Rounded before sorting: sums of the same terms in another order differ in the last bit.
    let fused = scores.into_iter().map(|(id, (score, _))| (id, score as f32));
    let mut fused: Vec<(u64, f32)> = fused.collect();
    fused.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use super::{RankedList, fuse};

    fn lists(ids: &[&[u64]]) -> Vec<RankedList> {
        ids.iter().map(|ids| RankedList::new(ids.iter().copied())).collect()
    }

    fn ids(fused: &[(u64, f32)]) -> Vec<u64> {
        fused.iter().map(|(id, _)| *id).collect()
    }

    #[test]
    fn an_item_that_two_lists_rank_is_above_one_that_a_single_list_ranks_first() {
        let fused = fuse(&lists(&[&[1, 2, 3], &[4, 2]]), 60.0);
        assert_eq!(ids(&fused), [2, 1, 4, 3]);
        assert!((fused[0].1 - 2.0 / 62.0).abs() < 1e-6);
    }

    #[test]
    fn a_list_counts_by_its_weight() {
        let mut lists = lists(&[&[1, 2], &[2, 1]]);
        lists[1].weight = 0.5;
        assert_eq!(ids(&fuse(&lists, 60.0)), [1, 2]);
        lists[1].weight = 2.0;
        assert_eq!(ids(&fuse(&lists, 60.0)), [2, 1]);
    }

    #[test]
    fn ties_are_ordered_by_id_and_a_repeat_does_not_count() {
        assert_eq!(ids(&fuse(&lists(&[&[9], &[3], &[7]]), 60.0)), [3, 7, 9]);
        let repeated = fuse(&lists(&[&[1, 1, 1], &[2]]), 60.0);
        assert!((repeated[0].1 - repeated[1].1).abs() < f32::EPSILON);
    }

    #[test]
    fn nothing_fuses_to_nothing_and_a_bad_constant_is_the_usual_one() {
        assert_eq!(fuse(&[], 60.0), []);
        assert_eq!(fuse(&lists(&[&[], &[]]), 60.0), []);
        let one = lists(&[&[1]]);
        assert_eq!(fuse(&one, f32::NAN), fuse(&one, 60.0));
        assert_eq!(fuse(&one, -5.0), fuse(&one, 0.0));
    }

    proptest! {
        #[test]
        fn the_order_of_the_lists_does_not_matter(
            ids in prop::collection::vec(prop::collection::vec(0_u64..20, 0..12), 0..4),
        ) {
            let forward: Vec<RankedList> = ids.iter().cloned().map(RankedList::new).collect();
            let backward: Vec<RankedList> = forward.iter().rev().cloned().collect();
            assert_eq!(fuse(&forward, 60.0), fuse(&backward, 60.0));
        }
    }
}
