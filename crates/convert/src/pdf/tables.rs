//! Tables of a PDF page: lines that stand in rows and columns.
//!
//! A PDF has no tables, only text at places. Rows are lines side by side, or between the same two
//! rules; columns are places that the pieces of several rows share.

use super::labels::{is_label, is_section_number};
use super::page::{PdfBlock, PdfPage, PdfRules, is_unspaced};
use super::prose::join_text;
use super::rows::{TablePiece, TableRow, rows_of};
use super::rules::{drop_outside, is_ruled_between, rule_places};

/// The most lines of a page in which tables are looked for.
const MAX_LINES: usize = 5_000;

/// The most columns of a table.
const MAX_COLUMNS: usize = 40;

/// The most lines of a cell above the other cells of its row.
const MAX_CELL_LINES: usize = 20;

/// A part of a page, in reading order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PdfPart {
    /// Running text.
    Text(PdfBlock),
    /// Rows of cells.
    Table(Vec<Vec<String>>),
    /// Items, each with its bullet or number.
    List(Vec<(String, String)>),
}

/// Rows that may be a table.
struct TableRegion {
    columns: Vec<(f32, f32)>,
    rows: Vec<Vec<String>>,
    /// The lines that are in it: block and line.
    lines: Vec<(usize, usize)>,
}

/// The parts of a page: its tables and lists, and what is left of its blocks.
pub(super) fn arrange(page: &PdfPage, rules: &PdfRules) -> Vec<PdfPart> {
    let count: usize = page.blocks.iter().map(|block| block.lines.len()).sum();
    if count > MAX_LINES {
        return page.blocks.iter().cloned().map(PdfPart::Text).collect();
    }
    let regions = find_regions(rows_of(page), rules);
    let mut owner = vec![];
    for block in &page.blocks {
        owner.push(vec![None; block.lines.len()]);
    }
    for (index, region) in regions.iter().enumerate() {
        for (block, line) in &region.lines {
            owner[*block][*line] = Some(index);
        }
    }
    let mut regions: Vec<_> = regions.into_iter().map(Some).collect();
    let mut parts = Vec::new();
    for (block, owners) in page.blocks.iter().zip(&owner) {
        let mut rest = PdfBlock::default();
        for (line, owner) in block.lines.iter().zip(owners) {
            match owner {
                None => rest.lines.push(line.clone()),
                Some(index) => {
                    if let Some(region) = regions[*index].take() {
                        push_text(&mut parts, &mut rest);
                        parts.push(region.into_part());
                    }
                }
            }
        }
        push_text(&mut parts, &mut rest);
    }
    parts
}

fn push_text(parts: &mut Vec<PdfPart>, block: &mut PdfBlock) {
    if !block.lines.is_empty() {
        parts.push(PdfPart::Text(std::mem::take(block)));
    }
}

/// The tables among the rows of a page.
fn find_regions(rows: Vec<TableRow>, rules: &PdfRules) -> Vec<TableRegion> {
    let mut regions = Vec::new();
    let mut run: Vec<TableRow> = Vec::new();
    // Single lines that may be the first lines of a row.
    let mut before: Vec<TableRow> = Vec::new();
    for row in rows {
        if !run.is_empty() && !continues(&run, &row, rules) {
            regions.extend(judge(std::mem::take(&mut run), rules));
        }
        if run.is_empty() && row.pieces.len() == 1 {
            before.push(row);
            continue;
        }
        if run.is_empty() {
            let start = before.iter().rposition(|line| is_ruled_between(line, &row, rules));
            let first = start.map_or(0, |start| start + 1);
            // Without a rule above they are not known to be of the table.
            let is_known = rules.horizontal.iter().any(|rule| {
                before
                    .get(first)
                    .is_some_and(|line| rule.top <= line.top + 2.0 && line.top - rule.top < 30.0)
            });
            if is_known && before.len() - first <= MAX_CELL_LINES {
                run.extend(before.drain(first..));
            }
        }
        before.clear();
        run.push(row);
    }
    regions.extend(judge(run, rules));
    regions
}

/// Whether `row` may be the next row of the table in `run`.
fn continues(run: &[TableRow], row: &TableRow, rules: &PdfRules) -> bool {
    let Some(last) = run.last() else { return true };
    let size = (row.bottom - row.top).min(last.bottom - last.top).max(1.0);
    let gap = row.top - last.bottom;
    let is_ruled = rules.horizontal.iter().any(|rule| {
        rule.top > last.top && rule.top < row.bottom && rule.left < row.pieces[0].area.right
    });
    let limit = match (row.pieces.len(), is_ruled) {
        (_, true) => 3.0,
        (1, false) => 0.95,
        (_, false) => 2.0,
    };
    if gap > limit * size {
        return false;
    }
    if row.pieces.len() > 1 {
        return true;
    }
    // One piece: the next line of a cell, unless it goes over several columns.
    let area = &row.pieces[0].area;
    let widest = run.iter().max_by_key(|row| row.pieces.len());
    let overlapped = widest.map_or(0, |row| {
        let overlaps =
            |piece: &&TablePiece| piece.area.left < area.right && area.left < piece.area.right;
        row.pieces.iter().filter(overlaps).count()
    });
    overlapped <= 1
}

