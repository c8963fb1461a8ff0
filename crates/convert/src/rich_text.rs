//! Rich text: a word-processing document as blocks and spans, between its readers and writers.

use std::rc::Rc;

mod html;
mod markdown;
mod spans;

#[cfg(test)]
mod tests;

pub(crate) use html::write_html;
pub(crate) use markdown::{push_blocks, write_markdown};
pub(crate) use spans::{blocks_text, code_text, is_blank, ruby};

/// The most columns or rows that a cell takes.
pub(crate) const MAX_SPAN: u16 = 1_000;

/// A document.
#[derive(Debug, Default)]
pub(crate) struct RichText {
    /// The different headers of its pages.
    pub(crate) headers: Vec<Vec<RichBlock>>,
    /// The body.
    pub(crate) blocks: Vec<RichBlock>,
    /// The different footers of its pages.
    pub(crate) footers: Vec<Vec<RichBlock>>,
    /// Footnotes, endnotes and comments, in the order of their marks.
    pub(crate) notes: Vec<RichNote>,
    /// What is lost, one sentence each.
    pub(crate) losses: Vec<String>,
}

/// A block of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RichBlock {
    /// A heading; levels count from 1.
    Heading { level: u8, spans: Vec<RichSpan> },
    /// A paragraph.
    Paragraph(Vec<RichSpan>),
    /// An item of a list, or a further paragraph of one; levels count from 0.
    Item { level: u8, marker: ListMarker, spans: Vec<RichSpan> },
    /// Text set off from the rest.
    Quote(Vec<Self>),
    /// Lines of code.
    Code(String),
    /// A table.
    Table(RichTable),
}

/// What stands before an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListMarker {
    /// A bullet.
    Bullet,
    /// A plain number.
    Number(u32),
    /// Any other numbering, as the document shows it: `(a)`, `第1条`.
    Label(String),
    /// Nothing: the item before goes on.
    Continuation,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RichTable {
    pub(crate) rows: Vec<Vec<RichCell>>,
}

/// A cell. Positions that another cell covers have no cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RichCell {
    pub(crate) blocks: Vec<RichBlock>,
    /// How many columns it takes, at least 1.
    pub(crate) columns: u16,
    /// How many rows it takes, at least 1.
    pub(crate) rows: u16,
}

/// A footnote, endnote or comment.
#[derive(Debug)]
pub(crate) struct RichNote {
    /// The label of its marks: `1`, or `c1` for a comment.
    pub(crate) label: String,
    /// What stands before its text: whose comment it is.
    pub(crate) lead: String,
    pub(crate) blocks: Vec<RichBlock>,
}

/// A piece of a line with one style.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RichSpan {
    pub(crate) content: SpanContent,
    pub(crate) style: SpanStyle,
    /// Where it leads.
    pub(crate) link: Option<Rc<str>>,
}

/// What a span shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SpanContent {
    Text(String),
    /// A line break.
    Break,
    /// Text with its reading.
    Ruby {
        base: Box<str>,
        reading: Box<str>,
    },
    /// An image with its description.
    Image(String),
    /// The mark of the note with this label.
    Note(String),
    /// A place that links of the document lead to.
    Anchor(String),
}

/// The style of a span: a set of the constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SpanStyle(u8);

impl SpanStyle {
    pub(crate) const BOLD: Self = Self(1);
    pub(crate) const ITALIC: Self = Self(2);
    pub(crate) const STRIKE: Self = Self(4);
    pub(crate) const CODE: Self = Self(8);
    pub(crate) const SUPERSCRIPT: Self = Self(16);
    pub(crate) const SUBSCRIPT: Self = Self(32);

    /// The style with `other` added or taken away.
    pub(crate) fn with(self, other: Self, is_on: bool) -> Self {
        if is_on { Self(self.0 | other.0) } else { Self(self.0 & !other.0) }
    }

    /// Whether it has all of `other`.
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl RichSpan {
    /// A text in this style.
    pub(crate) fn text(text: impl Into<String>, style: SpanStyle) -> Self {
        Self { content: SpanContent::Text(text.into()), style, link: None }
    }

    /// Anything else than styled text.
    pub(crate) fn plain(content: SpanContent) -> Self {
        Self { content, style: SpanStyle::default(), link: None }
    }
}

impl RichCell {
    /// A cell that takes one position.
    pub(crate) fn single(blocks: Vec<RichBlock>) -> Self {
        Self { blocks, columns: 1, rows: 1 }
    }
}

impl RichBlock {
    /// A paragraph of plain text.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::Paragraph(vec![RichSpan::text(text, SpanStyle::default())])
    }
}

/// What stands before the text of a comment.
pub(crate) fn comment_lead(author: &str, date: &str) -> String {
    match (author, date) {
        ("", "") => "Comment: ".to_owned(),
        (author, "") => format!("Comment by {author}: "),
        ("", date) => format!("Comment ({date}): "),
        (author, date) => format!("Comment by {author} ({date}): "),
    }
}

/// Appends `block`, joining code with code and quotes with quotes, and leaving out what is empty.
pub(crate) fn push_block(blocks: &mut Vec<RichBlock>, block: RichBlock) {
    match (blocks.last_mut(), block) {
        (Some(RichBlock::Code(before)), RichBlock::Code(code)) => {
            before.push('\n');
            before.push_str(&code);
        }
        (Some(RichBlock::Quote(before)), RichBlock::Quote(mut quote)) => before.append(&mut quote),
        (_, RichBlock::Table(table)) => match table.single_cell() {
            Ok(mut cell) => blocks.append(&mut cell),
            Err(table) => blocks.push(RichBlock::Table(table)),
        },
        (_, mut block) => {
            if !block.is_empty() {
                block.shrink();
                blocks.push(block);
            }
        }
    }
}

impl RichBlock {
    /// Gives back what its spans were given to grow: most paragraphs have few.
    fn shrink(&mut self) {
        if let Self::Heading { spans, .. } | Self::Paragraph(spans) | Self::Item { spans, .. } =
            self
        {
            spans.shrink_to_fit();
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Heading { spans, .. } | Self::Paragraph(spans) | Self::Item { spans, .. } => {
                is_blank(spans)
            }
            Self::Quote(blocks) => blocks.is_empty(),
            Self::Code(_) | Self::Table(_) => false,
        }
    }
}

impl RichTable {
    /// The blocks of a table that is only a frame around them.
    fn single_cell(mut self) -> Result<Vec<RichBlock>, Self> {
        self.rows.retain(|row| !row.is_empty());
        match self.rows.as_mut_slice() {
            [] => Ok(Vec::new()),
            [row] if row.len() == 1 => Ok(row.remove(0).blocks),
            _ => Err(self),
        }
    }
}
