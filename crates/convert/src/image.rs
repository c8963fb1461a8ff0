//! Converter of images: what an image is in words, a thumbnail, and SVG that loads and runs nothing.

mod chunks;
mod facts;
mod photo;
mod svg;
mod svg_names;
mod svg_styles;
mod svg_uses;
mod thumbnail;

use crate::conversion::Conversion;
use crate::document::{Document, DocumentKind};
use crate::error::ConvertError;
use crate::form::Form;

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    match (document.kind, form) {
        (DocumentKind::Svg, _) => svg::sanitise(document.bytes, document.options),
        (_, Form::Thumbnail) => thumbnail::make(document.bytes, document.options),
        _ => facts::describe(document.bytes, document.options),
    }
}