/// The table in the rows, if they are one.
fn judge(mut rows: Vec<TableRow>, rules: &PdfRules) -> Option<TableRegion> {
    // A line under the first column is no row by itself.
    let second = rows.iter().filter_map(|row| row.pieces.get(1)).map(|piece| piece.area.left);
    let second = second.fold(f32::MAX, f32::min);
    while rules.horizontal.is_empty()
        && rows
            .last()
            .is_some_and(|row| row.pieces.len() == 1 && row.pieces[0].area.left < second - 1.0)
    {
        rows.pop();
    }
    let ys = rule_places(&rows, rules);
    drop_outside(&mut rows, &ys);
    let columns = columns_of(&rows)?;
    let pieces: Vec<_> = rows.iter().flat_map(|row| &row.pieces).collect();
    let wide_rows = rows.iter().filter(|row| row.pieces.len() > 1).count();
    let is_list = columns.len() == 2 && has_labels(&rows, columns[0], is_label);
    let is_outline = columns.len() == 2 && has_labels(&rows, columns[0], is_section_number);
    let least = if is_list {
        1
    } else if columns.len() == 2 && ys.len() < 3 {
        3
    } else {
        2
    };
    if wide_rows < least || (!is_list && !is_outline && !looks_tabular(&pieces, &columns)) {
        return None;
    }
    let lines = pieces.iter().map(|piece| (piece.block, piece.line)).collect();
    let rows = cells_of(&rows, &columns, &ys);
    let is_full = |row: &&Vec<String>| row.iter().filter(|cell| !cell.is_empty()).count() > 1;
    // Lines with a remark at the right margin have less cells than rows of a table.
    let is_plain = columns.len() == 2 && !is_list && !is_outline;
    if is_plain && rows.iter().filter(is_full).count() * 10 < rows.len() * 7 {
        return None;
    }
    Some(TableRegion { columns, rows, lines })
}

/// The places of columns: those that pieces share, the narrow ones first, because a wide piece may
/// go over several columns.
fn columns_of(rows: &[TableRow]) -> Option<Vec<(f32, f32)>> {
    let mut areas: Vec<_> =
        rows.iter().flat_map(|row| &row.pieces).map(|piece| piece.area).collect();
    areas.sort_by(|a, b| a.width().total_cmp(&b.width()));
    let mut columns: Vec<(f32, f32)> = Vec::new();
    let mut spanning = 0;
    for area in &areas {
        let overlaps = |column: &(f32, f32)| column.0 < area.right && area.left < column.1;
        let mut found = columns.iter_mut().filter(|column| overlaps(column));
        match (found.next(), found.next()) {
            (None, _) => columns.push((area.left, area.right)),
            (Some(column), None) => {
                *column = (column.0.min(area.left), column.1.max(area.right));
            }
            _ => spanning += 1,
        }
    }
    columns.sort_by(|a, b| a.0.total_cmp(&b.0));
    let is_mixed = spanning * 5 > areas.len();
    let is_apart = columns.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 0.5);
    let is_table = columns.len() > 1 && columns.len() <= MAX_COLUMNS && !is_mixed && is_apart;
    is_table.then_some(columns)
}

/// Whether the pieces are cells rather than columns of running text.
fn looks_tabular(pieces: &[&TablePiece], columns: &[(f32, f32)]) -> bool {
    let mut short = 0;
    for column in columns {
        let own =
            pieces.iter().filter(|piece| piece.area.left < column.1 && column.0 < piece.area.right);
        let (mut count, mut weight) = (0, 0);
        for piece in own {
            count += 1;
            weight += piece.text.chars().map(|c| 1 + usize::from(is_unspaced(c))).sum::<usize>();
        }
        if weight <= 22 * count {
            short += 1;
        }
    }
    short * 2 >= columns.len()
}

/// Whether all pieces in the first column are labels.
fn has_labels(rows: &[TableRow], column: (f32, f32), is_label: fn(&str) -> bool) -> bool {
    let mut firsts = rows.iter().filter_map(|row| row.pieces.first());
    let mut count = 0;
    let all = firsts.all(|piece| {
        let is_first = piece.area.left < column.1;
        count += usize::from(is_first);
        !is_first || is_label(&piece.text)
    });
    all && count > 0
}

