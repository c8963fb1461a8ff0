//! Blocks of an OpenDocument: paragraphs, headings, lists.

use super::{OdfLine, OdfReader};
use crate::error::ConvertError;
use crate::rich_text::{
    ListMarker, RichBlock, RichSpan, SpanStyle, code_text, is_blank, push_block,
};
use crate::xml_tree::XmlNode;

/// The list that blocks stand in.
#[derive(Clone)]
pub(super) struct OdfListPlace {
    style: String,
    level: u8,
}

impl OdfReader<'_> {
    /// The blocks inside of `node`: the body, a cell, a note, a text box.
    pub(crate) fn blocks(&mut self, node: XmlNode<'_>) -> Result<Vec<RichBlock>, ConvertError> {
        let mut blocks = Vec::new();
        self.push_blocks(node, &mut blocks)?;
        blocks.shrink_to_fit();
        Ok(blocks)
    }

    fn push_blocks(
        &mut self,
        node: XmlNode<'_>,
        blocks: &mut Vec<RichBlock>,
    ) -> Result<(), ConvertError> {
        for child in node.elements() {
            self.push_element(child, blocks)?;
        }
        Ok(())
    }

    /// Appends one element; what is no block is left out.
    pub(super) fn push_element(
        &mut self,
        node: XmlNode<'_>,
        blocks: &mut Vec<RichBlock>,
    ) -> Result<(), ConvertError> {
        match node.name() {
            "text:p" | "text:h" => self.paragraph(node, None, blocks),
            "text:list" => self.list(node, None, blocks),
            "table:table" => {
                let table = self.table(node)?;
                push_block(blocks, RichBlock::Table(table));
                Ok(())
            }
            "text:section" | "text:index-body" | "text:index-title" | "text:numbered-paragraph" => {
                self.push_blocks(node, blocks)
            }
            // The body of an index follows the description of what it lists.
            name if name.starts_with("text:") && node.child("text:index-body").is_some() => {
                node.child("text:index-body").map_or(Ok(()), |body| self.push_blocks(body, blocks))
            }
            name if name.starts_with("draw:") => {
                let mut line = OdfLine::default();
                self.drawing(node, &mut line)?;
                push_block(blocks, RichBlock::Paragraph(line.spans));
                line.after.into_iter().for_each(|block| push_block(blocks, block));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Appends a paragraph or heading, and what is anchored in it.
    fn paragraph(
        &mut self,
        node: XmlNode<'_>,
        item: Option<(ListMarker, u8)>,
        blocks: &mut Vec<RichBlock>,
    ) -> Result<(), ConvertError> {
        let mut line = OdfLine::default();
        self.inlines(node, &mut line)?;
        let style = node.attribute("text:style-name").unwrap_or_default();
        let traits = self.styles.paragraph(style);
        let level = node.attribute("text:outline-level").and_then(|level| level.parse().ok());
        let heading = match node.name() {
            "text:h" => Some(level.unwrap_or(1)),
            _ => traits.heading,
        };
        if !line.has_other_font {
            let plain = |span: &mut RichSpan| span.style = span.style.with(SpanStyle::CODE, false);
            line.spans.iter_mut().for_each(plain);
        }
        let spans = std::mem::take(&mut line.spans);
        let block = match (heading, item) {
            _ if is_blank(&spans) => RichBlock::Paragraph(spans),
            (Some(level), item) => self.heading(level, item, node, spans),
            (None, Some((marker, level))) => RichBlock::Item { level, marker, spans },
            (None, None) if traits.is_code => RichBlock::Code(code_text(&spans)),
            (None, None) if traits.is_quote => RichBlock::Quote(vec![RichBlock::Paragraph(spans)]),
            (None, None) => RichBlock::Paragraph(spans),
        };
        push_block(blocks, block);
        line.after.into_iter().for_each(|block| push_block(blocks, block));
        Ok(())
    }

    fn heading(
        &mut self,
        level: u8,
        item: Option<(ListMarker, u8)>,
        node: XmlNode<'_>,
        mut spans: Vec<RichSpan>,
    ) -> RichBlock {
        let is_counted =
            node.name() == "text:h" && node.attribute("text:is-list-header") != Some("true");
        let label = match item {
            Some((ListMarker::Number(number), _)) => Some(format!("{number}. ")),
            Some((ListMarker::Label(label), _)) => Some(format!("{label} ")),
            _ if is_counted => self.lists.next_heading(usize::from(level)),
            _ => None,
        };
        if let Some(label) = label {
            spans.insert(0, RichSpan::text(label, SpanStyle::default()));
        }
        RichBlock::Heading { level, spans }
    }

    /// Appends the items of a list, `outer` being the list that it stands in.
    fn list(
        &mut self,
        node: XmlNode<'_>,
        outer: Option<&OdfListPlace>,
        blocks: &mut Vec<RichBlock>,
    ) -> Result<(), ConvertError> {
        let style = node.attribute("text:style-name").map(str::to_owned);
        let place = OdfListPlace {
            style: style.or_else(|| outer.map(|outer| outer.style.clone())).unwrap_or_default(),
            level: outer.map_or(0, |outer| outer.level.saturating_add(1)),
        };
        let continues = node.attribute("text:continue-numbering") == Some("true")
            || node.attribute("text:continue-list").is_some();
        if !continues {
            self.lists.restart(&place.style, usize::from(place.level));
        }
        let mut has_items = false;
        for item in node.elements() {
            let is_item = match item.name() {
                "text:list-item" => true,
                "text:list-header" => false,
                _ => continue,
            };
            if is_item || has_items {
                self.item(item, is_item, &place, blocks)?;
            } else {
                self.push_blocks(item, blocks)?;
            }
            has_items |= is_item;
        }
        Ok(())
    }

    fn item(
        &mut self,
        item: XmlNode<'_>,
        is_item: bool,
        place: &OdfListPlace,
        blocks: &mut Vec<RichBlock>,
    ) -> Result<(), ConvertError> {
        let mut has_marker = !is_item;
        let start = item.attribute("text:start-value").and_then(|start| start.parse().ok());
        for child in item.elements() {
            match child.name() {
                "text:p" | "text:h" => {
                    let marker = if has_marker {
                        ListMarker::Continuation
                    } else {
                        self.lists.next(&place.style, usize::from(place.level), start)
                    };
                    has_marker = true;
                    self.paragraph(child, Some((marker, place.level)), blocks)?;
                }
                "text:list" => self.list(child, Some(place), blocks)?,
                _ => self.push_element(child, blocks)?,
            }
        }
        Ok(())
    }
}
