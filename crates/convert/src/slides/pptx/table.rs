//! Tables of PowerPoint, with merged cells as one.

use super::PptxReader;
use super::bullets::PptxLayout;
use crate::ooxml::is_on;
use crate::rich_text::{MAX_SPAN, RichCell, RichTable};
use crate::xml_tree::XmlNode;

impl PptxReader<'_> {
    /// Reads a table.
    pub(super) fn table(&self, node: XmlNode<'_>) -> RichTable {
        let layout = PptxLayout::default();
        let rows = node.elements().filter(|row| row.name() == "a:tr").map(|row| {
            let cells = row.elements().filter(|cell| cell.name() == "a:tc" && !is_covered(*cell));
            cells.map(|cell| self.cell(cell, &layout)).collect()
        });
        RichTable { rows: rows.collect() }
    }

    fn cell(&self, node: XmlNode<'_>, layout: &PptxLayout) -> RichCell {
        let body = node.child("a:txBody");
        let number = |name: &str| {
            let value = node.attribute(name).and_then(|value| value.parse::<u16>().ok());
            value.unwrap_or(1).clamp(1, MAX_SPAN)
        };
        RichCell {
            blocks: body.map(|body| self.text(body, layout, None)).unwrap_or_default(),
            columns: number("gridSpan"),
            rows: number("rowSpan"),
        }
    }
}

/// Whether another cell covers a cell.
fn is_covered(cell: XmlNode<'_>) -> bool {
    let has = |name: &str| cell.attribute(name).is_some_and(|value| is_on(Some(value)));
    has("hMerge") || has("vMerge")
}
