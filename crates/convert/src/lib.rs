//! Converters: documents in forms that a model or a person can read.
//!
//! Pure functions from bytes to bytes, without files, network or threads. Input is hostile: every
//! converter is bounded by [`Options`] and runs in a process of its own, which may be ended at any
//! time.

mod converted;
mod decode;
mod document;
mod error;
mod form;
mod html_body;
mod markdown;
mod odf;
mod ooxml;
mod options;
mod package;
mod part_path;
mod rich_text;
mod xml_reader;
mod xml_tree;

pub mod email;
#[cfg(test)]
mod office_fixture;

mod epub;
mod html;
mod image;
mod markup;
mod notebook;
mod pdf;
mod sheet;
mod slides;
mod source;
mod word;

pub use converted::{Converted, Section};
pub use document::{Document, DocumentKind};
pub use error::{ConvertError, ConvertErrorKind};
pub use form::Form;
pub use options::Options;

/// The version of the converters. A cache of results is valid for one version.
pub const VERSION: u32 = 1;

/// Converts `document` into `form`, one of [`DocumentKind::forms`] of its kind.
pub fn convert(document: &Document<'_>, form: Form) -> Result<Converted, ConvertError> {
    if !document.kind.forms().contains(&form) {
        return Err(ConvertError::no_form(document.kind, form));
    }
    match document.kind {
        DocumentKind::Pdf => pdf::convert(document, form),
        DocumentKind::Docx | DocumentKind::Odt | DocumentKind::Rtf => word::convert(document, form),
        DocumentKind::Pptx | DocumentKind::Odp => slides::convert(document, form),
        DocumentKind::Xlsx | DocumentKind::Ods | DocumentKind::Csv | DocumentKind::Tsv => {
            sheet::convert(document, form)
        }
        DocumentKind::Html => html::convert(document, form),
        DocumentKind::Markdown => markup::convert(document, form),
        DocumentKind::Notebook => notebook::convert(document, form),
        DocumentKind::Source => source::convert(document, form),
        DocumentKind::Image | DocumentKind::Svg => image::convert(document, form),
        DocumentKind::Email | DocumentKind::Mbox => email::convert(document, form),
        DocumentKind::Epub => epub::convert(document, form),
    }
}
