//! Writer of rich text as Markdown.

mod inline;

use inline::{RichLineContext, inline};

use super::{ListMarker, RichBlock, RichCell, RichNote, RichSpan, RichTable, RichText};
use crate::conversion::Conversion;
use crate::error::ConvertError;
use crate::markdown::{escape, escape_line_start, table};
use crate::options::Options;

/// The most columns of a table that are laid out, far over what is shown.
const MAX_COLUMNS: usize = 1_000;

/// Writes a document as Markdown.
pub(crate) fn write_markdown(
    text: RichText,
    options: &Options,
) -> Result<Conversion, ConvertError> {
    let mut out = String::new();
    for header in &text.headers {
        push_margin(&mut out, "Header", header, options);
    }
    push_blocks(&mut out, &text.blocks, options)?;
    for footer in &text.footers {
        push_margin(&mut out, "Footer", footer, options);
    }
    for note in &text.notes {
        push_note(&mut out, note, options)?;
    }
    Ok(Conversion { losses: text.losses, ..Conversion::text(out) })
}

fn push_margin(out: &mut String, word: &str, blocks: &[RichBlock], options: &Options) {
    start_block(out);
    out.push_str(&format!("{word}: {}\n", join_blocks(blocks, " / ", options)));
}

fn push_note(out: &mut String, note: &RichNote, options: &Options) -> Result<(), ConvertError> {
    let mut body = String::new();
    push_blocks(&mut body, &note.blocks, options)?;
    start_block(out);
    out.push_str(&format!("[^{}]: {}", note.label, escape(&note.lead)));
    for (at, line) in body.trim_end().lines().enumerate() {
        if at > 0 {
            out.push('\n');
            if !line.is_empty() {
                out.push_str("    ");
            }
        }
        out.push_str(line);
    }
    out.push('\n');
    check_size(out, options)
}

/// Ends what was written with a blank line.
fn start_block(out: &mut String) {
    if !out.is_empty() {
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.push('\n');
    }
}

fn check_size(out: &str, options: &Options) -> Result<(), ConvertError> {
    if out.len() > options.max_output_bytes {
        let limit = options.max_output_bytes;
        return Err(ConvertError::over_limit(format!(
            "the text is over the limit of {limit} bytes"
        )));
    }
    Ok(())
}

/// Appends blocks, each after a blank line but for items of one list.
pub(crate) fn push_blocks(
    out: &mut String,
    blocks: &[RichBlock],
    options: &Options,
) -> Result<(), ConvertError> {
    let mut indents: Vec<RichIndent> = Vec::new();
    let mut is_counted = false;
    for block in blocks {
        let RichBlock::Item { level, marker, spans } = block else {
            indents.clear();
            start_block(out);
            push_block_text(out, block, options)?;
            check_size(out, options)?;
            continue;
        };
        let counts = matches!(marker, ListMarker::Number(_));
        let is_other_list =
            *level == 0 && counts != is_counted && *marker != ListMarker::Continuation;
        if indents.is_empty() || is_other_list {
            start_block(out);
        }
        if *level == 0 && *marker != ListMarker::Continuation {
            is_counted = counts;
        }
        push_item(out, &mut indents, (*level, marker), spans, options);
        check_size(out, options)?;
    }
    Ok(())
}

/// An open item.
struct RichIndent {
    level: u8,
    /// How far its text is indented.
    text: usize,
}

fn push_item(
    out: &mut String,
    indents: &mut Vec<RichIndent>,
    (level, marker): (u8, &ListMarker),
    spans: &[RichSpan],
    options: &Options,
) {
    let mark = match marker {
        ListMarker::Bullet => "- ".to_owned(),
        ListMarker::Number(number) => format!("{number}. "),
        ListMarker::Label(label) => format!("- {} ", escape(label)),
        ListMarker::Continuation => String::new(),
    };
    let is_continuation = *marker == ListMarker::Continuation;
    let is_inside =
        |open: &RichIndent| open.level > level || (open.level == level && !is_continuation);
    while indents.last().is_some_and(is_inside) {
        indents.pop();
    }
    let indent = indents.last().map_or(0, |open| open.text);
    if !is_continuation {
        let width = if mark.starts_with('-') { 2 } else { mark.len() };
        indents.push(RichIndent { level, text: indent + width });
    } else if !indents.is_empty() {
        out.push('\n');
    }
    out.push_str(&" ".repeat(indent));
    out.push_str(&mark);
    let inner = " ".repeat(indents.last().map_or(0, |open| open.text));
    for (at, line) in lines(spans, options).iter().enumerate() {
        if at > 0 {
            out.push_str("  \n");
            out.push_str(&inner);
        }
        out.push_str(line);
    }
    out.push('\n');
}

