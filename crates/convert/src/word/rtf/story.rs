//! Stories of RTF: the body, a note or a text box, with their paragraphs and tables.

use super::table::{RtfCellEdge, RtfRow, table_of};
use crate::rich_text::{
    ListMarker, RichBlock, RichSpan, SpanContent, SpanStyle, is_blank, push_block,
};

/// The most tables inside each other.
const MAX_NESTED: usize = 16;

/// Signs that editors use as bullets.
const BULLETS: &str = "•·◦▪■●○□–—-*o§➢✓Øü§\u{F0B7}\u{F0A7}";

/// What a paragraph is.
#[derive(Clone, Default)]
pub(super) struct RtfParagraph {
    /// Its style.
    pub(super) style: Option<i32>,
    /// Its level in the outline, from 0.
    pub(super) outline: Option<u8>,
    /// The list that it is in.
    pub(super) list: Option<i32>,
    pub(super) level: u8,
    /// How far it is indented, in twentieths of a point.
    pub(super) indent: i32,
    pub(super) is_in_table: bool,
    /// How many tables it stands in.
    pub(super) nesting: usize,
}

/// What the style of a paragraph makes of it.
#[derive(Clone, Default)]
pub(super) struct RtfTraits {
    pub(super) heading: Option<u8>,
    pub(super) is_code: bool,
    pub(super) is_quote: bool,
}

/// A text that stands for itself.
#[derive(Default)]
pub(super) struct RtfStory {
    pub(super) blocks: Vec<RichBlock>,
    pub(super) spans: Vec<RichSpan>,
    /// Text boxes that follow the paragraph.
    pub(super) after: Vec<RichBlock>,
    /// What stands before the paragraph as an item.
    pub(super) label: String,
    /// How far the items that lead to the last block are indented.
    indents: Vec<i32>,
    /// The open tables, the outermost first.
    tables: Vec<RtfOpenTable>,
}

#[derive(Default)]
struct RtfOpenTable {
    rows: Vec<RtfRow>,
    cells: Vec<Vec<RichBlock>>,
    /// The blocks of the cell that is open.
    blocks: Vec<RichBlock>,
}

impl RtfStory {
    /// How many tables a paragraph stands in.
    fn depth(paragraph: &RtfParagraph) -> usize {
        let nesting = paragraph.nesting.min(MAX_NESTED);
        if paragraph.is_in_table { nesting.max(1) } else { 0 }
    }

    /// Ends a paragraph.
    pub(super) fn end_paragraph(&mut self, paragraph: &RtfParagraph, traits: &RtfTraits) {
        self.enter(Self::depth(paragraph));
        let spans = std::mem::take(&mut self.spans);
        let label = std::mem::take(&mut self.label);
        let mut block = block_of(spans, paragraph, traits, &label);
        match &mut block {
            RichBlock::Item { level, .. } => self.set_level(level, paragraph.indent),
            _ => self.indents.clear(),
        }
        let after = std::mem::take(&mut self.after);
        let blocks = self.target();
        push_block(blocks, block);
        after.into_iter().for_each(|block| push_block(blocks, block));
    }

    /// Sets the level of an item by its indent: lists inside of lists count their levels anew.
    fn set_level(&mut self, level: &mut u8, indent: i32) {
        if indent <= 0 {
            return self.indents.clear();
        }
        while self.indents.last().is_some_and(|last| *last > indent) {
            self.indents.pop();
        }
        if self.indents.last() != Some(&indent) && self.indents.len() < 9 {
            self.indents.push(indent);
        }
        *level = self.indents.len().saturating_sub(1) as u8;
    }

    fn target(&mut self) -> &mut Vec<RichBlock> {
        match self.tables.last_mut() {
            Some(table) => &mut table.blocks,
            None => &mut self.blocks,
        }
    }

    /// Opens and ends tables so that `depth` are open.
    fn enter(&mut self, depth: usize) {
        while self.tables.len() > depth {
            self.end_table();
        }
        while self.tables.len() < depth {
            self.tables.push(RtfOpenTable::default());
        }
    }

    /// Ends a cell, and the paragraph in it.
    pub(super) fn end_cell(
        &mut self,
        paragraph: &RtfParagraph,
        traits: &RtfTraits,
        is_nested: bool,
    ) {
        let nesting = if is_nested { paragraph.nesting.max(2) } else { 1 };
        let place = RtfParagraph { is_in_table: true, nesting, ..paragraph.clone() };
        self.end_paragraph(&place, traits);
        if let Some(table) = self.tables.last_mut() {
            let mut blocks = std::mem::take(&mut table.blocks);
            blocks.shrink_to_fit();
            table.cells.push(blocks);
        }
    }

