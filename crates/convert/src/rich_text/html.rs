//! Writer of rich text as HTML that loads and runs nothing.

use std::collections::HashSet;

use super::spans::{is_public, normalise, plain_text};
use super::{ListMarker, RichBlock, RichSpan, RichTable, RichText, SpanContent, SpanStyle};
use crate::conversion::Conversion;
use crate::error::ConvertError;
use crate::html::push_text;
use crate::options::Options;

/// Styles with their elements, from the outside to the inside.
const ELEMENTS: [(SpanStyle, &str); 6] = [
    (SpanStyle::BOLD, "strong"),
    (SpanStyle::ITALIC, "em"),
    (SpanStyle::STRIKE, "s"),
    (SpanStyle::SUPERSCRIPT, "sup"),
    (SpanStyle::SUBSCRIPT, "sub"),
    (SpanStyle::CODE, "code"),
];

/// Writes a document as an HTML page.
pub(crate) fn write_html(text: RichText, options: &Options) -> Result<Conversion, ConvertError> {
    let mut anchors = HashSet::new();
    collect_links(&text.blocks, &mut anchors);
    for note in &text.notes {
        collect_links(&note.blocks, &mut anchors);
    }
    let mut writer =
        RichHtmlWriter { out: String::new(), anchors, limit: options.max_output_bytes };
    let title = text.blocks.iter().find_map(|block| match block {
        RichBlock::Heading { spans, .. } => Some(plain_text(spans)),
        _ => None,
    });
    writer.out.push_str("<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>");
    writer.escaped(&title.unwrap_or_default());
    writer.out.push_str("</title>\n</head>\n<body>\n");
    for header in &text.headers {
        writer.wrapped("header", header)?;
    }
    writer.blocks(&text.blocks)?;
    if !text.notes.is_empty() {
        writer.out.push_str("<hr>\n");
    }
    for note in &text.notes {
        writer.out.push_str("<div id=\"note-");
        writer.escaped(&note.label);
        writer.out.push_str("\">\n<p>[");
        writer.escaped(&note.label);
        writer.out.push_str("] ");
        writer.escaped(&note.lead);
        let rest = match note.blocks.split_first() {
            Some((RichBlock::Paragraph(spans), rest)) => {
                writer.spans(spans);
                rest
            }
            _ => &note.blocks,
        };
        writer.out.push_str("</p>\n");
        writer.blocks(rest)?;
        writer.out.push_str("</div>\n");
    }
    for footer in &text.footers {
        writer.wrapped("footer", footer)?;
    }
    writer.out.push_str("</body>\n</html>\n");
    Ok(Conversion { losses: text.losses, ..Conversion::text(writer.out) })
}

/// Collects the places of the document that its links lead to.
fn collect_links(blocks: &[RichBlock], anchors: &mut HashSet<String>) {
    for block in blocks {
        match block {
            RichBlock::Heading { spans, .. }
            | RichBlock::Paragraph(spans)
            | RichBlock::Item { spans, .. } => {
                let links = spans.iter().filter_map(|span| span.link.as_deref()?.strip_prefix('#'));
                anchors.extend(links.map(str::to_owned));
            }
            RichBlock::Quote(blocks) => collect_links(blocks, anchors),
            RichBlock::Table(table) => {
                let cells = table.rows.iter().flatten();
                cells.for_each(|cell| collect_links(&cell.blocks, anchors));
            }
            RichBlock::Code(_) => {}
        }
    }
}

/// An open list.
struct RichHtmlList {
    level: u8,
    element: &'static str,
}

struct RichHtmlWriter {
    out: String,
    /// The places that links lead to. Each gets its id once.
    anchors: HashSet<String>,
    limit: usize,
}

impl RichHtmlWriter {
    fn escaped(&mut self, text: &str) {
        push_text(&mut self.out, text);
    }

    fn wrapped(&mut self, element: &str, blocks: &[RichBlock]) -> Result<(), ConvertError> {
        self.out.push_str(&format!("<{element}>\n"));
        self.blocks(blocks)?;
        self.out.push_str(&format!("</{element}>\n"));
        Ok(())
    }

    fn blocks(&mut self, blocks: &[RichBlock]) -> Result<(), ConvertError> {
        let mut lists: Vec<RichHtmlList> = Vec::new();
        for block in blocks {
            if self.out.len() > self.limit {
                let limit = self.limit;
                let message = format!("the text is over the limit of {limit} bytes");
                return Err(ConvertError::over_limit(message));
            }
            if let RichBlock::Item { level, marker, spans } = block {
                self.item(&mut lists, *level, marker, spans);
                continue;
            }
            self.close_lists(&mut lists, 0);
            match block {
                RichBlock::Heading { level, spans } => {
                    let element = format!("h{}", (*level).clamp(1, 6));
                    self.line(&element, spans);
                }
                RichBlock::Paragraph(spans) | RichBlock::Item { spans, .. } => {
                    self.line("p", spans);
                }
                RichBlock::Quote(blocks) => self.wrapped("blockquote", blocks)?,
                RichBlock::Code(code) => {
                    self.out.push_str("<pre><code>");
                    self.escaped(code);
                    self.out.push_str("</code></pre>\n");
                }
                RichBlock::Table(table) => self.table(table)?,
            }
        }
        self.close_lists(&mut lists, 0);
        Ok(())
    }

