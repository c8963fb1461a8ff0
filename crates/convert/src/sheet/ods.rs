//! The reader of OpenDocument spreadsheets.
//!
//! Rows and cells say how often they repeat. The reader passes that on and never writes it out, so
//! that a sheet of a million equal rows costs as much as one.

mod cell;

use std::collections::HashSet;

use cell::{OdsShape, read_cell, read_shape};

use super::formula;
use super::grid::{
    CellValue, MAX_COLUMNS, MAX_ROWS, SheetCell, SheetExtras, SheetRow, SheetWriter, UNCALCULATED,
    cell_address, column_letters,
};
use crate::document::Document;
use crate::error::ConvertError;
use crate::package::Package;
use crate::xml_reader::{XmlElement, XmlEvent, XmlPartReader, xml_text};

/// Reads all sheets of a spreadsheet into `writer`.
pub(crate) fn read(
    document: &Document<'_>,
    writer: &mut dyn SheetWriter,
) -> Result<(), ConvertError> {
    let package = Package::open(document.bytes, document.options)?;
    if let Some(manifest) = package.part("META-INF/manifest.xml")?
        && xml_text(&manifest).contains("encryption-data")
    {
        return Err(ConvertError::protected());
    }
    let content = package.required_part("content.xml")?;
    let text = xml_text(&content);
    let mut reader = XmlPartReader::new(&text);
    let mut hidden_styles = HashSet::new();
    let mut style = String::new();
    let mut is_spreadsheet = false;
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(start) = event else { continue };
        match start.name() {
            "style" => style = start.attribute("name").unwrap_or_default(),
            "table-properties" if start.attribute("display").as_deref() == Some("false") => {
                hidden_styles.insert(style.clone());
            }
            "spreadsheet" => is_spreadsheet = true,
            "tracked-changes" => reader.skip()?,
            "table" if is_spreadsheet => {
                let name = start.attribute("name").unwrap_or_default();
                let style = start.attribute("style-name").unwrap_or_default();
                writer.start_sheet(&name, hidden_styles.contains(&style));
                let mut sheet = OdsSheet::default();
                sheet.read_rows(&mut reader, writer)?;
                sheet.say_losses(&name, writer);
                writer.end_sheet(&sheet.extras);
            }
            _ => {}
        }
    }
    if !is_spreadsheet {
        return Err(ConvertError::damaged("the document has no spreadsheet in it"));
    }
    Ok(())
}

/// A sheet while it is read.
#[derive(Default)]
struct OdsSheet {
    extras: SheetExtras,
    next_row: u32,
    next_column: u32,
    uncalculated: usize,
    cut_texts: usize,
    pictures: usize,
}

impl OdsSheet {
    /// Says what is not shown.
    fn say_losses(&self, sheet: &str, writer: &mut dyn SheetWriter) {
        let pictures = ("picture or chart is not shown", "pictures and charts are not shown");
        writer.lose_counted(sheet, self.uncalculated, UNCALCULATED);
        writer.cut_texts(sheet, self.cut_texts);
        writer.lose_counted(sheet, self.pictures, pictures);
    }