    /// Ends a row, whose cells have these edges.
    pub(super) fn end_row(&mut self, edges: &[RtfCellEdge], nesting: usize) {
        self.enter(nesting.clamp(1, MAX_NESTED));
        if let Some(table) = self.tables.last_mut() {
            let mut cells = std::mem::take(&mut table.cells);
            if !table.blocks.is_empty() {
                cells.push(std::mem::take(&mut table.blocks));
            }
            if !cells.is_empty() {
                table.rows.push(RtfRow { cells, edges: edges.to_vec() });
            }
        }
    }

    fn end_table(&mut self) {
        let Some(mut table) = self.tables.pop() else { return };
        if !table.blocks.is_empty() {
            table.cells.push(std::mem::take(&mut table.blocks));
        }
        if !table.cells.is_empty() {
            table.rows.push(RtfRow { cells: table.cells, edges: Vec::new() });
        }
        let table = table_of(table.rows);
        push_block(self.target(), RichBlock::Table(table));
    }

    /// Ends the story: its blocks.
    pub(super) fn finish(mut self, paragraph: &RtfParagraph, traits: &RtfTraits) -> Vec<RichBlock> {
        if !is_blank(&self.spans) || !self.after.is_empty() {
            self.end_paragraph(paragraph, traits);
        }
        self.enter(0);
        self.blocks
    }
}

fn block_of(
    mut spans: Vec<RichSpan>,
    paragraph: &RtfParagraph,
    traits: &RtfTraits,
    label: &str,
) -> RichBlock {
    if is_blank(&spans) {
        return RichBlock::Paragraph(spans);
    }
    let is_code =
        |span: &RichSpan| span.style.has(SpanStyle::CODE) || is_blank(std::slice::from_ref(span));
    if spans.iter().all(is_code) {
        // A font of code says nothing where all of a paragraph has it.
        let plain = |span: &mut RichSpan| span.style = span.style.with(SpanStyle::CODE, false);
        spans.iter_mut().for_each(plain);
    }
    let heading = match paragraph.outline {
        Some(level) => (level < 9).then_some(level + 1),
        None => traits.heading,
    };
    if let Some(level) = heading {
        let label = label.trim();
        if !label.is_empty() && !BULLETS.contains(label) {
            spans.insert(0, RichSpan::text(format!("{label} "), SpanStyle::default()));
        }
        return RichBlock::Heading { level, spans };
    }
    if traits.is_code {
        return RichBlock::Code(crate::rich_text::code_text(&spans));
    }
    if let Some(marker) = marker_of(label).or_else(|| typed_bullet(&mut spans)) {
        return RichBlock::Item { level: paragraph.level.min(8), marker, spans };
    }
    if paragraph.list.is_some_and(|list| list > 0) {
        let marker = ListMarker::Bullet;
        return RichBlock::Item { level: paragraph.level.min(8), marker, spans };
    }
    match traits.is_quote {
        true => RichBlock::Quote(vec![RichBlock::Paragraph(spans)]),
        false => RichBlock::Paragraph(spans),
    }
}

/// The marker that a label means.
fn marker_of(label: &str) -> Option<ListMarker> {
    let label = label.trim();
    let mut letters = label.chars();
    match (letters.next(), letters.next()) {
        (None, _) => None,
        (Some(only), None) if BULLETS.contains(only) || !only.is_alphanumeric() => {
            Some(ListMarker::Bullet)
        }
        _ => match label.trim_end_matches(['.', ')', '．', '、']).parse() {
            Ok(number) => Some(ListMarker::Number(number)),
            Err(_) => Some(ListMarker::Label(label.chars().take(32).collect())),
        },
    }
}

/// A bullet that is typed as text before a tab, which is taken off.
fn typed_bullet(spans: &mut [RichSpan]) -> Option<ListMarker> {
    let SpanContent::Text(text) = &mut spans.first_mut()?.content else { return None };
    let rest = text.trim_start().strip_prefix(['•', '·', '▪', '◦'])?;
    let rest = rest.strip_prefix([' ', '\u{A0}']).unwrap_or(rest).strip_prefix('\t')?.to_owned();
    *text = rest;
    Some(ListMarker::Bullet)
}
