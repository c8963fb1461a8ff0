//! Tables of `tbl`: rows of cells, with the fonts of their columns.

use super::machine::RoffMachine;
use super::page::ManPage;
use crate::rich_text::{RichBlock, RichCell, RichSpan, RichTable, SpanContent, SpanStyle};

/// The most columns of a format that count.
const MAX_COLUMNS: usize = 1_000;

/// The most rows whose cells are kept, far over what is shown.
pub(super) const MAX_ROWS: usize = 100_000;

/// A table that is being read.
pub(super) struct RoffTable {
    separator: char,
    /// The fonts of columns, for each row; the last holds for all that follow.
    format: Vec<Vec<SpanStyle>>,
    /// The row that the format begins with.
    format_start: usize,
    is_format: bool,
    rows: Vec<Vec<Vec<RichSpan>>>,
    row: Vec<Vec<RichSpan>>,
    is_in_block: bool,
}

impl RoffTable {
    fn new() -> Self {
        Self {
            separator: '\t',
            format: Vec::new(),
            format_start: 0,
            is_format: true,
            rows: Vec::new(),
            row: Vec::new(),
            is_in_block: false,
        }
    }

    /// Whether the format is being read, which a period ends.
    pub(super) fn is_format(&self) -> bool {
        self.is_format
    }

    /// Whether a cell of several lines is open, which are set as those of the page.
    pub(super) fn is_in_block(&self) -> bool {
        self.is_in_block
    }

    fn line(&mut self, line: &str, page: &mut ManPage) {
        if self.is_format {
            return self.format_line(line.trim());
        }
        if !self.is_in_block {
            return self.data(line, page);
        }
        self.is_in_block = false;
        self.row.push(page.end_cell());
        match line.strip_prefix("T}").and_then(|rest| rest.strip_prefix(self.separator)) {
            Some(rest) => self.data(rest, page),
            None => self.end_row(),
        }
    }

    fn format_line(&mut self, line: &str) {
        if let Some(options) = line.strip_suffix(';') {
            let tab = options.split_once("tab(").and_then(|(_, rest)| rest.chars().next());
            self.separator = tab.unwrap_or(self.separator);
            return;
        }
        for row in line.trim_end_matches('.').split(',') {
            self.format.push(column_fonts(row));
        }
        self.is_format = !line.ends_with('.');
    }

    fn data(&mut self, line: &str, page: &mut ManPage) {
        if self.row.is_empty() && matches!(line.trim(), "_" | "=" | "\\_" | "") {
            return;
        }
        for cell in line.split(self.separator) {
            page.start_cell();
            let cell = cell.trim();
            if cell == "T{" {
                self.is_in_block = true;
                return;
            }
            let font = self.font();
            if !matches!(cell, "_" | "=" | "\\_" | "\\=") {
                page.styled(cell, font);
            }
            self.row.push(page.end_cell());
        }
        self.end_row();
    }

    fn font(&self) -> SpanStyle {
        let row = self.format.get(self.rows.len() - self.format_start).or(self.format.last());
        row.and_then(|row| row.get(self.row.len())).copied().unwrap_or_default()
    }

    fn end_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        if !row.is_empty() {
            // A row without cells is counted among those that are left out.
            self.rows.push(if self.rows.len() < MAX_ROWS { row } else { Vec::new() });
        }
    }

    /// The title of a table: a first row that is one cell over all columns.
    fn take_title(&mut self) -> Option<Vec<RichSpan>> {
        let is_blank = |cell: &Vec<RichSpan>| cell.is_empty();
        let first = self.rows.first().filter(|row| row.iter().skip(1).all(is_blank))?;
        let has_columns = self.rows.iter().skip(1).any(|row| row.len() > 1);
        (has_columns && self.rows.len() > 2 && !first[0].is_empty())
            .then(|| self.rows.remove(0).swap_remove(0))
    }

    fn into_block(self) -> RichBlock {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        if columns > 1 {
            let cell = |spans| RichCell::single(vec![RichBlock::Paragraph(spans)]);
            let rows = self.rows.into_iter().map(|row| row.into_iter().map(cell).collect());
            return RichBlock::Table(RichTable { rows: rows.collect() });
        }
        let mut spans = Vec::new();
        for row in self.rows.into_iter().flatten().filter(|row| !row.is_empty()) {
            if !spans.is_empty() {
                spans.push(RichSpan::plain(SpanContent::Break));
            }
            spans.extend(row);
        }
        RichBlock::Paragraph(spans)
    }
}

/// The fonts of the columns of a row of a format, such as `lB l lfI.`
fn column_fonts(row: &str) -> Vec<SpanStyle> {
    let mut fonts: Vec<SpanStyle> = Vec::new();
    let mut letters = row.chars();
    while let Some(letter) = letters.next() {
        match letter {
            'l' | 'L' | 'r' | 'R' | 'c' | 'C' | 'n' | 'N' | 'a' | 'A' | 's' | 'S' | '^'
                if fonts.len() < MAX_COLUMNS =>
            {
                fonts.push(SpanStyle::default());
            }
            'b' | 'B' | 'i' | 'I' => {
                if let Some(font) = fonts.last_mut() {
                    let is_bold = letter.eq_ignore_ascii_case(&'b');
                    *font = if is_bold { SpanStyle::BOLD } else { SpanStyle::ITALIC };
                }
            }
            '(' => {
                letters.by_ref().take_while(|letter| *letter != ')').for_each(drop);
            }
            _ => {}
        }
    }
    fonts
}

impl RoffMachine<'_> {
    pub(super) fn start_table(&mut self) {
        self.end_table();
        self.page.end_paragraph();
        self.table = Some(RoffTable::new());
    }

    pub(super) fn table_line(&mut self, line: &str) {
        if let Some(table) = &mut self.table {
            table.line(line, &mut self.page);
        }
    }

    /// Handles a request between the rows of a table; true if it runs as any other.
    pub(super) fn table_request(&mut self, name: &str) -> bool {
        match name {
            "TE" => self.end_table(),
            "T&" => {
                if let Some(table) = &mut self.table {
                    table.format.clear();
                    table.format_start = table.rows.len();
                    table.is_format = true;
                }
            }
            "SH" | "SS" | "Sh" | "Ss" | "TH" => {
                self.end_table();
                return true;
            }
            "de" | "de1" | "am" | "ig" | "ds" | "as" | "nr" | "rm" | "rr" | "rn" | "als" => {
                return true;
            }
            _ => {}
        }
        false
    }

    /// Ends the table, if one is open.
    pub(super) fn end_table(&mut self) {
        let Some(mut table) = self.table.take() else { return };
        if table.is_in_block {
            table.row.push(self.page.end_cell());
        }
        table.end_row();
        if table.rows.len() > MAX_ROWS {
            self.cut("the last rows of a long table are left out");
        }
        if let Some(title) = table.take_title() {
            self.page.push_block(RichBlock::Paragraph(title));
        }
        if !table.rows.is_empty() {
            self.page.push_block(table.into_block());
        }
    }
}
