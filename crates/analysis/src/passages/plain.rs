//! Outline of plain text: headings of man pages, numbered headings, and underlined headings.

use super::outline::{TextLine, TextOutline, lines, page_mark};

/// The most characters of a heading.
const MAX_HEADING: usize = 70;

pub(super) fn outline(text: &str) -> TextOutline {
    let mut outline = TextOutline::default();
    // The characters of underlines in the order of their first use: their levels.
    let mut underlines: Vec<u8> = Vec::new();
    let mut lines = lines(text).peekable();
    let mut is_after_blank = true;
    while let Some(line) = lines.next() {
        let next = lines.peek().copied();
        if let Some(page) = page_mark(line.head) {
            outline.page(line.start, page);
            is_after_blank = true;
            continue;
        }
        if is_after_blank && is_short_line(&line) {
            let underline = next.and_then(|next| underline(&line, &next));
            if let Some(mark) = underline {
                let known = underlines.iter().position(|known| *known == mark);
                let level = known.unwrap_or(underlines.len());
                if known.is_none() {
                    underlines.push(mark);
                }
                outline.heading(line.start, level + 1, line.head);
            } else if let Some(level) = numbered(&line, next) {
                outline.heading(line.start, level, line.head);
            } else if is_capital(&line, next) || is_japanese(&line, next) {
                outline.heading(line.start, 1, line.head);
            }
        }
        is_after_blank = line.is_blank();
    }
    outline
}

/// True for a short line of text at the first column.
fn is_short_line(line: &TextLine<'_>) -> bool {
    let starts = line.head.chars().next().is_some_and(char::is_alphanumeric);
    starts
        && !line.is_long
        && line.head.chars().count() <= MAX_HEADING
        && !line.head.trim_end().ends_with(['.', ',', ';', ':', '。', '、', '：'])
        && !line.head.contains("   ")
}

/// The character that underlines a heading.
fn underline(line: &TextLine<'_>, next: &TextLine<'_>) -> Option<u8> {
    let marks = next.head.trim_end().as_bytes();
    let first = *marks.first().filter(|byte| b"=-~^*\"+'".contains(byte))?;
    let length = line.head.trim_end().chars().count();
    (marks.len() >= length.max(3) && marks.iter().all(|byte| *byte == first)).then_some(first)
}

/// The level of a heading such as `2.1 Options`, which stands alone.
fn numbered(line: &TextLine<'_>, next: Option<TextLine<'_>>) -> Option<usize> {
    let (number, title) = line.head.split_once(' ')?;
    let parts = number.trim_end_matches('.').split('.');
    let is_number = |part: &str| {
        (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let level = parts.clone().count();
    let starts =
        title.trim_start().chars().next().is_some_and(|c| c.is_alphabetic() && !c.is_lowercase());
    let is_alone = next.is_none_or(|next| next.is_blank());
    (parts.clone().all(is_number) && level <= 5 && starts && is_alone).then_some(level)
}

/// True for a heading in capitals before a blank or indented line.
fn is_capital(line: &TextLine<'_>, next: Option<TextLine<'_>>) -> bool {
    let letters = || line.head.chars().filter(|c| c.is_alphabetic());
    letters().count() >= 3
        && letters().all(char::is_uppercase)
        && !line.head.contains('(')
        && next.is_some_and(|next| next.is_blank() || next.indent() > 0)
}

/// True for a Japanese heading of a man page: the text below it is indented.
fn is_japanese(line: &TextLine<'_>, next: Option<TextLine<'_>>) -> bool {
    let first = line.head.chars().next();
    first.is_some_and(|c| crate::fold::script_of(c).is_some())
        && line.head.chars().count() <= MAX_HEADING / 2
        && next.is_some_and(|next| !next.is_blank() && next.indent() >= 3)
}
