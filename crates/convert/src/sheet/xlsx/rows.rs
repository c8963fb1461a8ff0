//! The cells of a sheet of Excel, row by row.

use std::collections::HashMap;

use super::super::formula::{shifted, without_prefixes};
use super::super::grid::{
    CellValue, MAX_COLUMNS, MAX_ROWS, SheetCell, SheetRow, SheetWriter, UNCALCULATED, parse_address,
};
use super::super::number_format::general;
use super::Workbook;
use super::extras::XlsxExtras;
use super::parts::{rich_text, unescaped};
use crate::error::ConvertError;
use crate::xml_reader::{XmlElement, XmlEvent, XmlPartReader};

/// The most formulas that others of the sheet share, the longest one, and the most bytes of all
/// formulas that are made of them.
const MAX_SHARED: usize = 100_000;
const MAX_SHARED_LENGTH: usize = 8_192;
const MAX_SHIFTED_BYTES: usize = 64 << 20;

/// A reader of the rows of a sheet.
pub(super) struct XlsxRows<'a, 'b> {
    workbook: &'a Workbook<'b>,
    extras: &'a mut XlsxExtras,
    /// Formulas that several cells share: where they stand, and what they are.
    shared: HashMap<u32, (u32, u32, String)>,
    shifted_bytes: usize,
    next_row: u32,
    missing_texts: usize,
    uncalculated: usize,
    cut_texts: usize,
}

/// A cell while it is read.
#[derive(Default)]
struct RawCell {
    kind: String,
    style: usize,
    value: String,
    text: Option<String>,
    formula: Option<String>,
}

impl<'a, 'b> XlsxRows<'a, 'b> {
    pub(super) fn new(workbook: &'a Workbook<'b>, extras: &'a mut XlsxExtras) -> Self {
        Self {
            workbook,
            extras,
            shared: HashMap::new(),
            shifted_bytes: 0,
            next_row: 0,
            missing_texts: 0,
            uncalculated: 0,
            cut_texts: 0,
        }
    }