    fn read_rows(
        &mut self,
        reader: &mut XmlPartReader<'_>,
        writer: &mut dyn SheetWriter,
    ) -> Result<(), ConvertError> {
        let outside = reader.depth().saturating_sub(1);
        while reader.depth() > outside {
            let Some(event) = reader.next()? else { break };
            let XmlEvent::Start(start) = event else { continue };
            match start.name() {
                "table-column" => self.add_column(&start),
                "table-row" => self.read_row(&start, reader, writer)?,
                "shapes" => {
                    let shape = read_shape(reader)?;
                    self.add_shapes([shape]);
                }
                "forms" | "named-expressions" => reader.skip()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn add_shapes(&mut self, shapes: impl IntoIterator<Item = OdsShape>) {
        for shape in shapes {
            self.pictures += usize::from(shape.is_picture);
            if !shape.text.is_empty() {
                self.extras.shapes.push(shape.text);
            }
        }
    }

    fn add_column(&mut self, start: &XmlElement<'_>) {
        let repeat = start.number::<u32>("number-columns-repeated").unwrap_or(1).max(1);
        let first = self.next_column;
        self.next_column = first.saturating_add(repeat).min(MAX_COLUMNS);
        if is_hidden(start) && first < self.next_column {
            let ends = [first, self.next_column - 1].map(column_letters);
            self.extras.hidden_columns.push(range_of(&ends));
        }
    }

    fn read_row(
        &mut self,
        start: &XmlElement<'_>,
        reader: &mut XmlPartReader<'_>,
        writer: &mut dyn SheetWriter,
    ) -> Result<(), ConvertError> {
        let repeat = start.number::<u32>("number-rows-repeated").unwrap_or(1).max(1);
        let number = self.next_row;
        let repeat = repeat.min(MAX_ROWS - number);
        self.next_row = number + repeat;
        let is_hidden = is_hidden(start);
        let mut row = SheetRow::new(number, repeat);
        self.read_cells(reader, &mut row)?;
        if repeat == 0 || row.cells.is_empty() {
            return Ok(());
        }
        if is_hidden {
            let ends = [number + 1, number + repeat].map(|row| row.to_string());
            self.extras.hidden_rows.push(range_of(&ends));
        }
        if !writer.takes_cells() {
            row.cells.clear();
        }
        writer.add_row(&row);
        Ok(())
    }

    fn read_cells(
        &mut self,
        reader: &mut XmlPartReader<'_>,
        row: &mut SheetRow,
    ) -> Result<(), ConvertError> {
        let outside = reader.depth().saturating_sub(1);
        let mut column = 0;
        while reader.depth() > outside {
            let Some(event) = reader.next()? else { break };
            let XmlEvent::Start(start) = event else { continue };
            let repeat = start.number::<u32>("number-columns-repeated").unwrap_or(1).max(1);
            match start.name() {
                "table-cell" => {
                    let mut cell = self.cell(&start, reader)?;
                    cell.column = column;
                    cell.repeat = repeat.min(MAX_COLUMNS - column);
                    self.add_span(&start, row.number, column);
                    if cell.repeat > 0 && (!cell.is_empty() || cell.link.is_some()) {
                        self.cut_texts += usize::from(!row.push(cell));
                    }
                }
                // A cell under another one shows nothing.
                "covered-table-cell" => reader.skip()?,
                _ => continue,
            }
            column = column.saturating_add(repeat).min(MAX_COLUMNS);
        }
        Ok(())
    }

    fn cell(
        &mut self,
        start: &XmlElement<'_>,
        reader: &mut XmlPartReader<'_>,
    ) -> Result<SheetCell, ConvertError> {
        let content = read_cell(reader)?;
        self.add_shapes(content.shapes);
        let formula = start.attribute("formula").map(|text| formula::of_open_document(&text));
        let (value, shown) = typed_value(start, content.text);
        let is_uncalculated = value == CellValue::Empty && formula.is_some();
        self.uncalculated += usize::from(is_uncalculated);
        let (link, notes) = (content.link, content.notes);
        Ok(SheetCell { value, shown, formula, link, notes, ..SheetCell::default() })
    }

    fn add_span(&mut self, start: &XmlElement<'_>, row: u32, column: u32) {
        let span = |name| start.number::<u32>(name).unwrap_or(1).max(1) - 1;
        let (rows, columns) = (span("number-rows-spanned"), span("number-columns-spanned"));
        if rows > 0 || columns > 0 {
            let last_row = row.saturating_add(rows).min(MAX_ROWS - 1);
            let last_column = column.saturating_add(columns).min(MAX_COLUMNS - 1);
            let ends = [cell_address(row, column), cell_address(last_row, last_column)];
            self.extras.merged.push(ends.join(":"));
        }
    }
}

/// The value of a cell and the text that it shows.
fn typed_value(start: &XmlElement<'_>, text: String) -> (CellValue, String) {
    let kind = start.attribute("value-type").unwrap_or_default();
    let shown_or = |value: Option<String>| {
        if text.is_empty() { value.unwrap_or_default() } else { text.clone() }
    };
    match kind.as_str() {
        "float" | "percentage" | "currency" => {
            let number = start.number::<f64>("value");
            let shown = shown_or(number.map(super::number_format::general));
            let is_error = text.starts_with('#') || text.starts_with("Err:");
            match number {
                Some(_) if is_error => (CellValue::Error, shown),
                Some(number) => (CellValue::Number(number), shown),
                None => (CellValue::Text, shown),
            }
        }
        "date" => (CellValue::Date, start.attribute("date-value").unwrap_or(text)),
        "time" => {
            let time = start.attribute("time-value").and_then(|time| clock(&time));
            (CellValue::Date, time.unwrap_or(text))
        }
        "boolean" => {
            let is_true = start.attribute("boolean-value").as_deref() == Some("true");
            let word = if is_true { "TRUE" } else { "FALSE" };
            (CellValue::Bool(is_true), word.to_owned())
        }
        _ => {
            let shown = shown_or(start.attribute("string-value"));
            let is_empty = shown.is_empty();
            (if is_empty { CellValue::Empty } else { CellValue::Text }, shown)
        }
    }
}

/// A duration such as `PT13H45M00S` as `13:45:00`.
fn clock(duration: &str) -> Option<String> {
    let (sign, rest) = match duration.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", duration),
    };
    let (hours, rest) = rest.strip_prefix("PT")?.split_once('H')?;
    let (minutes, rest) = rest.split_once('M')?;
    let seconds = rest.strip_suffix('S')?;
    let (whole, parts) = seconds.split_once(['.', ',']).unwrap_or((seconds, ""));
    let parts = parts.trim_end_matches('0');
    let point = if parts.is_empty() { "" } else { "." };
    let [hours, minutes, whole] = [hours, minutes, whole].map(|digits| digits.parse::<u32>().ok());
    Some(format!("{sign}{:02}:{:02}:{:02}{point}{parts}", hours?, minutes?, whole?))
}

fn is_hidden(start: &XmlElement<'_>) -> bool {
    matches!(start.attribute("visibility").as_deref(), Some("collapse" | "filter"))
}

/// A range by its ends; one place is named once.
fn range_of(ends: &[String; 2]) -> String {
    if ends[0] == ends[1] { ends[0].clone() } else { ends.join(":") }
}
