//! Drawings of an OpenDocument: images, text boxes, shapes, formulas and charts.

use std::rc::Rc;

use super::{OdfLine, OdfReader};
use crate::error::ConvertError;
use crate::rich_text::{RichBlock, SpanContent};
use crate::xml_tree::{XmlNode, XmlTree};

impl OdfReader<'_> {
    /// Reads a drawing: its image in the line, its texts after the paragraph.
    pub(crate) fn drawing(
        &mut self,
        node: XmlNode<'_>,
        line: &mut OdfLine,
    ) -> Result<(), ConvertError> {
        match node.name() {
            "draw:frame" => self.frame(node, line),
            "draw:a" => {
                let outer = line.link.clone();
                line.link = node.attribute("xlink:href").map(Rc::from);
                for child in node.elements() {
                    self.drawing(child, line)?;
                }
                line.link = outer;
                Ok(())
            }
            "draw:page-thumbnail" | "draw:control" | "draw:enhanced-geometry" => Ok(()),
            // A group, or a shape with text in it.
            _ => {
                for child in node.elements() {
                    match child.name() {
                        name if name.starts_with("draw:") => self.drawing(child, line)?,
                        _ => self.push_element(child, &mut line.after)?,
                    }
                }
                Ok(())
            }
        }
    }

    fn frame(&mut self, node: XmlNode<'_>, line: &mut OdfLine) -> Result<(), ConvertError> {
        let mut has_text = false;
        for child in node.elements() {
            match child.name() {
                "draw:text-box" => {
                    let mut blocks = self.blocks(child)?;
                    line.after.append(&mut blocks);
                    has_text = true;
                }
                "table:table" => {
                    self.push_element(child, &mut line.after)?;
                    has_text = true;
                }
                "draw:object" | "draw:object-ole" => {
                    has_text |= self.object(child, line)?;
                }
                // An image beside an object shows the same once more.
                "draw:image" if !has_text => {
                    has_text = true;
                    line.push(SpanContent::Image(description(node)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads an embedded formula or chart; whether there was one.
    fn object(&mut self, node: XmlNode<'_>, line: &mut OdfLine) -> Result<bool, ConvertError> {
        if let Some(math) = node.child("math:math") {
            line.push(SpanContent::Text(formula(math)));
            return Ok(true);
        }
        let name = node.attribute("xlink:href").unwrap_or_default().trim_start_matches("./");
        let part = format!("{name}/content.xml");
        if name.is_empty() || !self.drawn.insert(part.clone()) {
            return Ok(false);
        }
        let Some(content) = self.package.part(&part)? else {
            self.lose("an embedded object is not converted".to_owned());
            return Ok(false);
        };
        let tree = XmlTree::parse(&content, &part)?;
        let root = tree.root();
        if root.name() == "math:math" {
            line.push(SpanContent::Text(formula(root)));
            return Ok(true);
        }
        let Some(chart) = root.descendant("chart:chart") else {
            self.lose("an embedded object is not converted".to_owned());
            return Ok(false);
        };
        let title = chart.child("chart:title").map(XmlNode::all_text).unwrap_or_default();
        let words = if title.is_empty() { "Chart".to_owned() } else { format!("Chart: {title}") };
        line.after.push(RichBlock::plain(words));
        if let Some(table) = chart.child("table:table") {
            self.push_element(table, &mut line.after)?;
        }
        Ok(true)
    }
}

/// A formula as a line of text: as it was typed, if the document says.
fn formula(root: XmlNode<'_>) -> String {
    match root.descendant("math:annotation") {
        Some(typed) => typed.all_text(),
        None => root.all_text().split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// The description of an image.
fn description(node: XmlNode<'_>) -> String {
    let text = |name: &str| node.child(name).map(XmlNode::all_text).unwrap_or_default();
    let (title, description) = (text("svg:title"), text("svg:desc"));
    if description.trim().is_empty() { title } else { description }
}
