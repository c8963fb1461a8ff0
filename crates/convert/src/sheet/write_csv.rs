//! Sheets as comma-separated values, with the texts that cells show.

use super::grid::{SheetExtras, SheetRow, SheetWriter};
use crate::conversion::Conversion;
use crate::options::Options;

/// The most equal rows in a row that are written out.
pub(crate) const MAX_REPEATED_ROWS: u32 = 10_000;

/// Writes sheets as comma-separated values, one after another.
pub(crate) struct SheetCsv<'a> {
    converted: Conversion,
    options: &'a Options,
    /// The rows of the sheet, each as long as its last cell, without line ends.
    rows: Vec<u8>,
    /// Where each row ends, and how many fields it has.
    ends: Vec<(usize, u32)>,
    next_row: u32,
    is_full: bool,
}

impl<'a> SheetCsv<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self {
            converted: Conversion::default(),
            options,
            rows: Vec::new(),
            ends: Vec::new(),
            next_row: 0,
            is_full: false,
        }
    }

    pub(crate) fn finish(mut self) -> Conversion {
        if self.is_full {
            self.cut("rows are left out: the result is over the limit of bytes".to_owned());
        }
        self.converted
    }
}

impl SheetWriter for SheetCsv<'_> {
    fn start_sheet(&mut self, name: &str, is_hidden: bool) {
        self.converted.start_section(Some(name.to_owned()), is_hidden);
        self.next_row = 0;
    }

    fn takes_cells(&self) -> bool {
        !self.is_full
    }

    fn add_row(&mut self, row: &SheetRow) {
        let cells =
            || row.cells.iter().filter(|cell| !cell.shown.is_empty() || cell.formula.is_some());
        if self.is_full || cells().next().is_none() {
            return;
        }
        for _ in self.next_row..row.number {
            self.ends.push((self.rows.len(), 0));
        }
        let start = self.rows.len();
        let mut fields = 0;
        for cell in cells() {
            let uncalculated = cell.formula.as_deref().filter(|_| cell.shown.is_empty());
            let formula = uncalculated.map(|formula| format!("={formula}"));
            let text = formula.as_deref().unwrap_or(&cell.shown);
            for column in cell.column..cell.column.saturating_add(cell.repeat) {
                let commas = if fields == 0 { column } else { column + 1 - fields };
                self.rows.resize(self.rows.len() + commas as usize, b',');
                push_field(&mut self.rows, text);
                fields = column + 1;
                if self.rows.len() > self.options.max_output_bytes {
                    break;
                }
            }
        }
        let line = self.rows[start..].to_vec();
        self.ends.push((self.rows.len(), fields));
        for _ in 1..row.repeat.min(MAX_REPEATED_ROWS) {
            self.rows.extend_from_slice(&line);
            self.ends.push((self.rows.len(), fields));
            if self.rows.len() > self.options.max_output_bytes {
                break;
            }
        }
        if row.repeat > MAX_REPEATED_ROWS {
            self.lose(format!(
                "row {} stands {} times, of which {MAX_REPEATED_ROWS} are given",
                row.number + 1,
                row.repeat
            ));
        }
        self.next_row = row.number.saturating_add(row.repeat);
        let size = self.rows.len() + self.ends.len() + self.converted.body.len();
        self.is_full = size > self.options.max_output_bytes;
    }

    fn end_sheet(&mut self, _: &SheetExtras) {
        let width = self.ends.iter().map(|end| end.1).max().unwrap_or(0);
        let mut start = 0;
        for (end, fields) in std::mem::take(&mut self.ends) {
            // An empty row is an empty line, so that a cell far away costs little.
            let missing = if fields == 0 { 0 } else { (width - fields) as usize };
            let body = &mut self.converted.body;
            if body.len() + (end - start) + missing + 1 > self.options.max_output_bytes {
                self.is_full = true;
                break;
            }
            body.extend_from_slice(&self.rows[start..end]);
            body.resize(body.len() + missing, b',');
            body.push(b'\n');
            start = end;
        }
        self.rows.clear();
    }

    fn lose(&mut self, sentence: String) {
        self.converted.losses.push(sentence);
    }

    fn cut(&mut self, sentence: String) {
        self.converted.cut(sentence);
    }
}

/// Appends a field, in quotes where it needs them.
pub(crate) fn push_field(line: &mut Vec<u8>, text: &str) {
    let is_special = |byte: u8| matches!(byte, b'"' | b',' | b'\n' | b'\r');
    if text.bytes().any(is_special) || text.starts_with(' ') || text.ends_with(' ') {
        line.push(b'"');
        line.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        line.push(b'"');
    } else {
        line.extend_from_slice(text.as_bytes());
    }
}