    pub(super) fn read(
        &mut self,
        text: &str,
        writer: &mut dyn SheetWriter,
    ) -> Result<(), ConvertError> {
        let mut reader = XmlPartReader::new(text);
        let mut row = SheetRow::new(0, 1);
        while let Some(event) = reader.next()? {
            let XmlEvent::Start(start) = event else { continue };
            match start.name() {
                "col" if start.is_set("hidden") => self.extras.hide_columns(&start),
                "row" => {
                    let number = start.number::<u32>("r").map(|number| number.saturating_sub(1));
                    row.restart(number.unwrap_or(0).max(self.next_row));
                    if row.number >= MAX_ROWS {
                        return Err(ConvertError::damaged("a row lies outside of its sheet"));
                    }
                    self.next_row = row.number + 1;
                    if start.is_set("hidden") {
                        self.extras.hide_row(row.number);
                    }
                    if writer.takes_cells() {
                        self.read_row(&mut reader, &mut row)?;
                        writer.add_row(&row);
                    } else if has_content(&mut reader)? {
                        writer.add_row(&row);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Says what the cells lack.
    pub(super) fn say_losses(&self, sheet: &str, writer: &mut dyn SheetWriter) {
        let missing = (
            "cell refers to a text that the workbook does not have",
            "cells refer to texts that the workbook does not have",
        );
        writer.lose_counted(sheet, self.missing_texts, missing);
        writer.cut_texts(sheet, self.cut_texts);
        if self.shifted_bytes > MAX_SHIFTED_BYTES {
            writer.cut(format!("sheet {sheet:?}: formulas are left out: they are too many"));
        }
        writer.lose_counted(sheet, self.uncalculated, UNCALCULATED);
    }

    fn read_row(
        &mut self,
        reader: &mut XmlPartReader<'_>,
        row: &mut SheetRow,
    ) -> Result<(), ConvertError> {
        let outside = reader.depth().saturating_sub(1);
        let mut next_column = 0;
        let mut is_sorted = true;
        while reader.depth() > outside {
            let Some(event) = reader.next()? else { break };
            let XmlEvent::Start(start) = event else { continue };
            if start.name() != "c" {
                continue;
            }
            let mut raw = RawCell::default();
            let mut column = next_column;
            for (name, value) in start.attributes() {
                match name {
                    "r" => column = parse_address(&value).map_or(next_column, |place| place.1),
                    "s" => raw.style = value.trim().parse().unwrap_or(0),
                    "t" => raw.kind = value.into_owned(),
                    _ => {}
                }
            }
            self.read_cell(reader, &mut raw, (row.number, column))?;
            if column >= MAX_COLUMNS || self.extras.merged.covers(row.number, column) {
                continue;
            }
            if row.is_full() {
                self.cut_texts += 1;
                continue;
            }
            is_sorted &= column >= next_column;
            next_column = column + 1;
            let mut cell = self.finished(raw, column);
            let place = (row.number, column);
            cell.link = self.extras.links.remove(&place);
            cell.notes = self.extras.notes.remove(&place).unwrap_or_default();
            if !cell.is_empty() || cell.link.is_some() {
                self.cut_texts += usize::from(!row.push(cell));
            }
        }
        if !is_sorted {
            row.cells.sort_by_key(|cell| cell.column);
            row.cells.dedup_by_key(|cell| cell.column);
        }
        Ok(())
    }

    fn read_cell(
        &mut self,
        reader: &mut XmlPartReader<'_>,
        raw: &mut RawCell,
        place: (u32, u32),
    ) -> Result<(), ConvertError> {
        let outside = reader.depth().saturating_sub(1);
        while reader.depth() > outside {
            let Some(event) = reader.next()? else { break };
            let XmlEvent::Start(start) = event else { continue };
            match start.name() {
                "v" => raw.value = reader.text()?,
                "is" => raw.text = Some(rich_text(reader)?),
                "f" => {
                    let formula = reader.text()?;
                    raw.formula = self.formula(&start, &formula, place);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The formula of a cell, which may be that of another cell, moved.
    fn formula(&mut self, start: &XmlElement<'_>, text: &str, place: (u32, u32)) -> Option<String> {
        let index = (start.attribute("t").as_deref() == Some("shared"))
            .then(|| start.number::<u32>("si"))
            .flatten();
        if !text.is_empty() {
            let formula = without_prefixes(text);
            let is_bounded = self.shared.len() < MAX_SHARED && formula.len() <= MAX_SHARED_LENGTH;
            if let Some(index) = index.filter(|_| is_bounded) {
                self.shared.insert(index, (place.0, place.1, formula.clone()));
            }
            return Some(formula);
        }
        let (row, column, formula) = self.shared.get(&index?)?;
        self.shifted_bytes += formula.len();
        if self.shifted_bytes > MAX_SHIFTED_BYTES {
            return None;
        }
        let by = |to: u32, from: u32| i64::from(to) - i64::from(from);
        Some(shifted(formula, by(place.0, *row), by(place.1, *column)))
    }

    fn finished(&mut self, raw: RawCell, column: u32) -> SheetCell {
        let format = self.workbook.styles.format(raw.style);
        let text = |text: String| {
            let shown = format.and_then(|format| format.show_text(&text)).unwrap_or(text);
            (CellValue::Text, shown)
        };
        let (value, shown) = match raw.kind.as_str() {
            "s" if !raw.value.is_empty() => {
                let index = raw.value.trim().parse().ok();
                let found = index.and_then(|index| self.workbook.strings.get(index));
                self.missing_texts += usize::from(found.is_none());
                text(found.unwrap_or_default().to_owned())
            }
            "inlineStr" => text(raw.text.unwrap_or_default()),
            "str" => text(unescaped(raw.value)),
            "b" if !raw.value.is_empty() => {
                let is_true = matches!(raw.value.trim(), "1" | "true");
                let word = if is_true { "TRUE" } else { "FALSE" };
                (CellValue::Bool(is_true), word.to_owned())
            }
            "e" => (CellValue::Error, raw.value),
            "d" => (CellValue::Date, raw.value),
            _ => match raw.value.trim().parse::<f64>() {
                Ok(number) => {
                    let is_date = format.is_some_and(|format| format.is_date());
                    let shown = format.map(|one| one.show_number(number, self.workbook.is_1904));
                    let value = if is_date { CellValue::Date } else { CellValue::Number(number) };
                    (value, shown.unwrap_or_else(|| general(number)))
                }
                Err(_) => (CellValue::Text, raw.value),
            },
        };
        let value = if shown.is_empty() { CellValue::Empty } else { value };
        let is_uncalculated = value == CellValue::Empty && raw.formula.is_some();
        // An empty text is a calculated value too.
        self.uncalculated += usize::from(is_uncalculated && raw.kind != "str");
        SheetCell { column, repeat: 1, value, shown, formula: raw.formula, ..SheetCell::default() }
    }
}

/// Whether the row that was started last has any content. Skips the row.
fn has_content(reader: &mut XmlPartReader<'_>) -> Result<bool, ConvertError> {
    let outside = reader.depth().saturating_sub(1);
    let mut has_content = false;
    while reader.depth() > outside {
        match reader.next()? {
            Some(XmlEvent::Start(start)) => has_content |= matches!(start.name(), "v" | "f" | "is"),
            Some(_) => {}
            None => break,
        }
    }
    Ok(has_content)
}
