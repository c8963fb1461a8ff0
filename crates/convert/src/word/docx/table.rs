//! Tables of a Word document, with merged cells as one.

use super::DocxReader;
use crate::error::ConvertError;
use crate::rich_text::{MAX_SPAN, RichCell, RichTable};
use crate::xml_tree::XmlNode;

/// A cell as it is written, before vertical merges are followed.
struct DocxCell {
    cell: RichCell,
    /// The column it begins at.
    column: usize,
    continues_above: bool,
}

impl DocxReader<'_> {
    /// Reads a table.
    pub(super) fn table(&mut self, node: XmlNode<'_>) -> Result<RichTable, ConvertError> {
        let mut written = Vec::new();
        self.rows(node, &mut written)?;
        let mut rows: Vec<Vec<RichCell>> = Vec::with_capacity(written.len());
        // The row and place of the cell that began each column's merge.
        let mut merges: Vec<Option<(usize, usize)>> = Vec::new();
        for row in written {
            let at = rows.len();
            let mut cells: Vec<RichCell> = Vec::with_capacity(row.len());
            for written in row {
                let owner = merges.get(written.column).copied().flatten();
                let above = owner.and_then(|(row, place)| rows.get_mut(row)?.get_mut(place));
                if written.continues_above
                    && let Some(above) = above
                {
                    above.rows = above.rows.saturating_add(1);
                    // Some editors leave text in a cell that is covered.
                    above.blocks.extend(written.cell.blocks);
                    continue;
                }
                let end = written.column + usize::from(written.cell.columns);
                if merges.len() < end {
                    merges.resize(end, None);
                }
                merges[written.column..end].fill(None);
                merges[written.column] = Some((at, cells.len()));
                cells.push(written.cell);
            }
            rows.push(cells);
        }
        Ok(RichTable { rows })
    }

    fn rows(
        &mut self,
        node: XmlNode<'_>,
        rows: &mut Vec<Vec<DocxCell>>,
    ) -> Result<(), ConvertError> {
        for child in node.elements() {
            match child.name() {
                "w:tr" => {
                    let properties = child.child("w:trPr");
                    if properties.is_some_and(|node| node.child("w:del").is_some()) {
                        continue;
                    }
                    let skipped = properties
                        .and_then(|node| node.child_attribute("w:gridBefore", "w:val"))
                        .map_or(0, span);
                    let mut row = Vec::new();
                    if skipped > 0 {
                        let cell = RichCell { columns: skipped, ..RichCell::single(Vec::new()) };
                        row.push(DocxCell { cell, column: 0, continues_above: false });
                    }
                    self.cells(child, &mut row)?;
                    rows.push(row);
                }
                "w:sdt" => {
                    if let Some(content) = child.child("w:sdtContent") {
                        self.rows(content, rows)?;
                    }
                }
                "w:customXml" | "w:ins" | "w:moveTo" => self.rows(child, rows)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn cells(&mut self, node: XmlNode<'_>, row: &mut Vec<DocxCell>) -> Result<(), ConvertError> {
        for child in node.elements() {
            match child.name() {
                "w:tc" => {
                    let properties = child.child("w:tcPr");
                    self.cells += 1;
                    let blocks = self.separate_blocks(child)?;
                    self.cells -= 1;
                    let value =
                        |name| properties.and_then(|node| node.child_attribute(name, "w:val"));
                    let merge = |name| {
                        let node = properties.and_then(|node| node.child(name));
                        node.is_some_and(|node| node.attribute("w:val") != Some("restart"))
                    };
                    if merge("w:hMerge")
                        && let Some(before) = row.last_mut()
                    {
                        before.cell.columns = (before.cell.columns + 1).min(MAX_SPAN);
                        before.cell.blocks.extend(blocks);
                        continue;
                    }
                    let column =
                        row.last().map_or(0, |last| last.column + usize::from(last.cell.columns));
                    let columns = value("w:gridSpan").map_or(1, span).max(1);
                    let cell = RichCell { blocks, columns, rows: 1 };
                    row.push(DocxCell { cell, column, continues_above: merge("w:vMerge") });
                }
                "w:sdt" => {
                    if let Some(content) = child.child("w:sdtContent") {
                        self.cells(content, row)?;
                    }
                }
                "w:customXml" | "w:ins" | "w:moveTo" => self.cells(child, row)?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// A number of columns, within bounds.
fn span(value: &str) -> u16 {
    value.parse().unwrap_or(1).min(MAX_SPAN)
}
