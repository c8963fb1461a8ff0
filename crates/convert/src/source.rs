//! Converter of source code.

use crate::converted::Converted;
use crate::document::Document;
use crate::error::ConvertError;
use crate::form::Form;

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Converted, ConvertError> {
    Err(ConvertError::no_form(document.kind, form))
}

/// Whether a file with this name is source code or data that is written like it.
pub(crate) fn is_source(_name: &str) -> bool {
    false
}
