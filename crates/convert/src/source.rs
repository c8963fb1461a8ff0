//! Converter of source code, and of data that is written like it: highlighting and outline.

mod highlight;
mod names;
mod outline;

use crate::conversion::Conversion;
use crate::decode::decode;
use crate::document::Document;
use crate::error::ConvertError;
use crate::form::Form;

pub(crate) use highlight::{HighlightBudget, Highlighter, push_code};
pub(crate) use names::is_source;

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    let text = decode(document.bytes, None);
    match form {
        Form::HighlightedHtml => highlight::highlight_file(&text, document.name, document.options),
        Form::Outline => outline::outline(&text, document.name),
        _ => Err(ConvertError::no_form(document.kind, form)),
    }
}
