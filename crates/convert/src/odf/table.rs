//! Tables of an OpenDocument, with merged cells as one.

use super::OdfReader;
use crate::error::ConvertError;
use crate::rich_text::{MAX_SPAN, RichCell, RichTable};
use crate::xml_tree::XmlNode;

/// How often an empty cell is repeated at most.
const MAX_REPEATED: u16 = 64;

impl OdfReader<'_> {
    /// Reads a table.
    pub(super) fn table(&mut self, node: XmlNode<'_>) -> Result<RichTable, ConvertError> {
        let mut table = RichTable::default();
        self.rows(node, &mut table)?;
        Ok(table)
    }

    fn rows(&mut self, node: XmlNode<'_>, table: &mut RichTable) -> Result<(), ConvertError> {
        for child in node.elements() {
            match child.name() {
                "table:table-row" => {
                    let mut row = Vec::new();
                    for cell in child.elements().filter(|cell| cell.name() == "table:table-cell") {
                        self.cell(cell, &mut row)?;
                    }
                    table.rows.push(row);
                }
                "table:table-header-rows" | "table:table-rows" | "table:table-row-group" => {
                    self.rows(child, table)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn cell(&mut self, node: XmlNode<'_>, row: &mut Vec<RichCell>) -> Result<(), ConvertError> {
        let number = |name: &str, most: u16| {
            let value = node.attribute(name).and_then(|value| value.parse::<u16>().ok());
            value.unwrap_or(1).clamp(1, most)
        };
        let cell = RichCell {
            blocks: self.blocks(node)?,
            columns: number("table:number-columns-spanned", MAX_SPAN),
            rows: number("table:number-rows-spanned", MAX_SPAN),
        };
        let repeated = number("table:number-columns-repeated", MAX_REPEATED);
        let copies = if cell.blocks.is_empty() { repeated - 1 } else { 0 };
        row.extend((0..copies).map(|_| cell.clone()));
        row.push(cell);
        Ok(())
    }
}
