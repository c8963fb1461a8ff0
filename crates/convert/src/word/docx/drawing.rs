//! Drawings of a Word document: images, text boxes, charts, diagrams.

use super::paragraph::DocxLine;
use super::{DocxReader, optional_tree};
use crate::error::ConvertError;
use crate::ooxml::{chart_blocks, diagram_blocks};
use crate::rich_text::{RichBlock, RichSpan, SpanContent, SpanStyle};
use crate::xml_tree::XmlNode;

/// What a drawing is made of.
#[derive(Default)]
struct DocxDrawing<'t> {
    boxes: Vec<XmlNode<'t>>,
    /// The elements that refer to charts and diagrams.
    graphics: Vec<XmlNode<'t>>,
    /// Texts that are drawn along a path, as watermarks are.
    paths: Vec<&'t str>,
    has_image: bool,
    alt: Option<&'t str>,
    /// The program of an embedded object.
    program: Option<&'t str>,
}

impl<'t> DocxDrawing<'t> {
    /// Collects the parts of a drawing; what is in a text box belongs to that.
    fn collect(&mut self, node: XmlNode<'t>) {
        let is_text = |text: &&str| !text.is_empty();
        let attribute = |name: &str| node.attribute(name).map(str::trim).filter(is_text);
        match node.name() {
            "w:txbxContent" => return self.boxes.push(node),
            "c:chart" | "dgm:relIds" => self.graphics.push(node),
            "pic:pic" => self.has_image = true,
            "v:imagedata" => {
                self.has_image = true;
                self.alt = self.alt.or(attribute("o:title"));
            }
            "wp:docPr" => self.alt = self.alt.or(attribute("descr")).or(attribute("title")),
            "v:shape" => self.alt = self.alt.or(attribute("alt")),
            "v:textpath" => self.paths.extend(attribute("string")),
            "o:OLEObject" => self.program = Some(attribute("ProgID").unwrap_or("unknown")),
            _ => {}
        }
        node.elements().for_each(|child| self.collect(child));
    }
}

impl DocxReader<'_> {
    /// Reads a drawing: its image in the line, its texts after the paragraph.
    pub(super) fn drawing(
        &mut self,
        node: XmlNode<'_>,
        line: &mut DocxLine,
    ) -> Result<(), ConvertError> {
        let mut drawing = DocxDrawing::default();
        drawing.collect(node);
        let before = line.after.len();
        for content in drawing.boxes {
            let mut blocks = self.separate_blocks(content)?;
            line.after.append(&mut blocks);
        }
        for reference in drawing.graphics {
            let id = reference.attribute("r:id").or(reference.attribute("r:dm"));
            let part = id.and_then(|id| self.relationships.part(id)).map(str::to_owned);
            line.after.append(&mut self.graphic(part, reference.name())?);
        }
        for text in drawing.paths {
            line.spans.push(RichSpan::text(text, SpanStyle::default()));
        }
        let alt = drawing.alt.unwrap_or_default();
        if drawing.has_image || (line.after.len() == before && !alt.is_empty()) {
            let link = line.link.clone().or_else(|| self.field_link());
            let content = SpanContent::Image(alt.to_owned());
            line.spans.push(RichSpan { content, style: SpanStyle::default(), link });
        }
        if let Some(program) = drawing.program {
            let program: String = program.chars().take(64).collect();
            self.lose(format!("an embedded object ({program}) is not converted"));
        }
        Ok(())
    }

    /// The blocks of the part of a chart or diagram, the first time it is shown.
    fn graphic(
        &mut self,
        part: Option<String>,
        name: &str,
    ) -> Result<Vec<RichBlock>, ConvertError> {
        let Some(part) = part.filter(|part| self.drawn.insert(part.clone())) else {
            return Ok(Vec::new());
        };
        let tree = optional_tree(self.package, Some(&part))?;
        let blocks = tree.map(|tree| match name {
            "c:chart" => chart_blocks(tree.root()),
            _ => diagram_blocks(tree.root()),
        });
        Ok(blocks.unwrap_or_default())
    }
}
