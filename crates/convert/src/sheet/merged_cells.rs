//! Merged cells: which cells lie under another one.

use std::collections::BTreeMap;

/// The merged ranges of a sheet, which is read row by row.
#[derive(Debug, Default)]
pub(crate) struct MergedCells {
    /// Ranges that start below the row that is being read, the lowest first.
    ahead: Vec<[(u32, u32); 2]>,
    /// Ranges of the row that is being read, by their first column.
    here: BTreeMap<u32, [(u32, u32); 2]>,
}

impl MergedCells {
    pub(crate) fn new(mut ranges: Vec<[(u32, u32); 2]>) -> Self {
        ranges.sort_unstable_by_key(|range| std::cmp::Reverse(range[0]));
        Self { ahead: ranges, here: BTreeMap::new() }
    }

    /// Whether a cell lies under another one. Rows must be asked for in order.
    pub(crate) fn covers(&mut self, row: u32, column: u32) -> bool {
        while let Some(range) = self.ahead.pop_if(|range| range[0].0 <= row) {
            self.here.insert(range[0].1, range);
        }
        let Some((first, range)) = self.here.range(..=column).next_back() else { return false };
        let (first, [start, end]) = (*first, *range);
        if end.0 < row {
            self.here.remove(&first);
            return false;
        }
        column <= end.1 && (row, column) != start
    }
}

#[cfg(test)]
mod tests {
    use super::MergedCells;

    #[test]
    fn all_but_the_first_cell_of_a_range_are_covered() {
        let mut merged = MergedCells::new(vec![[(0, 0), (0, 2)], [(1, 1), (2, 1)]]);
        let covered = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (2, 0), (2, 1), (3, 1)]
            .map(|(row, column)| merged.covers(row, column));
        assert_eq!(covered, [false, true, true, false, false, false, false, true, false]);
    }
}
