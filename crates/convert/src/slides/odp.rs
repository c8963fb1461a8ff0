//! Reader of OpenDocument presentations.

use std::collections::HashMap;

use super::deck::{Slide, SlideDeck};
use crate::error::ConvertError;
use crate::odf::{OdfLine, OdfParts, OdfReader, annotation_lead};
use crate::options::Options;
use crate::package::Package;
use crate::rich_text::{RichBlock, blocks_text, push_block};
use crate::xml_tree::XmlNode;

/// Classes of frames that repeat on every slide.
const REPEATED: [&str; 4] = ["date-time", "footer", "header", "page-number"];

/// Reads an OpenDocument presentation.
pub(super) fn read(bytes: &[u8], options: &Options) -> Result<SlideDeck, ConvertError> {
    let package = Package::open(bytes, options)?;
    let parts = OdfParts::read(&package)?;
    let mut reader = OdfReader::new(&package, &parts);
    let root = parts.content.root();
    let body = root.descendant("office:presentation");
    let body = body.ok_or_else(|| ConvertError::damaged("the document has no slides"))?;
    let mut deck = SlideDeck::default();
    let mut footers = footers(body);
    for page in body.elements().filter(|node| node.name() == "draw:page") {
        let mut slide = slide(&mut reader, page)?;
        let footer = page.attribute("presentation:use-footer-name");
        if let Some(text) = footer.and_then(|name| footers.remove(name)) {
            slide.blocks.push(RichBlock::plain(format!("Footer: {text}")));
        }
        deck.slides.push(slide);
    }
    deck.losses = reader.losses;
    Ok(deck)
}

/// The footers of a presentation by name. Each is given once, on the first slide that has it.
fn footers(body: XmlNode<'_>) -> HashMap<&str, String> {
    let nodes = body.elements().filter(|node| node.name() == "presentation:footer-decl");
    let named =
        nodes.filter_map(|node| Some((node.attribute("presentation:name")?, node.all_text())));
    named.filter(|(_, text)| !text.trim().is_empty()).collect()
}

fn slide(reader: &mut OdfReader<'_>, page: XmlNode<'_>) -> Result<Slide, ConvertError> {
    let style = page.attribute("draw:style-name").unwrap_or_default();
    let mut slide = Slide { is_hidden: reader.styles.is_hidden(style), ..Slide::default() };
    for node in page.elements() {
        match node.name() {
            "presentation:notes" => {
                for frame in node.elements() {
                    if frame.attribute("presentation:class") == Some("notes") {
                        slide.notes.append(&mut shape(reader, frame)?);
                    }
                }
            }
            "office:annotation" => {
                let blocks = reader.blocks(node)?;
                slide.comments.push((annotation_lead(node), blocks));
            }
            name if name.starts_with("draw:") || name.starts_with("dr3d:") => {
                let class = node.attribute("presentation:class").unwrap_or_default();
                if REPEATED.contains(&class)
                    || node.attribute("presentation:placeholder") == Some("true")
                {
                    continue;
                }
                let blocks = shape(reader, node)?;
                if class == "title" && slide.title.is_empty() {
                    slide.title = blocks_text(&blocks);
                } else {
                    blocks.into_iter().for_each(|block| push_block(&mut slide.blocks, block));
                }
            }
            _ => {}
        }
    }
    for note in reader.notes.drain(..) {
        slide.comments.push((note.lead, note.blocks));
    }
    Ok(slide)
}

/// The blocks of a shape: its image, then its text.
fn shape(reader: &mut OdfReader<'_>, node: XmlNode<'_>) -> Result<Vec<RichBlock>, ConvertError> {
    let mut line = OdfLine::default();
    reader.drawing(node, &mut line)?;
    let mut blocks = Vec::new();
    push_block(&mut blocks, RichBlock::Paragraph(line.spans));
    line.after.into_iter().for_each(|block| push_block(&mut blocks, block));
    Ok(blocks)
}
