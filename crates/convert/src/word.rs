//! Converter of word-processing documents: Word, OpenDocument text, RTF.

use crate::conversion::Conversion;
use crate::document::{Document, DocumentKind};
use crate::error::ConvertError;
use crate::form::Form;
use crate::rich_text::{write_html, write_markdown};

mod docx;
mod field_code;
pub(crate) mod number_format;
mod odt;
mod rtf;
pub(crate) mod style_names;
pub(crate) mod symbols;

#[cfg(test)]
mod depth_tests;

/// Converts a document by way of rich text.
pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    let text = match document.kind {
        DocumentKind::Docx => docx::read(document.bytes, document.options)?,
        DocumentKind::Odt => odt::read(document.bytes, document.options)?,
        DocumentKind::Rtf => rtf::read(document.bytes)?,
        _ => return Err(ConvertError::no_form(document.kind, form)),
    };
    match form {
        Form::Markdown => write_markdown(text, document.options),
        Form::Html => write_html(text, document.options),
        _ => Err(ConvertError::no_form(document.kind, form)),
    }
}
