//! Sheets as Markdown: a section a sheet, a table a block of cells.

use super::grid::{
    CellNote, CellValue, SheetCell, SheetExtras, SheetRow, SheetWriter, cell_address,
};
use crate::conversion::Conversion;
use crate::markdown::{escape, left_out, table};
use crate::options::Options;

/// The longest formula that stands beside its value.
const MAX_FORMULA: usize = 80;

/// The most bytes of the tables of a sheet.
const MAX_TABLE_BYTES: usize = 32 << 20;

/// The longest list of ranges that a line names.
const MAX_RANGES: usize = 50;

/// Writes sheets as Markdown.
pub(crate) struct SheetMarkdown<'a> {
    converted: Conversion,
    options: &'a Options,
    /// The rows of the block that is being read.
    block: Vec<BlockRow>,
    /// The row after the last one that was read.
    next_row: u32,
    rows_shown: usize,
    rows_left: u64,
    /// The bytes of the tables of the sheet.
    table_bytes: usize,
    /// The footnotes of all sheets, and those that wait for the end of the table.
    footnotes: usize,
    waiting: Vec<(usize, String, CellNote)>,
    has_text: bool,
}

/// A row of a block: the leftmost cells, and the last column that has any.
#[derive(Default, Clone)]
struct BlockRow {
    number: u32,
    cells: Vec<(u32, String)>,
    last_column: u32,
}

impl<'a> SheetMarkdown<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self {
            converted: Conversion::default(),
            options,
            block: Vec::new(),
            next_row: 0,
            rows_shown: 0,
            rows_left: 0,
            table_bytes: 0,
            footnotes: 0,
            waiting: Vec::new(),
            has_text: false,
        }
    }

    pub(crate) fn finish(self) -> Conversion {
        self.converted
    }

    fn paragraph(&mut self, text: &str) {
        self.converted.push_str("\n");
        self.converted.push_str(text);
        self.converted.push_str("\n");
        self.has_text = true;
    }

    /// Writes the rows of the block as a table, with its range unless it starts the sheet.
    fn flush_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        let cells = || block.iter().flat_map(|row| row.cells.first());
        let Some(first) = cells().map(|cell| cell.0).min() else { return };
        let (Some(top), Some(bottom)) = (block.first(), block.last()) else { return };
        let last = block.iter().map(|row| row.last_column).max().unwrap_or(first);
        if (top.number, first) != (0, 0) {
            let range = [cell_address(top.number, first), cell_address(bottom.number, last)];
            self.paragraph(&format!("Cells {}:", range.join(":")));
        }
        let width = (last - first + 1) as usize;
        let shown = width.min(self.options.max_table_columns);
        let rows = block.into_iter().map(|row| {
            let mut texts = vec![String::new(); shown];
            for (column, text) in row.cells {
                if let Some(place) = texts.get_mut((column - first) as usize) {
                    *place = text;
                }
            }
            texts
        });
        let text = table(&rows.collect::<Vec<_>>(), self.options);
        self.paragraph(text.trim_end());
        if let Some(words) = left_out(0, width - shown) {
            self.paragraph(&format!("*{words}*"));
        }
    }

    fn cell_text(&mut self, row: u32, cell: &SheetCell) -> String {
        let mut text = match cell.value {
            CellValue::Text | CellValue::Error => escape_cell(&cell.shown),
            _ => cell.shown.clone(),
        };
        if let Some(link) = &cell.link {
            let label = if text.is_empty() { escape(link) } else { text };
            text = format!("[{label}]({})", link_target(link));
        }
        if let Some(formula) = &cell.formula {
            let is_empty = text.is_empty();
            if is_empty || formula.len() <= MAX_FORMULA {
                let formula = escape_cell(&format!("={formula}"));
                text = if is_empty { formula } else { format!("{text} ({formula})") };
            }
        }
        for note in &cell.notes {
            self.footnotes += 1;
            text.push_str(&format!("[^{}]", self.footnotes));
            let place = (self.footnotes, cell_address(row, cell.column), note.clone());
            self.waiting.push(place);
        }
        text
    }

    fn block_row(&mut self, row: &SheetRow) -> BlockRow {
        let mut block_row = BlockRow { number: row.number, ..BlockRow::default() };
        let most = self.options.max_table_columns;
        for cell in row.cells.iter().filter(|cell| !cell.is_empty()) {
            block_row.last_column = cell.column + cell.repeat.saturating_sub(1);
            if block_row.cells.len() >= most {
                continue;
            }
            let text = self.cell_text(row.number, cell);
            for column in (cell.column..).take((cell.repeat as usize).min(most)) {
                block_row.cells.push((column, text.clone()));
            }
        }
        block_row
    }

    fn write_notes(&mut self, extras: &SheetExtras) {
        let waiting = std::mem::take(&mut self.waiting);
        let numbers = self.footnotes + 1..;
        let on_empty = numbers.zip(&extras.notes);
        let on_empty = on_empty.map(|(number, note)| (number, note.0.clone(), note.1.clone()));
        let notes: Vec<_> = waiting.into_iter().chain(on_empty).collect();
        self.footnotes += extras.notes.len();
        for (number, address, note) in notes {
            let author = escape(&note.author);
            let comma = if author.is_empty() { "" } else { ", " };
            let text = escape(&note.text).replace("\r\n", "\n").replace('\n', "\n    ");
            self.paragraph(&format!("[^{number}]: {address}{comma}{author}: {text}"));
        }
    }
}

