//! Cells of sheets, as readers of workbooks hand them to writers: row by row.

use crate::conversion::counted;

/// The most columns of a sheet.
pub(crate) const MAX_COLUMNS: u32 = 16_384;

/// The most rows of a sheet.
pub(crate) const MAX_ROWS: u32 = 1_048_576;

/// The most bytes of the text of a cell: Excel allows 32,767 letters.
pub(crate) const MAX_CELL_BYTES: usize = 128 << 10;

/// The most bytes of the texts of a row. One text may stand in all cells of a row, so that a small
/// document could grow without end.
const MAX_ROW_BYTES: usize = 16 << 20;

/// What a cell holds. Its text as shown stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum CellValue {
    /// Nothing.
    #[default]
    Empty,
    /// A number.
    Number(f64),
    /// A date, a time or a duration, shown as ISO 8601.
    Date,
    /// A text.
    Text,
    /// Yes or no.
    Bool(bool),
    /// An error such as `#DIV/0!`.
    Error,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SheetCell {
    /// Its column, from 0.
    pub(crate) column: u32,
    /// How many columns have this cell, at least 1.
    pub(crate) repeat: u32,
    pub(crate) value: CellValue,
    /// The text that the cell shows.
    pub(crate) shown: String,
    /// The formula, without the sign of equality.
    pub(crate) formula: Option<String>,
    /// The address that the cell links to.
    pub(crate) link: Option<String>,
    pub(crate) notes: Vec<CellNote>,
}

impl SheetCell {
    /// Whether the cell shows nothing to a reader.
    pub(crate) fn is_empty(&self) -> bool {
        self.value == CellValue::Empty && self.formula.is_none() && self.notes.is_empty()
    }
}

/// A comment on a cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CellNote {
    pub(crate) author: String,
    pub(crate) text: String,
}

/// A row with its cells, in the order of columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SheetRow {
    /// Its number, from 0. Numbers grow.
    pub(crate) number: u32,
    /// How many rows are like this, at least 1.
    pub(crate) repeat: u32,
    pub(crate) cells: Vec<SheetCell>,
    /// The bytes of the texts of all cells.
    bytes: usize,
}

impl SheetRow {
    /// A row without cells.
    pub(crate) fn new(number: u32, repeat: u32) -> Self {
        Self { number, repeat, ..Self::default() }
    }

    /// Adds a cell within the bounds of a row; `false` if its text is cut or left out.
    pub(crate) fn push(&mut self, mut cell: SheetCell) -> bool {
        let end = cell.shown.floor_char_boundary(MAX_CELL_BYTES);
        let is_whole = end == cell.shown.len();
        cell.shown.truncate(end);
        self.bytes += cell.shown.len();
        let has_room = self.bytes <= MAX_ROW_BYTES;
        if has_room {
            self.cells.push(cell);
        }
        is_whole && has_room
    }

    /// Whether the row has no room for more texts.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes > MAX_ROW_BYTES
    }

    /// Starts another row.
    pub(crate) fn restart(&mut self, number: u32) {
        self.number = number;
        self.bytes = 0;
        self.cells.clear();
    }
}

/// What a sheet has beside its cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SheetExtras {
    /// The ranges of merged cells.
    pub(crate) merged: Vec<String>,
    /// The tables: name and range.
    pub(crate) tables: Vec<(String, String)>,
    /// Comments on cells that have no content: address and comment.
    pub(crate) notes: Vec<(String, CellNote)>,
    /// The ranges of hidden columns, as `C` or `C:E`.
    pub(crate) hidden_columns: Vec<String>,
    /// The ranges of hidden rows, as `4` or `4:6`.
    pub(crate) hidden_rows: Vec<String>,
    /// Texts of shapes over the sheet, one block each.
    pub(crate) shapes: Vec<String>,
}

/// The words for texts that are cut.
const CUT_TEXTS: (&str, &str) = ("text is too long and cut", "texts are too long and cut");

