//! Writer of rich text as Markdown.

use super::spans::{is_passive, normalise};
use super::{ListMarker, RichBlock, RichNote, RichSpan, RichTable, RichText, SpanContent, SpanStyle};
use crate::converted::Converted;
use crate::error::ConvertError;
use crate::markdown::{escape, escape_line_start, table};
use crate::options::Options;

/// The longest address that a link keeps; a longer one is data.
const MAX_ADDRESS: usize = 2_048;

/// The most columns of a table that are laid out, far over what is shown.
const MAX_COLUMNS: usize = 1_000;

/// Writes a document as Markdown.
pub(crate) fn write_markdown(
    text: RichText,
    options: &Options,
) -> Result<Converted, ConvertError> {
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
    Ok(Converted { losses: text.losses, ..Converted::text(out) })
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
        return Err(ConvertError::over_limit(format!("the text is over the limit of {limit} bytes")));
    }
    Ok(())
}

/// Appends blocks, each after a blank line but for items of one list.
pub(crate) fn push_blocks(
    out: &mut String,
    blocks: &[RichBlock],
    options: &Options,
) -> Result<(), ConvertError> {
    let mut indents: Vec<ItemIndent> = Vec::new();
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
        let is_other_list = *level == 0 && counts != is_counted && *marker != ListMarker::Continuation;
        if indents.is_empty() || is_other_list {
            start_block(out);
        }
        if *level == 0 {
            is_counted = counts;
        }
        push_item(out, &mut indents, (*level, marker), spans, options);
        check_size(out, options)?;
    }
    Ok(())
}

/// An open item.
struct ItemIndent {
    level: u8,
    /// How far its text is indented.
    text: usize,
}

