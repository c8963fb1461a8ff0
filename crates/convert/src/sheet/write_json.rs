//! Sheets as JSON: typed values, formulas, merged ranges, comments and links.

use serde_json::{Value, json};

use super::grid::{
    CellNote, CellValue, SheetCell, SheetExtras, SheetRow, SheetWriter, cell_address,
};
use super::write_csv::MAX_REPEATED_ROWS;
use crate::conversion::Conversion;
use crate::options::Options;

/// Writes sheets as JSON: one value, so that it has no sections.
pub(crate) struct SheetJson<'a> {
    converted: Conversion,
    options: &'a Options,
    /// Members of an object: the address of a cell, and its formula or link.
    formulas: String,
    links: String,
    notes: Vec<Value>,
    next_row: u32,
    sheets: usize,
    is_full: bool,
}

impl<'a> SheetJson<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        let mut converted = Conversion::default();
        converted.push_str("{\"sheets\":[");
        Self {
            converted,
            options,
            formulas: String::new(),
            links: String::new(),
            notes: Vec::new(),
            next_row: 0,
            sheets: 0,
            is_full: false,
        }
    }

    pub(crate) fn finish(mut self) -> Conversion {
        if self.is_full {
            self.cut("rows are left out: the result is over the limit of bytes".to_owned());
        }
        let end = format!("],\"complete\":{}}}\n", !self.is_full);
        self.converted.push_str(&end);
        self.converted
    }

    fn push_row(&mut self, text: &str) {
        if self.next_row > 0 {
            self.converted.push_str(",\n");
        }
        self.converted.push_str(text);
        self.next_row += 1;
    }

    fn row_text(&mut self, row: &SheetRow) -> String {
        let mut text = String::from("[");
        let mut fields = 0;
        for cell in row.cells.iter().filter(|cell| !cell.is_empty()) {
            let address = cell_address(row.number, cell.column);
            push_member(&mut self.formulas, &address, cell.formula.as_deref(), "=");
            push_member(&mut self.links, &address, cell.link.as_deref(), "");
            self.notes.extend(cell.notes.iter().map(|note| note_value(&address, note)));
            let value = cell_value(cell);
            for column in cell.column..cell.column.saturating_add(cell.repeat) {
                for gap in fields..column {
                    text.push_str(if gap == 0 { "null" } else { ",null" });
                }
                if column > 0 {
                    text.push(',');
                }
                text.push_str(&value);
                fields = column + 1;
                if text.len() > self.options.max_output_bytes {
                    break;
                }
            }
        }
        text.push(']');
        text
    }
}

impl SheetWriter for SheetJson<'_> {
    fn start_sheet(&mut self, name: &str, is_hidden: bool) {
        if self.sheets > 0 {
            self.converted.push_str(",\n");
        }
        self.sheets += 1;
        let head = format!("{{\"name\":{},\"hidden\":{is_hidden},\"rows\":[\n", json!(name));
        self.converted.push_str(&head);
        self.next_row = 0;
    }

    fn takes_cells(&self) -> bool {
        !self.is_full
    }

    fn add_row(&mut self, row: &SheetRow) {
        if self.is_full || row.cells.iter().all(SheetCell::is_empty) {
            return;
        }
        for _ in self.next_row..row.number {
            self.push_row("[]");
        }
        let text = self.row_text(row);
        for _ in 0..row.repeat.min(MAX_REPEATED_ROWS) {
            self.push_row(&text);
            let size = self.converted.body.len() + self.formulas.len() + self.links.len();
            if size > self.options.max_output_bytes {
                self.is_full = true;
                return;
            }
        }
        if row.repeat > MAX_REPEATED_ROWS {
            self.next_row = row.number.saturating_add(row.repeat);
            self.lose(format!(
                "row {} stands {} times, of which {MAX_REPEATED_ROWS} are given",
                row.number + 1,
                row.repeat
            ));
        }
    }

    fn end_sheet(&mut self, extras: &SheetExtras) {
        self.converted.push_str("\n]");
        for (name, members) in [("formulas", &mut self.formulas), ("links", &mut self.links)] {
            if !members.is_empty() {
                let text = format!(",\n\"{name}\":{{{}}}", std::mem::take(members));
                self.converted.body.extend_from_slice(text.as_bytes());
            }
        }
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(extras.notes.iter().map(|(address, note)| note_value(address, note)));
        let tables = extras.tables.iter();
        let tables: Vec<_> =
            tables.map(|(name, range)| json!({"name": name, "range": range})).collect();
        let members = [
            ("merged", json!(extras.merged)),
            ("comments", Value::Array(notes)),
            ("tables", Value::Array(tables)),
            ("hiddenColumns", json!(extras.hidden_columns)),
            ("hiddenRows", json!(extras.hidden_rows)),
            ("shapes", json!(extras.shapes)),
        ];
        for (name, value) in members {
            if value.as_array().is_some_and(|values| !values.is_empty()) {
                self.converted.push_str(&format!(",\n\"{name}\":{value}"));
            }
        }
        self.converted.push_str("}");
    }

    fn lose(&mut self, sentence: String) {
        self.converted.losses.push(sentence);
    }

    fn cut(&mut self, sentence: String) {
        self.converted.cut(sentence);
    }
}

fn cell_value(cell: &SheetCell) -> String {
    match cell.value {
        CellValue::Empty => "null".to_owned(),
        CellValue::Number(number) if number.is_finite() => number.to_string(),
        CellValue::Bool(value) => value.to_string(),
        CellValue::Number(_) | CellValue::Date | CellValue::Text | CellValue::Error => {
            serde_json::to_string(&cell.shown).unwrap_or_else(|_| "null".to_owned())
        }
    }
}

fn push_member(members: &mut String, name: &str, value: Option<&str>, prefix: &str) {
    if let Some(value) = value {
        let comma = if members.is_empty() { "" } else { "," };
        members.push_str(&format!("{comma}\"{name}\":{}", json!(format!("{prefix}{value}"))));
    }
}

fn note_value(address: &str, note: &CellNote) -> Value {
    json!({"cell": address, "author": note.author, "text": note.text})
}
