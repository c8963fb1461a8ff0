//! Converter of pdf.

use crate::converted::Converted;
use crate::document::Document;
use crate::error::ConvertError;
use crate::form::Form;

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Converted, ConvertError> {
    Err(ConvertError::no_form(document.kind, form))
}