/// The words for formulas without a value.
pub(crate) const UNCALCULATED: (&str, &str) = (
    "formula has no calculated value; the formula stands instead",
    "formulas have no calculated value; the formula stands instead",
);

/// A writer of sheets.
pub(crate) trait SheetWriter {
    /// Starts a sheet.
    fn start_sheet(&mut self, name: &str, is_hidden: bool);
    /// Whether the writer still uses cells; otherwise it only counts rows.
    fn takes_cells(&self) -> bool;
    /// Adds a row. A row without cells counts as one only if the writer takes no cells.
    fn add_row(&mut self, row: &SheetRow);
    /// Ends the sheet.
    fn end_sheet(&mut self, extras: &SheetExtras);
    /// Says what is lost.
    fn lose(&mut self, sentence: String);
    /// Says what a limit leaves out.
    fn cut(&mut self, sentence: String);
    /// Says how many texts of a sheet are cut; nothing if none is.
    fn cut_texts(&mut self, sheet: &str, count: usize) {
        if count > 0 {
            let (one, several) = CUT_TEXTS;
            self.cut(format!("sheet {sheet:?}: {}", counted(count, one, several)));
        }
    }
    /// Says what `count` things of a sheet lose, with the words for one and for several; nothing if
    /// there are none.
    fn lose_counted(&mut self, sheet: &str, count: usize, (one, several): (&str, &str)) {
        if count > 0 {
            self.lose(format!("sheet {sheet:?}: {}", counted(count, one, several)));
        }
    }
}

/// The letters of a column, from 0.
pub(crate) fn column_letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

/// The address of a cell, such as `B3`.
pub(crate) fn cell_address(row: u32, column: u32) -> String {
    format!("{}{}", column_letters(column), row + 1)
}

/// Row and column of an address such as `B3` or `$B$3`; `None` if it lies outside of any sheet.
pub(crate) fn parse_address(address: &str) -> Option<(u32, u32)> {
    let mut column = 0u32;
    let mut row = 0u32;
    let mut has_digits = false;
    for byte in address.bytes() {
        match byte {
            b'$' => {}
            b'A'..=b'Z' | b'a'..=b'z' if !has_digits => {
                let letter = u32::from(byte.to_ascii_uppercase() - b'A');
                column = column.checked_mul(26)?.checked_add(letter + 1)?;
            }
            b'0'..=b'9' => {
                has_digits = true;
                row = row.checked_mul(10)?.checked_add(u32::from(byte - b'0'))?;
            }
            _ => return None,
        }
    }
    let is_inside = (1..=MAX_ROWS).contains(&row) && (1..=MAX_COLUMNS).contains(&column);
    is_inside.then(|| (row - 1, column - 1))
}

/// First and last cell of a range such as `A1:B3`; a single cell is a range.
pub(crate) fn parse_range(range: &str) -> Option<[(u32, u32); 2]> {
    let (first, last) = range.split_once(':').unwrap_or((range, range));
    let (first, last) = (parse_address(first)?, parse_address(last)?);
    (first.0 <= last.0 && first.1 <= last.1).then_some([first, last])
}

#[cfg(test)]
mod tests {
    use super::{cell_address, parse_address, parse_range};

    #[test]
    fn addresses_are_parsed_as_they_are_written() {
        for (row, column) in [(0, 0), (2, 25), (9, 26), (99, 701), (0, 702), (1_048_575, 16_383)] {
            assert_eq!(parse_address(&cell_address(row, column)), Some((row, column)));
        }
        assert_eq!(cell_address(0, 16_383), "XFD1");
        assert_eq!(parse_address("$B$3"), Some((2, 1)));
        for bad in ["", "A", "1", "A0", "XFE1", "A1048577", "A1B", "ZZZZZZZZZZ1", "日1"] {
            assert_eq!(parse_address(bad), None, "{bad}");
        }
        assert_eq!(parse_range("A1:B2"), Some([(0, 0), (1, 1)]));
        assert_eq!(parse_range("B2:A1"), None);
    }
}
