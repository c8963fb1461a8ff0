//! Rows of a PDF page: the pieces of lines that stand side by side.

use super::page::{PdfArea, PdfLine, PdfPage};

/// A piece of a line between wide gaps.
pub(super) struct TablePiece {
    /// The block and the line that it is of.
    pub(super) block: usize,
    pub(super) line: usize,
    /// Its text.
    pub(super) text: String,
    /// Where it is.
    pub(super) area: PdfArea,
}

/// Pieces side by side.
pub(super) struct TableRow {
    /// From left to right.
    pub(super) pieces: Vec<TablePiece>,
    pub(super) top: f32,
    pub(super) bottom: f32,
}

/// The lines of a page, in rows from top to bottom.
pub(super) fn rows_of(page: &PdfPage) -> Vec<TableRow> {
    let mut pieces = Vec::new();
    for (block, lines) in page.blocks.iter().enumerate() {
        for (at, line) in lines.lines.iter().enumerate() {
            if !line.is_vertical {
                split_line(block, at, line, &mut pieces);
            }
        }
    }
    let middle = |area: &PdfArea| (area.top + area.bottom) / 2.0;
    pieces.sort_by(|a, b| middle(&a.area).total_cmp(&middle(&b.area)));
    let mut rows: Vec<TableRow> = Vec::new();
    for piece in pieces {
        let (top, bottom) = (piece.area.top, piece.area.bottom);
        match rows.last_mut() {
            Some(row) if shares_row(row, &piece.area) => row.pieces.push(piece),
            _ => rows.push(TableRow { pieces: vec![piece], top, bottom }),
        }
    }
    for row in &mut rows {
        row.pieces.sort_by(|a, b| a.area.left.total_cmp(&b.area.left));
    }
    rows
}

/// Whether most of the smaller of a row and a piece stands beside the other.
fn shares_row(row: &TableRow, area: &PdfArea) -> bool {
    let shared = row.bottom.min(area.bottom) - row.top.max(area.top);
    shared > 0.5 * (row.bottom - row.top).min(area.height())
}

fn split_line(block: usize, at: usize, line: &PdfLine, pieces: &mut Vec<TablePiece>) {
    let mut start = (0, line.area.left);
    let ends = line.gaps.iter().map(|gap| (gap.at, gap.left, gap.right));
    let last = (line.text.len(), line.area.right, line.area.right);
    for (end, right, next) in ends.chain([last]) {
        let text = line.text.get(start.0..end).unwrap_or_default().trim();
        let area = PdfArea { left: start.1, right, ..line.area };
        pieces.push(TablePiece { block, line: at, text: text.to_owned(), area });
        start = (end, next);
    }
}
