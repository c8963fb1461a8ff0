//! Converter of presentations: PowerPoint, OpenDocument.

use crate::conversion::Conversion;
use crate::document::{Document, DocumentKind};
use crate::error::ConvertError;
use crate::form::Form;

mod deck;
mod odp;
mod pptx;

#[cfg(test)]
mod tests;

/// Converts a presentation to a section of Markdown for each slide.
pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    let deck = match (document.kind, form) {
        (DocumentKind::Pptx, Form::Markdown) => pptx::read(document.bytes, document.options)?,
        (DocumentKind::Odp, Form::Markdown) => odp::read(document.bytes, document.options)?,
        _ => return Err(ConvertError::no_form(document.kind, form)),
    };
    deck.write_markdown(document.options)
}
