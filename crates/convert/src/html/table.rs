//! Tables of a page: cells in rows, with merged cells given once, and tables that only lay out.

use super::tree::{HtmlNodeId, HtmlTree, TEXT};
use super::writer::HtmlWriter;
use crate::markdown::{left_out, table};

/// The widest merged cell, as in browsers.
const MAX_COLUMN_SPAN: usize = 1_000;

/// The rows of a table, as far as they are shown.
#[derive(Default)]
struct HtmlTableRows {
    rows: Vec<Vec<String>>,
    /// By column: for how many more rows a cell above reaches down.
    reach: Vec<usize>,
    left_rows: usize,
    columns: usize,
}

impl HtmlWriter<'_> {
    pub(super) fn write_table(&mut self, id: HtmlNodeId) {
        self.flush();
        let tree = self.tree;
        if is_layout(tree, id) {
            return self.write_layout(id);
        }
        let mut rows = HtmlTableRows::default();
        self.collect_rows(id, &mut rows);
        self.flush();
        if rows.rows.iter().all(|row| row.iter().all(String::is_empty)) {
            return;
        }
        if self.is_markdown() {
            let text = table(&rows.rows, self.options);
            self.write_lines(text.trim_end());
        } else {
            let lines: Vec<_> = rows.rows.iter().map(|row| row.join("\t")).collect();
            self.write_lines(&lines.join("\n"));
        }
        let left_columns = rows.columns.saturating_sub(self.options.max_table_columns);
        if let Some(words) = left_out(rows.left_rows, left_columns) {
            let mark = if self.is_markdown() { "*" } else { "" };
            self.write_lines(&format!("{mark}{words}{mark}"));
        }
    }

    /// Writes the cells of a table that only lays out as blocks, one after the other.
    fn write_layout(&mut self, id: HtmlNodeId) {
        let tree = self.tree;
        for child in tree.children(id).filter(|child| self.content.is_kept(*child)) {
            match tree.name(child) {
                "thead" | "tbody" | "tfoot" | "tr" => self.write_layout(child),
                "td" | "th" | "caption" => {
                    self.flush();
                    self.write_blocks(child);
                    self.flush();
                }
                _ => self.write_inline(child),
            }
        }
        self.flush();
    }

    fn collect_rows(&mut self, id: HtmlNodeId, rows: &mut HtmlTableRows) {
        let tree = self.tree;
        for child in tree.children(id).filter(|child| self.content.is_kept(*child)) {
            match tree.name(child) {
                "tr" => self.collect_row(child, rows),
                "thead" | "tbody" | "tfoot" => self.collect_rows(child, rows),
                "caption" => {
                    self.flush();
                    self.write_blocks(child);
                    self.flush();
                }
                "td" | "th" => self.collect_row(id, rows),
                // What browsers show before the table.
                _ => self.write_inline(child),
            }
        }
    }

    fn collect_row(&mut self, id: HtmlNodeId, rows: &mut HtmlTableRows) {
        if rows.rows.len() > self.options.max_table_rows {
            rows.left_rows += 1;
            return;
        }
        let tree = self.tree;
        let most = self.options.max_table_columns;
        let mut row: Vec<String> = Vec::new();
        let mut width = 0;
        rows.skip_reached(&mut row, &mut width, most);
        for cell in tree.children(id).filter(|child| self.content.is_kept(*child)) {
            if !matches!(tree.name(cell), "td" | "th") {
                if tree.name(cell) != TEXT || !tree.text(cell).trim_ascii().is_empty() {
                    self.write_inline(cell);
                }
                continue;
            }
            let columns = span(tree, cell, "colspan").min(MAX_COLUMN_SPAN);
            let reach = span(tree, cell, "rowspan").min(self.options.max_table_rows);
            if width < most {
                row.push(self.cell_text(cell));
                row.resize((width + columns).min(most), String::new());
                let end = (width + columns).min(most);
                rows.reach.resize(rows.reach.len().max(end), 0);
                rows.reach[width..end].fill(reach);
            }
            width += columns;
            rows.skip_reached(&mut row, &mut width, most);
        }
        for reach in &mut rows.reach {
            *reach = reach.saturating_sub(1);
        }
        rows.columns = rows.columns.max(width);
        rows.rows.push(row);
    }

    fn cell_text(&mut self, id: HtmlNodeId) -> String {
        let text = self.inline_of(id);
        let lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
        if self.is_markdown() {
            lines.collect::<Vec<_>>().join("<br>").replace('|', "\\|")
        } else {
            lines.collect::<Vec<_>>().join(" ")
        }
    }
}

impl HtmlTableRows {
    /// Leaves the columns empty that cells of the rows above reach down to.
    fn skip_reached(&self, row: &mut Vec<String>, width: &mut usize, most: usize) {
        while *width < most && self.reach.get(*width).is_some_and(|reach| *reach > 0) {
            row.push(String::new());
            *width += 1;
        }
    }
}

fn span(tree: &HtmlTree, cell: HtmlNodeId, name: &str) -> usize {
    tree.attribute(cell, name).and_then(|value| value.trim().parse().ok()).unwrap_or(1).max(1)
}

/// Whether the table has no rows of cells to compare, but lays out blocks.
fn is_layout(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    if matches!(tree.attribute(id, "role"), Some("presentation" | "none")) {
        return true;
    }
    let mut widest = 0;
    has_layout_content(tree, id, &mut widest) || widest <= 1
}

fn has_layout_content(tree: &HtmlTree, id: HtmlNodeId, widest: &mut usize) -> bool {
    let mut cells = 0;
    for child in tree.children(id) {
        match tree.name(child) {
            "table" | "pre" => return true,
            "td" | "th" => cells += span(tree, child, "colspan"),
            _ => {}
        }
        if has_layout_content(tree, child, widest) {
            return true;
        }
    }
    *widest = (*widest).max(cells);
    false
}
