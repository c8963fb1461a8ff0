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
mod page;
mod poppler;
mod prose;
mod tables;

pub(crate) use poppler::find_pdftotext;

use self::drawn::{DrawnDocument, DrawnError, DrawnPage, walk_document};
use self::page::{PdfPage, PdfRules};
use self::poppler::PopplerError;
use self::prose::DocumentStyle;
use crate::converted::Converted;
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

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Converted, ConvertError> {
    inflate::check_streams(document.bytes, document.options)?;
    let drawn = walk_document(document.bytes);
    if drawn.as_ref().is_err_and(|flaw| *flaw == DrawnError::Protected) {
        return Err(ConvertError::protected());
    }
    let read = match &document.options.pdftotext {
        Some(program) => poppler::read_pages(program, document.bytes, document.options),
        None => Err(PopplerError::Missing),
    };
    if read == Err(PopplerError::TooLong) {
        return Err(ConvertError::over_limit("the text of the document is over the limit of bytes"));
    }
    let is_cut = drawn.as_ref().is_ok_and(|drawn| drawn.is_cut);
    let by_program = read.is_ok();
    let pages = merge(read.ok(), drawn.ok())?;
    if pages.len() > MAX_PAGES {
        return Err(ConvertError::over_limit(format!(
            "the document has {} pages, over the limit of {MAX_PAGES}",
            pages.len()
        )));
    }
    let mut converted = write(&pages, document, form)?;
    if is_cut && !by_program {
        let count = pages.len();
        converted.losses.push(format!("the text ends at page {count}: the rest is over a limit"));
    }
    Ok(converted)
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
        let page = match own {
            Some(own) if page.characters() * 2 < own.characters() => own,
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
) -> Result<Converted, ConvertError> {
    let mut converted = Converted::default();
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
        say_losses(text, at + 1, form, &mut converted);
        if converted.body.len() > document.options.max_output_bytes {
            return Err(ConvertError::over_limit(
                "the text of the document is over the limit of bytes",
            ));
        }
    }
    Ok(converted)
}

/// Says what of a page is not in its text.
fn say_losses(text: &PageText, number: usize, form: Form, converted: &mut Converted) {
    let Some(drawn) = &text.drawn else { return };
    let (glyphs, read) = (drawn.glyphs, text.page.characters());
    let lost = glyphs.saturating_sub(read);
    let mut note = |words: String| {
        if form == Form::Markdown {
            converted.push_str(&format!("*[{words}]*\n\n"));
        } else {
            converted.push_str(&format!("[{words}]\n"));
        }
    };
    if glyphs > 0 && read == 0 {
        note(format!("the text of this page could not be read: {}", counted(glyphs, "glyph")));
    } else if lost * 20 > glyphs {
        note(format!(
            "a part of the text of this page could not be read: {} of {}",
            counted(lost, "glyph"),
            glyphs
        ));
    } else if glyphs == 0 && read == 0 {
        match drawn.images {
            0 => note("this page is empty".to_owned()),
            count => note(format!("this page has no text, {}", counted(count, "image"))),
        }
    }
    if lost * 20 > glyphs {
        converted.losses.push(format!(
            "page {number}: {} drawn, {} could be read",
            are_counted(glyphs, "glyph"),
            counted(read, "character")
        ));
    }
    if glyphs == 0 && read == 0 && drawn.images > 0 {
        let images = counted(drawn.images, "image");
        converted.losses.push(format!("page {number} has no text, {images}"));
    }
}

fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

fn are_counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word} is") } else { format!("{count} {word}s are") }
}
