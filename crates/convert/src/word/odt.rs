//! Reader of OpenDocument texts.

use std::collections::HashSet;

use crate::error::ConvertError;
use crate::odf::{OdfParts, OdfReader};
use crate::options::Options;
use crate::package::Package;
use crate::rich_text::{RichBlock, RichText, blocks_text};

#[cfg(test)]
mod tests;

/// Reads an OpenDocument text.
pub(super) fn read(bytes: &[u8], options: &Options) -> Result<RichText, ConvertError> {
    let package = Package::open(bytes, options)?;
    let parts = OdfParts::read(&package)?;
    let mut reader = OdfReader::new(&package, &parts);
    let root = parts.content.root();
    let body = root.descendant("office:text");
    let body = body.ok_or_else(|| ConvertError::damaged("the document has no text"))?;
    let mut text = RichText { blocks: reader.blocks(body)?, ..RichText::default() };
    for (name, slot) in [("style:header", &mut text.headers), ("style:footer", &mut text.footers)] {
        *slot = margins(&mut reader, &parts, name)?;
    }
    text.notes = reader.notes;
    text.losses = reader.losses;
    Ok(text)
}

/// The different headers or footers of all kinds of page.
fn margins(
    reader: &mut OdfReader<'_>,
    parts: &OdfParts,
    name: &str,
) -> Result<Vec<Vec<RichBlock>>, ConvertError> {
    let mut margins = Vec::new();
    let mut texts = HashSet::new();
    let Some(styles) = &parts.styles else { return Ok(margins) };
    let pages = styles.root().descendants("style:master-page");
    for node in pages.into_iter().flat_map(|page| page.elements().collect::<Vec<_>>()) {
        if !node.name().starts_with(name) || node.name().ends_with("-style") {
            continue;
        }
        let blocks = reader.blocks(node)?;
        let text = blocks_text(&blocks);
        // A page number alone says nothing about the document.
        if text.chars().any(char::is_alphabetic) && texts.insert(text) {
            margins.push(blocks);
        }
    }
    Ok(margins)
}