fn push_block_text(
    out: &mut String,
    block: &RichBlock,
    options: &Options,
) -> Result<(), ConvertError> {
    match block {
        RichBlock::Heading { level, spans } => {
            let text = inline(spans, &RichLineContext { line_break: " ", is_bold: true, options });
            let marks = "#".repeat(usize::from(*level).clamp(1, 6));
            out.push_str(&format!("{marks} {text}\n"));
        }
        RichBlock::Paragraph(spans) | RichBlock::Item { spans, .. } => {
            out.push_str(&lines(spans, options).join("  \n"));
            out.push('\n');
        }
        RichBlock::Quote(blocks) => {
            let mut inner = String::new();
            push_blocks(&mut inner, blocks, options)?;
            for line in inner.trim_end().lines() {
                out.push_str(if line.is_empty() { ">" } else { "> " });
                out.push_str(line);
                out.push('\n');
            }
        }
        RichBlock::Code(code) => {
            let longest = code.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            out.push_str(&format!("{fence}\n{}\n{fence}\n", code.trim_end()));
        }
        RichBlock::Table(rich) => push_table(out, rich, options),
    }
    Ok(())
}

/// The lines of a paragraph, none of which Markdown takes as anything else. A number or dash that
/// is typed before a line means an item there too, so that it stays.
fn lines(spans: &[RichSpan], options: &Options) -> Vec<String> {
    let text = inline(spans, &RichLineContext { line_break: "\n", is_bold: false, options });
    let is_typed_item = |line: &str| {
        line.starts_with("- ") || line.trim_start_matches(|c: char| c.is_ascii_digit()) != line
    };
    let escaped = |line: &str| match is_typed_item(line) {
        true => line.to_owned(),
        false => escape_line_start(line),
    };
    text.lines().map(escaped).collect()
}

fn push_table(out: &mut String, rich: &RichTable, options: &Options) {
    let mut rows: Vec<Vec<String>> = Vec::with_capacity(rich.rows.len());
    // How many more rows a cell of each column takes.
    let mut covered: Vec<u16> = Vec::new();
    for (at, row) in rich.rows.iter().enumerate() {
        if at > options.max_table_rows {
            rows.push(Vec::new());
            continue;
        }
        let mut texts: Vec<String> = Vec::new();
        let skip_covered = |texts: &mut Vec<String>, covered: &mut Vec<u16>| {
            while let Some(left) = covered.get_mut(texts.len()).filter(|left| **left > 0) {
                *left -= 1;
                texts.push(String::new());
            }
        };
        for cell in row {
            skip_covered(&mut texts, &mut covered);
            if texts.len() >= MAX_COLUMNS {
                break;
            }
            let context = RichCellContext { is_header: at == 0, options };
            let mut text = Some(context.text(&cell.blocks));
            for _ in 0..cell.columns.max(1) {
                let column = texts.len();
                if column >= MAX_COLUMNS {
                    break;
                }
                if covered.len() <= column {
                    covered.resize(column + 1, 0);
                }
                covered[column] = cell.rows.max(1) - 1;
                texts.push(text.take().unwrap_or_default());
            }
        }
        skip_covered(&mut texts, &mut covered);
        rows.push(texts);
    }
    out.push_str(&table(&rows, options));
}

/// How the blocks of a cell come on one line.
struct RichCellContext<'o> {
    is_header: bool,
    options: &'o Options,
}

impl RichCellContext<'_> {
    fn text(&self, blocks: &[RichBlock]) -> String {
        let texts: Vec<String> = blocks.iter().map(|block| self.block(block)).collect();
        texts.join("<br>")
    }

    fn block(&self, block: &RichBlock) -> String {
        let options = self.options;
        let context = RichLineContext { line_break: "<br>", is_bold: self.is_header, options };
        match block {
            RichBlock::Heading { spans, .. } | RichBlock::Paragraph(spans) => {
                inline(spans, &context)
            }
            RichBlock::Item { marker, spans, .. } => {
                let text = inline(spans, &context);
                match marker {
                    ListMarker::Bullet => format!("- {text}"),
                    ListMarker::Number(number) => format!("{number}. {text}"),
                    ListMarker::Label(label) => format!("{label} {text}"),
                    ListMarker::Continuation => text,
                }
            }
            RichBlock::Quote(blocks) => self.text(blocks),
            RichBlock::Code(code) => escape(code).replace('\n', "<br>"),
            RichBlock::Table(inner) => {
                let row = |row: &Vec<RichCell>| {
                    let cells = row.iter().map(|cell| self.text(&cell.blocks));
                    cells.collect::<Vec<_>>().join(" / ")
                };
                inner.rows.iter().map(row).collect::<Vec<_>>().join("<br>")
            }
        }
    }
}

/// All blocks on one line, with `between` them.
fn join_blocks(blocks: &[RichBlock], between: &str, options: &Options) -> String {
    let context = RichCellContext { is_header: false, options };
    let texts = blocks.iter().map(|block| context.block(block).replace("<br>", between));
    // A logo without a description says nothing.
    texts.filter(|text| text != "![image]()").collect::<Vec<_>>().join(between)
}