    fn line(&mut self, element: &str, spans: &[RichSpan]) {
        self.out.push_str(&format!("<{element}>"));
        self.spans(spans);
        self.out.push_str(&format!("</{element}>\n"));
    }

    /// Closes the lists after the first `depth`, with their last items.
    fn close_lists(&mut self, lists: &mut Vec<RichHtmlList>, depth: usize) {
        while lists.len() > depth {
            if let Some(list) = lists.pop() {
                self.out.push_str(&format!("</li>\n</{}>\n", list.element));
            }
        }
    }

    fn item(
        &mut self,
        lists: &mut Vec<RichHtmlList>,
        level: u8,
        marker: &ListMarker,
        spans: &[RichSpan],
    ) {
        let depth = lists.iter().take_while(|list| list.level <= level).count();
        self.close_lists(lists, depth);
        if *marker == ListMarker::Continuation {
            return self.line("p", spans);
        }
        let (element, start) = match marker {
            ListMarker::Number(number) => ("ol", *number),
            _ => ("ul", 1),
        };
        let is_same_level = lists.last().is_some_and(|list| list.level == level);
        if is_same_level && lists.last().is_some_and(|list| list.element != element) {
            self.close_lists(lists, depth - 1);
        }
        if lists.last().is_some_and(|list| list.level == level) {
            self.out.push_str("</li>\n");
        } else {
            match start {
                1 => self.out.push_str(&format!("<{element}>\n")),
                start => self.out.push_str(&format!("<{element} start=\"{start}\">\n")),
            }
            lists.push(RichHtmlList { level, element });
        }
        self.out.push_str("<li>");
        if let ListMarker::Label(label) = marker {
            self.escaped(label);
            self.out.push(' ');
        }
        self.spans(spans);
    }

    fn table(&mut self, table: &RichTable) -> Result<(), ConvertError> {
        self.out.push_str("<table>\n");
        for (at, row) in table.rows.iter().enumerate() {
            let element = if at == 0 { "th" } else { "td" };
            self.out.push_str("<tr>");
            for cell in row {
                self.out.push_str(&format!("<{element}"));
                if cell.columns > 1 {
                    self.out.push_str(&format!(" colspan=\"{}\"", cell.columns));
                }
                if cell.rows > 1 {
                    self.out.push_str(&format!(" rowspan=\"{}\"", cell.rows));
                }
                self.out.push('>');
                match cell.blocks.as_slice() {
                    [RichBlock::Paragraph(spans)] => self.spans(spans),
                    blocks => self.blocks(blocks)?,
                }
                self.out.push_str(&format!("</{element}>"));
            }
            self.out.push_str("</tr>\n");
        }
        self.out.push_str("</table>\n");
        Ok(())
    }

    fn spans(&mut self, spans: &[RichSpan]) {
        for span in normalise(spans) {
            if self.out.len() > self.limit {
                return;
            }
            let link = span.link.as_deref().filter(|link| is_public(link) && link.len() < 2_048);
            if let Some(link) = link {
                self.out.push_str("<a href=\"");
                self.escaped(link);
                self.out.push_str("\">");
            }
            let styles = ELEMENTS.iter().filter(|(style, _)| span.style.has(*style));
            styles.clone().for_each(|(_, element)| self.out.push_str(&format!("<{element}>")));
            self.content(&span.content);
            styles.rev().for_each(|(_, element)| self.out.push_str(&format!("</{element}>")));
            if link.is_some() {
                self.out.push_str("</a>");
            }
        }
    }

    fn content(&mut self, content: &SpanContent) {
        match content {
            SpanContent::Text(text) => self.escaped(text),
            SpanContent::Break => self.out.push_str("<br>\n"),
            SpanContent::Ruby { base, reading } => {
                self.out.push_str("<ruby>");
                self.escaped(base);
                self.out.push_str("<rp>(</rp><rt>");
                self.escaped(reading);
                self.out.push_str("</rt><rp>)</rp></ruby>");
            }
            SpanContent::Image(alt) => {
                self.out.push_str("<img alt=\"");
                self.escaped(if alt.is_empty() { "image" } else { alt });
                self.out.push_str("\">");
            }
            SpanContent::Note(label) => {
                self.out.push_str("<sup><a href=\"#note-");
                self.escaped(label);
                self.out.push_str("\">[");
                self.escaped(label);
                self.out.push_str("]</a></sup>");
            }
            SpanContent::Anchor(name) => {
                if self.anchors.remove(name) {
                    self.out.push_str("<span id=\"");
                    self.escaped(name);
                    self.out.push_str("\"></span>");
                }
            }
        }
    }
}
