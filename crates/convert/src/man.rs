//! Converter of manual pages: roff with the macros of `man`, `mdoc` and `tbl`.

mod escape;
mod expression;
mod glyphs;
mod input;
mod interpolation;
mod machine;
mod macros;
mod mdoc;
mod page;
mod table;
mod writer;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::Read as _;

use detection::man::is_roff;
use flate2::bufread::MultiGzDecoder;

use crate::conversion::Conversion;
use crate::decode::decode;
use crate::document::Document;
use crate::error::ConvertError;
use crate::form::Form;
use crate::markup::html_of_markdown;
use crate::options::Options;
use crate::rich_text::{RichBlock, RichSpan, SpanStyle};
use machine::RoffMachine;
use macros::ManTitle;
use page::{ManBlock, span_text};

/// The most bytes of a page: the longest have two million.
const MAX_PAGE_BYTES: u64 = 8 << 20;

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    let bytes = unpack(document.bytes, document.options)?;
    if !is_roff(&bytes) {
        return Err(ConvertError::damaged("this is no manual page: it has no roff macros"));
    }
    let text = decode(&bytes, None);
    let mut machine = RoffMachine::new(&text);
    machine.run();
    let (mut blocks, losses, is_cut) = (machine.page.blocks, machine.losses, machine.is_cut);
    if let Some(title) = machine.man.title {
        add_title(&mut blocks, &title);
    }
    let mut converted = match form {
        Form::Markdown | Form::Plain => {
            Conversion::text(writer::write(&blocks, form, document.options)?)
        }
        Form::Html => {
            let markdown = writer::write(&blocks, Form::Markdown, document.options)?;
            html_of_markdown(&markdown, document.options)?
        }
        form => return Err(ConvertError::no_form(document.kind, form)),
    };
    converted.losses.extend(losses);
    converted.is_cut |= is_cut;
    Ok(converted)
}

/// How much of a compressed file is looked at for macros.
const HEAD_BYTES: u64 = 1 << 14;

/// Whether these bytes are a page, compressed or not, by their beginning.
pub(crate) fn is_page(bytes: &[u8]) -> bool {
    if !is_packed(bytes) {
        return is_roff(bytes);
    }
    let mut head = Vec::new();
    // The bytes may be a beginning, so that they end early.
    let _ = MultiGzDecoder::new(bytes).take(HEAD_BYTES).read_to_end(&mut head);
    is_roff(&head)
}

fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x1f\x8b")
}

/// The bytes of a page, which gzip may have compressed.
fn unpack<'a>(bytes: &'a [u8], options: &Options) -> Result<Cow<'a, [u8]>, ConvertError> {
    let limit = MAX_PAGE_BYTES.min(options.max_unpacked_bytes);
    let too_long =
        || ConvertError::over_limit(format!("the manual page has more than {limit} bytes of text"));
    if !is_packed(bytes) {
        return if bytes.len() as u64 > limit { Err(too_long()) } else { Ok(Cow::Borrowed(bytes)) };
    }
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(limit + 1).read_to_end(&mut unpacked);
    if unpacked.len() as u64 > limit {
        return Err(too_long());
    }
    read.map_err(|_| ConvertError::damaged("the manual page is not compressed by gzip, or cut"))?;
    Ok(Cow::Owned(unpacked))
}

/// Adds the title before the page, and what it belongs to after it.
fn add_title(blocks: &mut Vec<ManBlock>, title: &ManTitle) {
    let plain = |block| ManBlock { depth: 0, marker: None, block };
    if !title.footer.is_empty() {
        let text = title.footer.join(", ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let spans = vec![RichSpan::text(text, SpanStyle::ITALIC)];
        blocks.push(plain(RichBlock::Paragraph(spans)));
    }
    let name = name_as_written(blocks, &title.name);
    let text = if title.section.is_empty() { name } else { format!("{name}({})", title.section) };
    if !text.trim().is_empty() {
        let spans = vec![RichSpan::text(text, SpanStyle::default())];
        blocks.insert(0, plain(RichBlock::Heading { level: 1, spans }));
    }
}

/// The name of a page in the case that its first section has: titles are often in capitals.
fn name_as_written(blocks: &[ManBlock], name: &str) -> String {
    let first = blocks.iter().take(4).find_map(|block| match &block.block {
        RichBlock::Paragraph(spans) => Some(spans.iter().filter_map(span_text).collect::<String>()),
        _ => None,
    });
    let first = first.unwrap_or_default();
    let mut words = first.split([' ', ',', '\u{3001}', '\u{a0}']).take(64);
    match words.find(|word| word.eq_ignore_ascii_case(name)) {
        Some(word) => word.to_owned(),
        None if name.chars().any(char::is_lowercase) => name.to_owned(),
        None => name.to_ascii_lowercase(),
    }
}
