//! Writer of spans as a line of Markdown.

use crate::markdown::escape;
use crate::options::Options;
use crate::rich_text::spans::{is_passive, normalise};
use crate::rich_text::{RichSpan, SpanContent, SpanStyle};

/// The longest address that a link keeps; a longer one is data.
const MAX_ADDRESS: usize = 2_048;

/// Where spans stand.
pub(super) struct RichLineContext<'o> {
    /// What ends a line.
    pub(super) line_break: &'static str,
    /// Whether all of it is bold anyway, so that bold says nothing.
    pub(super) is_bold: bool,
    pub(super) options: &'o Options,
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
pub(super) fn inline(spans: &[RichSpan], context: &RichLineContext<'_>) -> String {
    let spans = normalise(spans);
    let mut writer = RichLineWriter {
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

struct RichLineWriter<'c> {
    context: &'c RichLineContext<'c>,
    out: String,
    open: Vec<SpanStyle>,
    link: Option<&'c str>,
    /// Where the text of the open link starts.
    link_start: usize,
    /// White space that waits until it is clear on which side of a mark it belongs.
    space: String,
}

impl<'c> RichLineWriter<'c> {
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
        let link = link
            .filter(|link| link.len() <= MAX_ADDRESS && is_passive(link) && !link.starts_with('#'));
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
            self.out.push_str(&if is_plain {
                format!("]({address})")
            } else {
                format!("](<{address}>)")
            });
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
