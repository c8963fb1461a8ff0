//! Tables of RTF: cells by the edges of their rows.

use crate::rich_text::{MAX_SPAN, RichBlock, RichCell, RichTable};

/// Edges that are nearer to each other are one, in twentieths of a point.
const TOLERANCE: i32 = 15;

/// The right edge of a cell, and how the cell is merged.
#[derive(Clone, Copy, Default)]
pub(super) struct RtfCellEdge {
    pub(super) right: i32,
    /// Whether the cell to the left goes on.
    pub(super) continues_left: bool,
    /// Whether the cell above goes on.
    pub(super) continues_above: bool,
}

/// A row as it is written.
pub(super) struct RtfRow {
    pub(super) cells: Vec<Vec<RichBlock>>,
    pub(super) edges: Vec<RtfCellEdge>,
}

/// The table of rows, with merged cells as one.
pub(super) fn table_of(rows: Vec<RtfRow>) -> RichTable {
    let columns = columns_of(&rows);
    let mut table = RichTable::default();
    // The row and place of the cell that is in each column.
    let mut owners: Vec<Option<(usize, usize)>> = Vec::new();
    for row in rows {
        let at = table.rows.len();
        let mut cells: Vec<RichCell> = Vec::new();
        let mut column = 0;
        let has_edges = row.edges.len() == row.cells.len();
        for (place, blocks) in row.cells.into_iter().enumerate() {
            let edge = row.edges.get(place).copied().unwrap_or_default();
            let end = if has_edges { column_at(&columns, edge.right) } else { column + 1 };
            let end = end.clamp(column + 1, column + usize::from(MAX_SPAN));
            let span = (end - column) as u16;
            if edge.continues_left
                && let Some(left) = cells.last_mut()
            {
                left.columns = (left.columns + span).min(MAX_SPAN);
                left.blocks.extend(blocks);
                column = end;
                continue;
            }
            let owner = owners.get(column).copied().flatten();
            let above = owner.and_then(|(row, place)| table.rows.get_mut(row)?.get_mut(place));
            if edge.continues_above
                && let Some(above) = above
            {
                above.rows = above.rows.saturating_add(1).min(MAX_SPAN);
                above.blocks.extend(blocks);
                column = end;
                continue;
            }
            if owners.len() < end {
                owners.resize(end, None);
            }
            owners[column..end].fill(None);
            owners[column] = Some((at, cells.len()));
            cells.push(RichCell { blocks, columns: span, rows: 1 });
            column = end;
        }
        table.rows.push(cells);
    }
    table
}

/// The different edges of all rows, from left to right.
fn columns_of(rows: &[RtfRow]) -> Vec<i32> {
    let with_edges = rows.iter().filter(|row| row.edges.len() == row.cells.len());
    let mut edges: Vec<i32> =
        with_edges.flat_map(|row| row.edges.iter().map(|edge| edge.right)).collect();
    edges.sort_unstable();
    edges.dedup_by(|right, left| right.saturating_sub(*left) <= TOLERANCE);
    edges
}

/// The number of columns that end at this edge or left of it.
fn column_at(columns: &[i32], right: i32) -> usize {
    columns.partition_point(|edge| *edge <= right)
}