impl SheetWriter for SheetMarkdown<'_> {
    fn start_sheet(&mut self, name: &str, is_hidden: bool) {
        if !self.converted.body.is_empty() {
            self.converted.push_str("\n");
        }
        self.converted.start_section(Some(name.to_owned()), is_hidden);
        let mark = if is_hidden { " (hidden)" } else { "" };
        self.converted.push_str(&format!("## {}{mark}\n", escape(name).replace('\n', " ")));
        self.next_row = 0;
        self.rows_shown = 0;
        self.rows_left = 0;
        self.table_bytes = 0;
        self.has_text = false;
    }

    fn takes_cells(&self) -> bool {
        // The first row of a table is its header.
        self.rows_shown <= self.options.max_table_rows
            && self.table_bytes < MAX_TABLE_BYTES
            && self.converted.body.len() < self.options.max_output_bytes
    }

    fn add_row(&mut self, row: &SheetRow) {
        if !self.takes_cells() {
            self.rows_left += u64::from(row.repeat);
            return;
        }
        if row.cells.iter().all(SheetCell::is_empty) {
            return;
        }
        let gap = row.number.saturating_sub(self.next_row);
        if gap > 1 {
            self.flush_block();
        } else if gap == 1 && !self.block.is_empty() {
            self.block.push(BlockRow { number: self.next_row, ..BlockRow::default() });
        }
        let block_row = self.block_row(row);
        let row_bytes: usize = block_row.cells.iter().map(|cell| cell.1.len()).sum();
        let mut copies = 0;
        while copies < row.repeat && self.takes_cells() {
            let number = row.number + copies;
            self.block.push(BlockRow { number, ..block_row.clone() });
            self.rows_shown += 1;
            self.table_bytes += row_bytes;
            copies += 1;
        }
        self.rows_left += u64::from(row.repeat - copies);
        self.next_row = row.number.saturating_add(row.repeat);
    }

    fn end_sheet(&mut self, extras: &SheetExtras) {
        self.flush_block();
        if let Some(words) = left_out(usize::try_from(self.rows_left).unwrap_or(usize::MAX), 0) {
            self.paragraph(&format!("*{words}*"));
        }
        for (name, range) in &extras.tables {
            self.paragraph(&format!("Table {}: {range}", escape(name)));
        }
        for (word, ranges) in [("columns", &extras.hidden_columns), ("rows", &extras.hidden_rows)] {
            if !ranges.is_empty() {
                let named: Vec<_> = ranges.iter().take(MAX_RANGES).map(String::as_str).collect();
                let rest = if ranges.len() > MAX_RANGES { " and more" } else { "" };
                self.paragraph(&format!("Hidden {word}: {}{rest}", named.join(", ")));
            }
        }
        for shape in &extras.shapes {
            self.paragraph(&escape(shape));
        }
        self.write_notes(extras);
        if !self.has_text {
            self.paragraph("*The sheet is empty*");
        }
    }

    fn lose(&mut self, sentence: String) {
        self.converted.losses.push(sentence);
    }

    fn cut(&mut self, sentence: String) {
        self.converted.cut(sentence);
    }
}

/// The text of a cell, on one line.
fn escape_cell(text: &str) -> String {
    let escaped = escape(text.trim());
    if !escaped.contains(['\n', '\r']) {
        return escaped;
    }
    escaped.replace("\r\n", "\n").replace(['\n', '\r'], "<br>")
}

/// The address of a link, without what would end it.
fn link_target(link: &str) -> String {
    let mut target = String::with_capacity(link.len());
    for letter in link.chars() {
        match letter {
            ' ' | '(' | ')' | '<' | '>' | '|' | '\n' | '\r' | '\t' => {
                target.push_str(&format!("%{:02X}", u32::from(letter)));
            }
            other => target.push(other),
        }
    }
    target
}
