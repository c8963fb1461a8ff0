//! The converter of spreadsheets and of values in text.

mod delimited;
mod formula;
mod grid;
mod merged_cells;
mod number_format;
mod ods;
mod serial_date;
mod write_csv;
mod write_json;
mod write_markdown;
mod xlsx;

use grid::SheetWriter;
use write_csv::SheetCsv;
use write_json::SheetJson;
use write_markdown::SheetMarkdown;

use crate::conversion::Conversion;
use crate::document::{Document, DocumentKind};
use crate::error::ConvertError;
use crate::form::Form;

/// Converts a workbook or values in text.
pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    if matches!(document.kind, DocumentKind::Csv | DocumentKind::Tsv) {
        return delimited::convert(document, form);
    }
    match form {
        Form::Markdown => {
            let mut writer = SheetMarkdown::new(document.options);
            read(document, &mut writer)?;
            Ok(writer.finish())
        }
        Form::Csv => {
            let mut writer = SheetCsv::new(document.options);
            read(document, &mut writer)?;
            Ok(writer.finish())
        }
        Form::Json => {
            let mut writer = SheetJson::new(document.options);
            read(document, &mut writer)?;
            Ok(writer.finish())
        }
        form => Err(ConvertError::no_form(document.kind, form)),
    }
}

fn read(document: &Document<'_>, writer: &mut dyn SheetWriter) -> Result<(), ConvertError> {
    match document.kind {
        DocumentKind::Ods => ods::read(document, writer),
        _ => xlsx::read(document, writer),
    }
}

#[cfg(test)]
mod tests;
