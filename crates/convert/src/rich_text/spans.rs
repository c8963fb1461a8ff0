//! Spans: what both writers need of them before they write them.

use super::{RichBlock, RichSpan, SpanContent, SpanStyle};

/// The styles that count only on whole words.
const WORD_STYLES: [SpanStyle; 4] =
    [SpanStyle::BOLD, SpanStyle::ITALIC, SpanStyle::STRIKE, SpanStyle::CODE];

/// Whether spans show nothing.
pub(crate) fn is_blank(spans: &[RichSpan]) -> bool {
    spans.iter().all(|span| match &span.content {
        SpanContent::Text(text) => text.trim().is_empty(),
        SpanContent::Break | SpanContent::Anchor(_) => true,
        SpanContent::Ruby { .. } | SpanContent::Image(_) | SpanContent::Note(_) => false,
    })
}

/// The text of spans without styles, on one line.
pub(crate) fn plain_text(spans: &[RichSpan]) -> String {
    let mut text = String::new();
    for span in spans {
        match &span.content {
            SpanContent::Text(content) => text.push_str(content),
            SpanContent::Break => text.push(' '),
            SpanContent::Ruby { base, reading } => text.push_str(&format!("{base}({reading})")),
            SpanContent::Image(alt) => text.push_str(alt),
            SpanContent::Note(_) | SpanContent::Anchor(_) => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of all blocks, on one line.
pub(crate) fn blocks_text(blocks: &[RichBlock]) -> String {
    let texts = blocks.iter().map(|block| match block {
        RichBlock::Heading { spans, .. }
        | RichBlock::Paragraph(spans)
        | RichBlock::Item { spans, .. } => plain_text(spans),
        RichBlock::Quote(blocks) => blocks_text(blocks),
        RichBlock::Code(code) => code.clone(),
        RichBlock::Table(table) => {
            let cells = table.rows.iter().flatten().map(|cell| blocks_text(&cell.blocks));
            cells.collect::<Vec<_>>().join(" ")
        }
    });
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text of spans as lines of code.
pub(crate) fn code_text(spans: &[RichSpan]) -> String {
    let mut text = String::new();
    for span in spans {
        match &span.content {
            SpanContent::Text(content) => text.push_str(content),
            SpanContent::Break => text.push('\n'),
            SpanContent::Ruby { base, reading } => text.push_str(&format!("{base}({reading})")),
            SpanContent::Image(alt) => text.push_str(alt),
            SpanContent::Note(label) => text.push_str(&format!("[^{label}]")),
            SpanContent::Anchor(_) => {}
        }
    }
    text
}

/// Text with its reading; text alone if it has none.
pub(crate) fn ruby(base: &[RichSpan], reading: &[RichSpan]) -> SpanContent {
    let (base, reading) = (plain_text(base), plain_text(reading));
    if base.is_empty() || reading.is_empty() {
        return SpanContent::Text(base + &reading);
    }
    SpanContent::Ruby { base: base.into(), reading: reading.into() }
}

/// The spans with neighbours of one style joined, and without styles that begin or end inside a
/// word: editors split words at will, and marks inside of words only disturb a reader.
pub(super) fn normalise(spans: &[RichSpan]) -> Vec<RichSpan> {
    let mut joined: Vec<RichSpan> = Vec::with_capacity(spans.len());
    for span in spans {
        if let SpanContent::Text(text) = &span.content
            && let Some(last) = joined.last_mut()
            && let SpanContent::Text(before) = &mut last.content
            && last.style == span.style
            && last.link == span.link
        {
            before.push_str(text);
            continue;
        }
        joined.push(span.clone());
    }
    for style in WORD_STYLES {
        clear_inside_words(&mut joined, style);
    }
    joined
}

fn clear_inside_words(spans: &mut [RichSpan], style: SpanStyle) {
    let mut at = 0;
    while at < spans.len() {
        if !spans[at].style.has(style) {
            at += 1;
            continue;
        }
        let rest = spans[at..].iter().position(|span| !span.style.has(style));
        let end = rest.map_or(spans.len(), |length| at + length);
        let (before, group) = (at.checked_sub(1).map(|index| &spans[index]), &spans[at..end]);
        let starts_inside = is_inside_word(before, group.first());
        let ends_inside = is_inside_word(group.last(), spans.get(end));
        if starts_inside || ends_inside {
            spans[at..end].iter_mut().for_each(|span| span.style = span.style.with(style, false));
        }
        at = end;
    }
}

/// Whether the border of two spans is inside a word. Chinese and Japanese have no such borders.
fn is_inside_word(left: Option<&RichSpan>, right: Option<&RichSpan>) -> bool {
    let letter = |span: Option<&RichSpan>, is_last: bool| match &span?.content {
        SpanContent::Text(text) if is_last => text.chars().next_back(),
        SpanContent::Text(text) => text.chars().next(),
        _ => None,
    };
    let is_letter = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() && !is_east_asian(letter))
    };
    is_letter(letter(left, true)) && is_letter(letter(right, false))
}

/// Whether a letter belongs to a script without spaces between words.
fn is_east_asian(letter: char) -> bool {
    matches!(letter, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Whether Markdown may link to this address: not if it would run something.
pub(super) fn is_passive(address: &str) -> bool {
    let scheme = address.trim().split(':').next().unwrap_or_default().to_ascii_lowercase();
    !matches!(scheme.as_str(), "javascript" | "data" | "vbscript" | "blob") && !address.is_empty()
}

/// Whether HTML may link to this address.
pub(super) fn is_public(address: &str) -> bool {
    let lower = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    ["http://", "https://", "mailto:", "#"].iter().any(|start| lower.starts_with(start))
}
