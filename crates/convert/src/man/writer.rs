//! Writers of a page: Markdown, and text without marks.

use super::page::{ManBlock, ManMarker};
use crate::error::ConvertError;
use crate::form::Form;
use crate::options::Options;
use crate::rich_text::{RichBlock, RichCell, RichSpan, SpanContent, code_text, push_blocks};

/// Writes the blocks of a page, those of an item indented under it.
pub(super) fn write(
    blocks: &[ManBlock],
    form: Form,
    options: &Options,
) -> Result<String, ConvertError> {
    let mut out = String::new();
    // How far the text of each open item is indented.
    let mut indents: Vec<usize> = Vec::new();
    let mut is_after_item = false;
    for block in blocks {
        indents.truncate(usize::from(block.depth));
        let indent = indents.last().copied().unwrap_or(0);
        let mut text = String::new();
        if form == Form::Plain {
            push_plain(&mut text, &block.block);
        } else {
            push_markdown(&mut text, &block.block, options)?;
        }
        let text = text.trim_matches('\n');
        let is_same_list = is_after_item && block.marker.is_some();
        if !out.is_empty() && !is_same_list {
            out.push('\n');
        }
        let mark = match &block.marker {
            Some(ManMarker::Bullet) => "- ".to_owned(),
            Some(ManMarker::Number(number)) => format!("{number}. "),
            None => String::new(),
        };
        out.extend(std::iter::repeat_n(' ', indent));
        out.push_str(&mark);
        push_indented(&mut out, text, indent + mark.len());
        if !mark.is_empty() {
            indents.push(indent + mark.len());
        }
        is_after_item = block.marker.is_some();
        if out.len() > options.max_output_bytes {
            let limit = options.max_output_bytes;
            let found = format!("the text is over the limit of {limit} bytes");
            return Err(ConvertError::over_limit(found));
        }
    }
    Ok(out)
}

/// Appends a block. Each line of a paragraph has its own marks, which none takes along to the next.
fn push_markdown(
    out: &mut String,
    block: &RichBlock,
    options: &Options,
) -> Result<(), ConvertError> {
    let RichBlock::Paragraph(spans) = block else {
        return push_blocks(out, std::slice::from_ref(block), options);
    };
    for line in spans.split(|span| span.content == SpanContent::Break) {
        let mut text = String::new();
        push_blocks(&mut text, &[RichBlock::Paragraph(line.to_vec())], options)?;
        if !out.is_empty() {
            out.push_str("  \n");
        }
        out.push_str(text.trim_end());
    }
    Ok(())
}

/// Appends lines, all but the first indented.
fn push_indented(out: &mut String, text: &str, indent: usize) {
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 && !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
        }
        out.push_str(line);
        out.push('\n');
    }
}

fn push_plain(out: &mut String, block: &RichBlock) {
    match block {
        RichBlock::Heading { spans, .. } | RichBlock::Paragraph(spans) => {
            out.push_str(&code_text(spans));
        }
        RichBlock::Code(code) => out.push_str(code),
        RichBlock::Table(table) => {
            for row in &table.rows {
                let cells: Vec<_> = row.iter().map(cell_text).collect();
                out.push_str(cells.join("\t").trim_end());
                out.push('\n');
            }
        }
        RichBlock::Item { .. } | RichBlock::Quote(_) => {}
    }
}

fn cell_text(cell: &RichCell) -> String {
    let spans = |block: &RichBlock| -> Vec<RichSpan> {
        if let RichBlock::Paragraph(spans) = block { spans.clone() } else { Vec::new() }
    };
    let spans: Vec<RichSpan> = cell.blocks.iter().flat_map(spans).collect();
    code_text(&spans).replace(['\n', '\t'], " ")
}