/// The cells of the rows: those between two rules are one row, and without rules, a row without a
/// first cell goes on with the row before.
fn cells_of(rows: &[TableRow], columns: &[(f32, f32)], ys: &[f32]) -> Vec<Vec<String>> {
    let mut cells: Vec<Vec<String>> = Vec::new();
    let mut last: Option<(&TableRow, usize)> = None;
    let is_ruled = ys.len() >= 3;
    for row in rows {
        let middle = (row.top + row.bottom) / 2.0;
        let band = ys.iter().filter(|y| **y < middle).count();
        let first_at = row.pieces.first().map_or(0.0, |piece| piece.area.left);
        let is_same = last.is_some_and(|(before, its_band)| {
            if is_ruled {
                return band == its_band;
            }
            let size = row.bottom - row.top;
            first_at >= columns[0].1 && row.top - before.bottom < 0.6 * size
        });
        if !is_same {
            cells.push(vec![String::new(); columns.len()]);
        }
        if let Some(current) = cells.last_mut() {
            for piece in &row.pieces {
                let at = columns.iter().position(|column| piece.area.left < column.1);
                let at = at.unwrap_or(columns.len() - 1);
                join_text(&mut current[at], &piece.text);
            }
        }
        last = Some((row, band));
    }
    cells
}

impl TableRegion {
    fn into_part(self) -> PdfPart {
        let is_list = self.columns.len() == 2
            && self
                .rows
                .iter()
                .all(|row| row[0].is_empty() || is_label(&row[0]) || is_section_number(&row[0]));
        if !is_list {
            return PdfPart::Table(self.rows);
        }
        let items = self.rows.into_iter().map(|mut row| {
            let text = row.pop().unwrap_or_default();
            (row.pop().unwrap_or_default(), text)
        });
        PdfPart::List(items.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{PdfPart, arrange};
    use crate::pdf::page::{PdfArea, PdfBlock, PdfLine, PdfPage, PdfRules};

    fn line(text: &str, left: f32, top: f32, width: f32) -> PdfLine {
        let area = PdfArea { left, top, right: left + width, bottom: top + 10.0 };
        PdfLine { text: text.into(), area, size: 10.0, first_word: 20.0, ..PdfLine::default() }
    }

    fn page(lines: Vec<PdfLine>) -> PdfPage {
        let blocks = lines.into_iter().map(|line| PdfBlock { lines: vec![line] }).collect();
        PdfPage { width: 500.0, blocks }
    }

    #[test]
    fn short_pieces_side_by_side_are_a_table() {
        // As a reader gives them that reads column by column.
        let page = page(vec![
            line("City", 10.0, 10.0, 30.0),
            line("Oslo", 10.0, 25.0, 30.0),
            line("Bern", 10.0, 40.0, 30.0),
            line("People", 100.0, 10.0, 40.0),
            line("700", 120.0, 25.0, 20.0),
            line("130", 120.0, 40.0, 20.0),
        ]);
        let rows = [["City", "People"], ["Oslo", "700"], ["Bern", "130"]];
        let rows = rows.map(|row| row.map(String::from).to_vec()).to_vec();
        assert_eq!(arrange(&page, &PdfRules::default()), [PdfPart::Table(rows)]);
    }

    #[test]
    fn rules_tell_the_rows_of_cells_with_several_lines() {
        let page = page(vec![
            line("first line", 100.0, 10.0, 60.0),
            line("a", 10.0, 22.0, 10.0),
            line("second line", 100.0, 22.0, 60.0),
            line("b", 10.0, 45.0, 10.0),
            line("other", 100.0, 45.0, 60.0),
        ]);
        let rule = |top: f32| PdfArea { left: 5.0, top, right: 170.0, bottom: top };
        let rules = PdfRules { horizontal: vec![rule(8.0), rule(38.0), rule(58.0)] };
        let rows = [["a", "first line second line"], ["b", "other"]];
        let rows = rows.map(|row| row.map(String::from).to_vec()).to_vec();
        assert_eq!(arrange(&page, &rules), [PdfPart::Table(rows)]);
    }

    #[test]
    fn two_columns_of_running_text_are_no_table() {
        let text = "a line of running text that fills its column to the end";
        let lines = (0..6).flat_map(|at| {
            let top = 10.0 + 12.0 * at as f32;
            [line(text, 10.0, top, 220.0), line(text, 260.0, top, 220.0)]
        });
        let parts = arrange(&page(lines.collect()), &PdfRules::default());
        assert!(parts.iter().all(|part| matches!(part, PdfPart::Text(_))), "{parts:?}");
    }

    #[test]
    fn bullets_beside_text_are_a_list() {
        let page = page(vec![
            line("•", 10.0, 10.0, 5.0),
            line("first", 30.0, 10.0, 40.0),
            line("•", 10.0, 25.0, 5.0),
            line("second", 30.0, 25.0, 40.0),
        ]);
        let items = [("•", "first"), ("•", "second")];
        let items = items.map(|(label, text)| (label.to_owned(), text.to_owned())).to_vec();
        assert_eq!(arrange(&page, &PdfRules::default()), [PdfPart::List(items)]);
    }
}
