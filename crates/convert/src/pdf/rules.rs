//! The rules of a table in a PDF: which rows they separate.

use super::page::{PdfArea, PdfRules};
use super::rows::TableRow;

/// The most places of rules in one table.
const MAX_PLACES: usize = 500;

/// The heights of the rules that go over at least half of the rows' width, from top to bottom.
pub(super) fn rule_places(rows: &[TableRow], rules: &PdfRules) -> Vec<f32> {
    let pieces = || rows.iter().flat_map(|row| &row.pieces);
    let left = pieces().map(|piece| piece.area.left).fold(f32::MAX, f32::min);
    let right = pieces().map(|piece| piece.area.right).fold(f32::MIN, f32::max);
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Vec::new() };
    // A rule may be drawn cell by cell: what counts is the sum of the pieces at one height.
    let near = rules.horizontal.iter().filter(|rule| {
        rule.top > first.top - 30.0
            && rule.top < last.bottom + 30.0
            && rule.left < right
            && left < rule.right
    });
    let mut sorted: Vec<_> = near.collect();
    sorted.sort_by(|a, b| a.top.total_cmp(&b.top));
    let mut found: Vec<(PdfArea, f32)> = Vec::new();
    for rule in sorted {
        match found.last_mut() {
            Some((area, sum)) if rule.top - area.top < 2.0 => {
                *sum += rule.width();
                *area = PdfArea { top: area.top, ..area.union(rule) };
            }
            _ => found.push((*rule, rule.width())),
        }
    }
    found.retain(|(_, sum)| *sum > 0.5 * (right - left));
    found.truncate(MAX_PLACES);
    // The rules of one table start and end at the same places; others are of something else.
    let is_alike =
        |a: &PdfArea, b: &PdfArea| (a.left - b.left).abs() < 4.0 && (a.right - b.right).abs() < 4.0;
    let support = |area: &PdfArea| found.iter().filter(|other| is_alike(area, &other.0)).count();
    let Some((usual, _)) = found.iter().max_by_key(|(area, _)| support(area)) else {
        return Vec::new();
    };
    found.iter().filter(|(area, _)| is_alike(area, usual)).map(|(area, _)| area.top).collect()
}

/// Drops lines above the first and below the last rule, such as the caption of a table.
pub(super) fn drop_outside(rows: &mut Vec<TableRow>, ys: &[f32]) {
    let [first, _, .., last] = ys else { return };
    rows.retain(|row| {
        let middle = (row.top + row.bottom) / 2.0;
        row.pieces.len() > 1 || (*first..*last).contains(&middle)
    });
}

/// Whether a rule is between two rows.
pub(super) fn is_ruled_between(above: &TableRow, below: &TableRow, rules: &PdfRules) -> bool {
    let (top, bottom) = ((above.top + above.bottom) / 2.0, (below.top + below.bottom) / 2.0);
    rules.horizontal.iter().any(|rule| rule.top > top && rule.top < bottom)
}
