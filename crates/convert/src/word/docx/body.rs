//! Blocks of a Word document: paragraphs and tables wherever they stand.

use super::DocxReader;
use crate::error::ConvertError;
use crate::ooxml::{alternative, math_text};
use crate::rich_text::{RichBlock, RichSpan, push_block};
use crate::xml_tree::XmlNode;

impl DocxReader<'_> {
    /// The blocks inside of `node`: the body, a cell, a note, a text box.
    pub(super) fn blocks(&mut self, node: XmlNode<'_>) -> Result<Vec<RichBlock>, ConvertError> {
        let mut blocks = Vec::new();
        self.push_blocks(node, &mut blocks)?;
        blocks.shrink_to_fit();
        Ok(blocks)
    }

    /// The blocks of a text that stands apart from the paragraph it is anchored in.
    pub(super) fn separate_blocks(
        &mut self,
        node: XmlNode<'_>,
    ) -> Result<Vec<RichBlock>, ConvertError> {
        let fields = std::mem::take(&mut self.fields);
        let carried = std::mem::take(&mut self.carried);
        let mut blocks = self.blocks(node)?;
        self.flush_carried(&mut blocks);
        self.fields = fields;
        self.carried = carried;
        Ok(blocks)
    }

    fn push_blocks(
        &mut self,
        node: XmlNode<'_>,
        blocks: &mut Vec<RichBlock>,
    ) -> Result<(), ConvertError> {
        for child in node.elements() {
            match child.name() {
                "w:p" => self.paragraph(child, blocks)?,
                "w:tbl" => {
                    self.flush_carried(blocks);
                    let table = self.table(child)?;
                    push_block(blocks, RichBlock::Table(table));
                }
                "w:sdt" => {
                    if let Some(content) = child.child("w:sdtContent") {
                        self.push_blocks(content, blocks)?;
                    }
                }
                "w:customXml" | "w:smartTag" | "w:ins" | "w:moveTo" => {
                    self.push_blocks(child, blocks)?;
                }
                "mc:AlternateContent" => {
                    if let Some(branch) = alternative(child) {
                        self.push_blocks(branch, blocks)?;
                    }
                }
                "m:oMath" | "m:oMathPara" => {
                    push_block(blocks, RichBlock::plain(math_text(child)));
                }
                "w:altChunk" => {
                    self.lose("the document imports another file, which is not shown".to_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Ends a paragraph whose mark is deleted and that no other follows.
    pub(super) fn flush_carried(&mut self, blocks: &mut Vec<RichBlock>) {
        let spans: Vec<RichSpan> = std::mem::take(&mut self.carried);
        push_block(blocks, RichBlock::Paragraph(spans));
    }
}