fn push_item(
    out: &mut String,
    indents: &mut Vec<ItemIndent>,
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
    let is_inside = |open: &ItemIndent| open.level > level || (open.level == level && !is_continuation);
    while indents.last().is_some_and(is_inside) {
        indents.pop();
    }
    let indent = indents.last().map_or(0, |open| open.text);
    if !is_continuation {
        let width = if mark.starts_with('-') { 2 } else { mark.len() };
        indents.push(ItemIndent { level, text: indent + width });
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
            let text = inline(spans, &InlineContext { line_break: " ", is_bold: true, options });
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

/// The lines of a paragraph, none of which Markdown takes as anything else.
fn lines(spans: &[RichSpan], options: &Options) -> Vec<String> {
    let text = inline(spans, &InlineContext { line_break: "\n", is_bold: false, options });
    text.lines().map(escape_line_start).collect()
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
            let context = CellContext { is_header: at == 0, options };
            let mut text = Some(context.text(&cell.blocks));
            for _ in 0..cell.columns.max(1) {
                let column = texts.len();
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
struct CellContext<'o> {
    is_header: bool,
    options: &'o Options,
}

impl CellContext<'_> {
    fn text(&self, blocks: &[RichBlock]) -> String {
        let texts: Vec<String> = blocks.iter().map(|block| self.block(block)).collect();
        texts.join("<br>")
    }

    fn block(&self, block: &RichBlock) -> String {
        let options = self.options;
        let context = InlineContext { line_break: "<br>", is_bold: self.is_header, options };
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
                let row = |row: &Vec<super::RichCell>| {
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
    let context = CellContext { is_header: false, options };
    let texts = blocks.iter().map(|block| context.block(block).replace("<br>", between));
    // A logo without a description says nothing.
    texts.filter(|text| text != "![image]()").collect::<Vec<_>>().join(between)
}

/// Where spans stand.
struct InlineContext<'o> {
    /// What ends a line.
    line_break: &'static str,
    /// Whether all of it is bold anyway, so that bold says nothing.
    is_bold: bool,
    options: &'o Options,
}

/// Styles from the outside to the inside, with their marks.
const MARKS: [(SpanStyle, &str, &str); 6] = [
    (SpanStyle::BOLD, "**", "**"),
    (SpanStyle::ITALIC, "*", "*"),
    (SpanStyle::STRIKE, "~~", "~~"),
    (SpanStyle::SUPERSCRIPT, "<sup>", "</sup>"),
    (SpanStyle::SUBSCRIPT, "<sub>", "</sub>"),
    (SpanStyle::CODE, "`", "`"),
];

/// Writes spans on one line, or on lines that `line_break` ends.
fn inline(spans: &[RichSpan], context: &InlineContext<'_>) -> String {
    let spans = normalise(spans);
    let mut writer = InlineWriter {
        context,
        out: String::new(),
        open: Vec::new(),
        link: None,
        link_start: 0,
        space: String::new(),
    };
    for span in &spans {
        if writer.out.len() > context.options.max_output_bytes {
            break;
        }
        writer.span(span);
    }
    writer.close_all();
    writer.out
}

struct InlineWriter<'c> {
    context: &'c InlineContext<'c>,
    out: String,
    open: Vec<SpanStyle>,
    link: Option<&'c str>,
    /// Where the text of the open link starts.
    link_start: usize,
    /// White space that waits until it is clear on which side of a mark it belongs.
    space: String,
}

impl<'c> InlineWriter<'c> {
    fn span(&mut self, span: &'c RichSpan) {
        match &span.content {
            SpanContent::Text(text) => self.text(text, span),
            SpanContent::Break => self.space.push('\n'),
            SpanContent::Anchor(_) => {}
            SpanContent::Ruby { base, reading } => {
                self.enter(span.style, span.link.as_deref());
                self.out.push_str(&escape(&format!("{base}({reading})")));
            }
            SpanContent::Image(alt) => {
                self.enter(SpanStyle::default(), span.link.as_deref());
                let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
                let alt = if alt.is_empty() { "image" } else { &alt };
                self.out.push_str(&format!("![{}]()", alt.replace(['[', ']'], "")));
            }
            SpanContent::Note(label) => {
                self.close_all();
                self.flush_space();
                self.out.push_str(&format!("[^{label}]"));
            }
        }
    }

    fn text(&mut self, text: &str, span: &'c RichSpan) {
        let body = text.trim_matches(is_space);
        if body.is_empty() {
            self.space.push_str(if text.is_empty() { "" } else { " " });
            return;
        }
        if text.starts_with(is_space) {
            self.space.push(' ');
        }
        let mut style = span.style;
        if self.context.is_bold {
            style = style.with(SpanStyle::BOLD, false);
        }
        if body.contains('`') {
            style = style.with(SpanStyle::CODE, false);
        }
        self.enter(style, span.link.as_deref());
        let body = collapse(body);
        if style.has(SpanStyle::CODE) {
            self.out.push_str(&body);
        } else if self.link.is_some() {
            self.out.push_str(&escape(&body).replace('[', "\\[").replace("\\\\[", "\\["));
        } else {
            self.out.push_str(&escape(&body));
        }
        if text.ends_with(is_space) {
            self.space.push(' ');
        }
    }

    /// Closes and opens marks so that the next text has this style and link.
    fn enter(&mut self, style: SpanStyle, link: Option<&'c str>) {
        let link = link.filter(|link| {
            link.len() <= MAX_ADDRESS && is_passive(link) && !link.starts_with('#')
        });
        if self.link != link {
            self.close_all();
        }
        while self.open.iter().any(|open| !style.has(*open)) {
            self.close_last();
        }
        self.flush_space();
        if self.link != link {
            self.link_start = self.out.len();
            if link.is_some() {
                self.out.push('[');
            }
            self.link = link;
        }
        for (mark, start, _) in MARKS {
            if style.has(mark) && !self.open.contains(&mark) {
                self.out.push_str(start);
                self.open.push(mark);
            }
        }
    }

    fn close_last(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let mark = MARKS.iter().find(|(style, ..)| *style == open);
        self.out.push_str(mark.map_or("", |mark| mark.2));
    }

    fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close_last();
        }
        if let Some(link) = self.link.take() {
            let text = &self.out[self.link_start..];
            if text.strip_prefix('[').is_some_and(|text| text.replace('\\', "") == link) {
                self.out.replace_range(self.link_start.., link);
                return;
            }
            let is_plain = !link.contains([' ', '(', ')', '<', '>']);
            let address = link.replace(['\n', '\r', '<', '>'], "");
            self.out.push_str(&if is_plain { format!("]({address})") } else { format!("](<{address}>)") });
        }
    }

    fn flush_space(&mut self) {
        let space = std::mem::take(&mut self.space);
        if self.out.is_empty() || space.is_empty() {
            return;
        }
        let is_break = space.contains('\n');
        self.out.push_str(if is_break { self.context.line_break } else { " " });
    }
}

/// White space that Markdown does not keep. An ideographic space is a letter of its own.
fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{A0}')
}

/// The text with each run of white space as one space.
fn collapse(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !letter.is_control() || is_space(*letter)) {
        match is_space(letter) {
            true if collapsed.ends_with(' ') => {}
            true => collapsed.push(' '),
            false => collapsed.push(letter),
        }
    }
    collapsed
}
