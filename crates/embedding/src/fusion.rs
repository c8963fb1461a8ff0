//! Reciprocal rank fusion (RRF): merges ranked lists whose scores cannot be compared.

use std::collections::HashMap;

/// The usual constant of reciprocal rank fusion.
pub const FUSION_K: f32 = 60.0;

/// Merges ranked lists, each best first. An item scores `1 / (k + rank)` in each list that has it,
/// ranks from 1; the sum orders the result. The scores of the lists do not count.
///
/// Items of equal score are ordered by id, so the result does not depend on the order of lists.
/// Only the best rank counts of an item that a list names twice.
pub fn fuse(lists: &[&[(u64, f32)]], k: f32) -> Vec<(u64, f32)> {
    let k = if k.is_finite() { f64::from(k.max(0.0)) } else { f64::from(FUSION_K) };
    let mut scores: HashMap<u64, (f64, usize)> = HashMap::new();
    for (number, list) in lists.iter().enumerate() {
        for (index, (id, _)) in list.iter().enumerate() {
            // The second number is the last list that had the item, counted from 1.
            let (score, seen_in) = scores.entry(*id).or_default();
            if *seen_in != number + 1 {
                *seen_in = number + 1;
                *score += 1.0 / (k + index as f64 + 1.0);
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
    use proptest::prelude::{any, prop, proptest};

    use super::fuse;

    fn ids(fused: &[(u64, f32)]) -> Vec<u64> {
        fused.iter().map(|(id, _)| *id).collect()
    }

    #[test]
    fn an_item_that_two_lists_rank_is_above_one_that_a_single_list_ranks_first() {
        let words = [(1, 9.0), (2, 8.0), (3, 7.0)];
        let meaning = [(4, 0.9), (2, 0.1)];
        let fused = fuse(&[&words, &meaning], 60.0);
        assert_eq!(ids(&fused), [2, 1, 4, 3]);
        assert!((fused[0].1 - 2.0 / 62.0).abs() < 1e-6);
    }

    #[test]
    fn ties_are_ordered_by_id_and_a_repeat_does_not_count() {
        assert_eq!(ids(&fuse(&[&[(9, 1.0)], &[(3, 5.0)], &[(7, 0.0)]], 60.0)), [3, 7, 9]);
        let repeated = fuse(&[&[(1, 1.0), (1, 1.0), (1, 1.0)], &[(2, 1.0)]], 60.0);
        assert!((repeated[0].1 - repeated[1].1).abs() < f32::EPSILON);
    }

    #[test]
    fn nothing_fuses_to_nothing_and_a_bad_constant_is_the_usual_one() {
        assert_eq!(fuse(&[], 60.0), []);
        assert_eq!(fuse(&[&[], &[]], 60.0), []);
        assert_eq!(fuse(&[&[(1, 1.0)]], f32::NAN), fuse(&[&[(1, 1.0)]], 60.0));
        assert_eq!(fuse(&[&[(1, 1.0)]], -5.0), fuse(&[&[(1, 1.0)]], 0.0));
    }

    proptest! {
        #[test]
        fn the_order_of_the_lists_does_not_matter(
            lists in prop::collection::vec(prop::collection::vec((0_u64..20, any::<f32>()), 0..12), 0..4),
        ) {
            let forward: Vec<&[(u64, f32)]> = lists.iter().map(Vec::as_slice).collect();
            let backward: Vec<&[(u64, f32)]> = lists.iter().rev().map(Vec::as_slice).collect();
            assert_eq!(fuse(&forward, 60.0), fuse(&backward, 60.0));
        }
    }
}
