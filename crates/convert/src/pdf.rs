//! Converter of PDF: text with its pages, by pdftotext where it is installed.
//!
//! The glyphs that each page draws are counted beside, so that text which cannot be read is said
//! rather than passed off as an empty page.

mod content;
mod drawn;
mod fonts;
mod inflate;
mod labels;
mod lines;
mod losses;
mod page;
mod poppler;
mod prose;
mod rows;
mod rules;
mod tables;

use self::drawn::{DrawnDocument, DrawnError, DrawnPage, walk_document};
use self::losses::PageLosses;
use self::page::{PdfPage, PdfRules};
use self::poppler::PopplerError;
use self::prose::DocumentStyle;
use crate::conversion::Conversion;
use crate::document::Document;
use crate::error::ConvertError;
use crate::form::Form;

/// The most pages of a document.
const MAX_PAGES: usize = 50_000;

/// A page, as the better of the two readers gives it.
struct PageText {
    page: PdfPage,
    drawn: Option<DrawnPage>,
}

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    inflate::check_streams(document.bytes, document.options)?;
    let drawn = walk_document(document.bytes);
    match drawn {
        Err(DrawnError::Protected) => return Err(ConvertError::protected()),
        Err(DrawnError::OverLimit(number)) => {
            return Err(ConvertError::over_limit(format!(
                "page {number} draws more than the limit of glyphs"
            )));
        }
        Ok(_) | Err(DrawnError::Damaged) => {}
    }
    let read = match &document.options.pdftotext {
        Some(program) => poppler::read_pages(program, document.bytes, document.options),
        None => Err(PopplerError::Missing),
    };
    if read == Err(PopplerError::TooLong) {
        return Err(ConvertError::over_limit(
            "the text of the document is over the limit of bytes",
        ));
    }
    let is_missing = document.options.pdftotext.is_some() && read == Err(PopplerError::Missing);
    let is_cut = drawn.as_ref().is_ok_and(|drawn| drawn.is_cut);
    let by_program = read.is_ok();
    let pages = merge(read.ok(), drawn.ok())?;
    let counted = pages.iter().take_while(|page| page.drawn.is_some()).count();
    if pages.len() > MAX_PAGES {
        return Err(ConvertError::over_limit(format!(
            "the document has {} pages, over the limit of {MAX_PAGES}",
            pages.len()
        )));
    }
    let mut converted = write(&pages, document, form)?;
    if is_cut && !by_program {
        let count = pages.len();
        converted.cut(format!("the text ends at page {count}: the rest is over a limit or broken"));
    }
    if is_missing {
        converted.losses.push("pdftotext could not be run: another reader was used".to_owned());
    }
    converted.losses.extend(losses::uncounted(counted, pages.len()));
    if !has_end(document.bytes) {
        converted
            .losses
            .push("the file is cut: it has no end, and pages may be missing".to_owned());
    }
    Ok(converted)
}

/// Whether the file has the mark that ends a PDF.
fn has_end(bytes: &[u8]) -> bool {
    let tail = &bytes[bytes.len().saturating_sub(4_096)..];
    memchr::memmem::find(tail, b"%%EOF").is_some()
}

/// Takes each page from the reader that reads more of it.
fn merge(
    read: Option<Vec<PdfPage>>,
    drawn: Option<DrawnDocument>,
) -> Result<Vec<PageText>, ConvertError> {
    let drawn = drawn.map(|drawn| drawn.pages).unwrap_or_default();
    let Some(read) = read.filter(|read| !read.is_empty()) else {
        if drawn.is_empty() {
            return Err(ConvertError::damaged("the document is no PDF, or it has no pages left"));
        }
        let page_of = |mut drawn: DrawnPage| PageText {
            page: std::mem::take(&mut drawn.page),
            drawn: Some(drawn),
        };
        return Ok(drawn.into_iter().map(page_of).collect());
    };
    let mut drawn = drawn.into_iter();
    let page_of = |page: PdfPage| {
        let mut drawn = drawn.next();
        let own = drawn.as_mut().map(|drawn| std::mem::take(&mut drawn.page));
        // The program takes codes that mean nothing for Unicode: what it reads is no text.
        let is_invented = drawn.as_ref().is_some_and(|drawn| drawn.opaque * 20 > drawn.glyphs);
        let page = match own {
            Some(own) if is_invented || page.characters() * 2 < own.characters() => own,
            _ => page,
        };
        PageText { page, drawn }
    };
    Ok(read.into_iter().map(page_of).collect())
}

fn write(
    pages: &[PageText],
    document: &Document<'_>,
    form: Form,
) -> Result<Conversion, ConvertError> {
    let mut converted = Conversion::default();
    let mut lost = PageLosses::default();
    let style = match form {
        Form::Markdown => DocumentStyle::of_pages(pages.iter().map(|text| &text.page)),
        _ => DocumentStyle::default(),
    };
    for (at, text) in pages.iter().enumerate() {
        if at > 0 && form == Form::Plain {
            converted.push_str("\u{C}");
        }
        converted.start_section(None, false);
        if form == Form::Markdown {
            converted.push_str(&format!("<!-- page {} -->\n\n", at + 1));
        }
        let none = PdfRules::default();
        let rules = text.drawn.as_ref().map_or(&none, |drawn| &drawn.rules);
        let mut parts = prose::merge_columns(tables::arrange(&text.page, rules));
        labels::attach_numbers(&mut parts);
        for part in parts {
            match form {
                Form::Markdown => {
                    converted.push_str(&prose::to_markdown(&part, &style, document.options));
                }
                _ => converted.push_str(&prose::to_plain(&part)),
            }
        }
        if let Some(drawn) = &text.drawn {
            let said = losses::note_of(&text.page, drawn);
            match (said.note, form) {
                (Some(note), Form::Markdown) => converted.push_str(&format!("*[{note}]*\n\n")),
                (Some(note), _) => converted.push_str(&format!("[{note}]\n")),
                (None, _) => {}
            }
            said.loss.into_iter().for_each(|loss| lost.push(at + 1, loss));
        }
        if converted.body.len() > document.options.max_output_bytes {
            return Err(ConvertError::over_limit(
                "the text of the document is over the limit of bytes",
            ));
        }
    }
    converted.losses = lost.finish();
    Ok(converted)
}

#[cfg(test)]
mod tests;
