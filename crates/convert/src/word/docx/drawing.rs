//! Drawings of a Word document: images, text boxes, charts, diagrams.

use super::paragraph::DocxLine;
use super::{DocxReader, optional_tree};
use crate::error::ConvertError;
use crate::ooxml::{chart_blocks, diagram_blocks};
use crate::rich_text::{RichBlock, RichSpan, SpanContent, SpanStyle};
use crate::xml_tree::XmlNode;

impl DocxReader<'_> {
    /// Reads a drawing: its image in the line, its texts after the paragraph.
    pub(super) fn drawing(
        &mut self,
        node: XmlNode<'_>,
        line: &mut DocxLine,
    ) -> Result<(), ConvertError> {
        let before = line.after.len();
        for content in node.descendants("w:txbxContent") {
            let mut blocks = self.separate_blocks(content)?;
            line.after.append(&mut blocks);
        }
        for (name, attribute) in [("c:chart", "r:id"), ("dgm:relIds", "r:dm")] {
            for reference in node.descendants(name) {
                let part =
                    reference.attribute(attribute).and_then(|id| self.relationships.part(id));
                let part = part.map(str::to_owned);
                line.after.append(&mut self.graphic(part, name)?);
            }
        }
        let art = node.descendants("v:textpath").into_iter();
        for text in art.filter_map(|path| path.attribute("string")) {
            line.spans.push(RichSpan::text(text, SpanStyle::default()));
        }
        let is_image =
            ["pic:pic", "v:imagedata"].iter().any(|name| node.descendant(name).is_some());
        let alt = description(node);
        if is_image || (line.after.len() == before && !alt.is_empty()) {
            let link = line.link.clone().or_else(|| self.field_link());
            let content = SpanContent::Image(alt);
            line.spans.push(RichSpan { content, style: SpanStyle::default(), link });
        }
        if let Some(object) = node.descendant("o:OLEObject") {
            let program = object.attribute("ProgID").unwrap_or("unknown");
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

/// The description of a drawing.
fn description(node: XmlNode<'_>) -> String {
    let of = |name: &str, attributes: &[&str]| {
        let found = node.descendant(name)?;
        let texts = attributes.iter().filter_map(|attribute| found.attribute(attribute));
        texts.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
    };
    of("wp:docPr", &["descr", "title"])
        .or_else(|| of("v:shape", &["alt"]))
        .or_else(|| of("v:imagedata", &["o:title"]))
        .unwrap_or_default()
}
