//! Converters: documents in forms that a model or a person can read.
//!
//! Pure functions from bytes to bytes, without files, network or threads. Input is hostile: every
//! converter is bounded by [`Options`] and runs in a process of its own, which may be ended at any
//! time.

mod conversion;
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
#[cfg(test)]
mod properties;

mod asciidoc;
mod epub;
mod html;
mod image;
mod man;
mod markup;
mod notebook;
mod pdf;
mod sheet;
mod slides;
mod source;
mod word;

pub use conversion::{Conversion, Section, chosen_range};
pub use document::{Document, DocumentKind, MAX_DOCUMENT_BYTES};
pub use error::{ConvertError, ConvertErrorKind};
pub use form::Form;
pub use options::Options;

/// The version of the converters. A cache of results is valid for one version.
pub const VERSION: u32 = 3;

/// Converts `document` into `form`, one of [`DocumentKind::forms`] of its kind.
pub fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    if !document.kind.forms().contains(&form) {
        return Err(ConvertError::no_form(document.kind, form));
    }
    let document = &without_mark(*document);
    let mut converted = convert_kind(document, form)?;
    let may_cut_tables = form == Form::Markdown && !document.options.has_whole_tables();
    converted.is_cut |= may_cut_tables && markdown::says_left_out(&converted.body);
    Ok(converted)
}

fn convert_kind(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    match document.kind {
        DocumentKind::Pdf => pdf::convert(document, form),
        DocumentKind::Docx | DocumentKind::Odt | DocumentKind::Rtf => word::convert(document, form),
        DocumentKind::Pptx | DocumentKind::Odp => slides::convert(document, form),
        DocumentKind::Xlsx | DocumentKind::Ods | DocumentKind::Csv | DocumentKind::Tsv => {
            sheet::convert(document, form)
        }
        DocumentKind::Html => html::convert(document, form),
        DocumentKind::Markdown => markup::convert(document, form),
        DocumentKind::AsciiDoc => asciidoc::convert(document, form),
        DocumentKind::Notebook => notebook::convert(document, form),
        DocumentKind::Source => source::convert(document, form),
        DocumentKind::Image | DocumentKind::Svg => image::convert(document, form),
        DocumentKind::Email | DocumentKind::Mbox => email::convert(document, form),
        DocumentKind::Epub => epub::convert(document, form),
        DocumentKind::Man => man::convert(document, form),
    }
}

/// A document without the byte order mark of a text, where its format has no place for one.
fn without_mark(document: Document<'_>) -> Document<'_> {
    let has_place = !matches!(
        document.kind,
        DocumentKind::Email | DocumentKind::Mbox | DocumentKind::Notebook | DocumentKind::Rtf
    );
    match document.bytes.strip_prefix(b"\xEF\xBB\xBF") {
        Some(bytes) if !has_place => Document { bytes, ..document },
        _ => document,
    }
}

#[cfg(test)]
mod tests {
    use super::{Document, DocumentKind, Options, convert};

    /// Sources give texts as UTF-8, and say so by a mark.
    #[test]
    fn every_text_is_converted_with_a_byte_order_mark_as_without() {
        let texts = [
            (DocumentKind::Rtf, r"{\rtf1\ansi Harbour\par}", "a.rtf"),
            (DocumentKind::Csv, "name,price\n茶,1\n", "a.csv"),
            (DocumentKind::Tsv, "name\tprice\n茶\t1\n", "a.tsv"),
            (DocumentKind::Html, "<h1>港</h1><p>Words</p>", "a.html"),
            (DocumentKind::Notebook, r##"{"nbformat":4,"cells":[]}"##, "a.ipynb"),
            (DocumentKind::Markdown, "# 港\n\nWords\n", "a.md"),
            (DocumentKind::AsciiDoc, "= 港\n\nWords\n", "a.adoc"),
            (DocumentKind::Source, "{\"name\": \"港\"}\n", "a.json"),
            (DocumentKind::Source, "fn main() {}\n", "a.rs"),
            (DocumentKind::Svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "a.svg"),
            (DocumentKind::Email, "From: a@example.com\nSubject: 港\n\nWords\n", "a.eml"),
            (DocumentKind::Mbox, "From a Thu Jan 1 00:00:00 2026\nSubject: x\n\nWords\n", "a.mbox"),
        ];
        for (kind, text, name) in texts {
            let marked = format!("\u{FEFF}{text}");
            for form in kind.forms() {
                let made = |bytes: &[u8]| {
                    let options = &Options::default();
                    convert(&Document { kind, bytes, name, options }, *form)
                };
                let plain = made(text.as_bytes()).unwrap_or_else(|error| panic!("{name} {error}"));
                assert_eq!(made(marked.as_bytes()), Ok(plain), "{name} {form:?}");
            }
        }
    }
}
