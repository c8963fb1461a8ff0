//! Shapes of PowerPoint: text, tables, images, charts and diagrams, in the order of the file.

use super::bullets::{PptxLayout, PptxPlaceholder};
use super::{PptxReader, optional_tree};
use crate::error::ConvertError;
use crate::ooxml::{alternative, chart_blocks, diagram_blocks};
use crate::rich_text::{RichBlock, RichSpan, SpanContent, blocks_text, push_block};
use crate::slides::deck::Slide;
use crate::xml_tree::XmlNode;

impl PptxReader<'_> {
    /// Reads the shapes of a slide or group.
    pub(super) fn shapes(
        &mut self,
        node: XmlNode<'_>,
        layout: &PptxLayout,
        slide: &mut Slide,
    ) -> Result<(), ConvertError> {
        for child in node.elements() {
            match child.name() {
                "p:sp" | "p:cxnSp" => self.text_shape(child, layout, slide),
                "p:grpSp" => self.shapes(child, layout, slide)?,
                "p:pic" => {
                    let alt = description(child);
                    let image = RichSpan::plain(SpanContent::Image(alt));
                    push_block(&mut slide.blocks, RichBlock::Paragraph(vec![image]));
                }
                "p:graphicFrame" => self.graphic(child, slide)?,
                "mc:AlternateContent" => {
                    if let Some(branch) = alternative(child) {
                        self.shapes(branch, layout, slide)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn text_shape(&mut self, node: XmlNode<'_>, layout: &PptxLayout, slide: &mut Slide) {
        let Some(body) = node.child("p:txBody") else { return };
        let placeholder = PptxPlaceholder::of(node);
        let blocks = self.text(body, layout, placeholder.as_ref());
        let is = |check: fn(&PptxPlaceholder) -> bool| placeholder.as_ref().is_some_and(check);
        if is(PptxPlaceholder::is_title) && slide.title.is_empty() {
            slide.title = blocks_text(&blocks);
            return;
        }
        if is(PptxPlaceholder::is_repeated) {
            let text = blocks_text(&blocks);
            let is_new = is(|placeholder| placeholder.kind == "ftr") && !text.is_empty();
            if is_new && self.footers.insert(text.clone()) {
                push_block(&mut slide.blocks, RichBlock::plain(format!("Footer: {text}")));
            }
            return;
        }
        blocks.into_iter().for_each(|block| push_block(&mut slide.blocks, block));
    }

    /// Reads a table, chart, diagram or embedded object.
    fn graphic(&mut self, node: XmlNode<'_>, slide: &mut Slide) -> Result<(), ConvertError> {
        for table in node.descendants("a:tbl") {
            push_block(&mut slide.blocks, RichBlock::Table(self.table(table)));
        }
        for (name, attribute) in [("c:chart", "r:id"), ("dgm:relIds", "r:dm")] {
            for reference in node.descendants(name) {
                let part =
                    reference.attribute(attribute).and_then(|id| self.relationships.part(id));
                let part = part.map(str::to_owned);
                let Some(part) = part.filter(|part| self.drawn.insert(part.clone())) else {
                    continue;
                };
                let Some(tree) = optional_tree(self.package, Some(&part))? else { continue };
                let blocks = match name {
                    "c:chart" => chart_blocks(tree.root()),
                    _ => diagram_blocks(tree.root()),
                };
                blocks.into_iter().for_each(|block| push_block(&mut slide.blocks, block));
            }
        }
        if let Some(object) = node.descendant("p:oleObj") {
            let program = object.attribute("progId").unwrap_or("unknown");
            self.deck.lose(format!("an embedded object ({program}) is not converted"));
        }
        Ok(())
    }

    /// The text of the notes of a slide.
    pub(super) fn notes(&mut self, shapes: XmlNode<'_>) -> Result<Vec<RichBlock>, ConvertError> {
        let layout = PptxLayout::default();
        let mut notes = Vec::new();
        for shape in shapes.elements().filter(|node| node.name() == "p:sp") {
            let is_text = PptxPlaceholder::of(shape).is_none_or(|found| found.kind == "body");
            if let Some(body) = shape.child("p:txBody").filter(|_| is_text) {
                notes.extend(self.text(body, &layout, None));
            }
        }
        Ok(notes)
    }
}

/// The description of an image.
fn description(node: XmlNode<'_>) -> String {
    let properties = node.child("p:nvPicPr").and_then(|node| node.child("p:cNvPr"));
    let text = |name: &str| {
        let text = properties.and_then(|node| node.attribute(name))?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    text("descr").or_else(|| text("title")).unwrap_or_default()
}
