//! Labels in a PDF: bullets, numbers of items, and numbers of sections that stand beside the title.

use super::page::{PdfArea, PdfLine};
use super::tables::PdfPart;

/// The most parts of a page whose numbers and titles are put together.
const MAX_PARTS: usize = 5_000;

/// Whether a text is only a bullet or the number of an item.
pub(super) fn is_label(text: &str) -> bool {
    let text = text.trim();
    if is_bullet(text) {
        return true;
    }
    let inner = text.strip_prefix('(').unwrap_or(text);
    let Some(inner) = inner.strip_suffix(['.', ')']) else { return false };
    let is_letter = inner.len() == 1 && inner.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_number = (1..=3).contains(&inner.len()) && inner.bytes().all(|b| b.is_ascii_digit());
    is_letter || is_number
}

/// Whether a text is only a bullet.
pub(super) fn is_bullet(text: &str) -> bool {
    matches!(
        text,
        "•" | "◦" | "▪" | "‣" | "●" | "○" | "■" | "□" | "·" | "–" | "-" | "*" | "➢" | "✓"
    )
}

/// The bullet at the start of a line, and the text after it.
pub(super) fn split_bullet(line: &str) -> Option<&str> {
    let (bullet, rest) = line.split_once(' ')?;
    is_bullet(bullet).then_some(rest.trim_start())
}

/// Whether a text is only the number of a section, such as 1.6.
pub(super) fn is_section_number(text: &str) -> bool {
    let text = text.trim();
    let is_number = text.starts_with(|letter: char| letter.is_ascii_digit())
        || text.len() == 1 && text.starts_with(|letter: char| letter.is_ascii_uppercase())
        || text.starts_with(|letter: char| letter.is_ascii_uppercase())
            && text[1..].starts_with('.');
    let is_rest = |letter: char| letter.is_ascii_digit() || letter == '.';
    text.len() <= 12 && is_number && text.chars().skip(1).all(is_rest)
}

/// Puts the number of a section before its title, where a reader gives it as a block of its own.
pub(super) fn attach_numbers(parts: &mut Vec<PdfPart>) {
    if parts.len() > MAX_PARTS {
        return;
    }
    let mut at = 0;
    while at < parts.len() {
        let title = single_line(&parts[at]).and_then(|number| title_of(parts, at, number));
        let (Some(title), PdfPart::Text(number)) = (title, &parts[at]) else {
            at += 1;
            continue;
        };
        let number = number.lines[0].clone();
        if let PdfPart::Text(block) = &mut parts[title] {
            let line = &mut block.lines[0];
            line.text = format!("{} {}", number.text, line.text);
            line.area = line.area.union(&number.area);
            line.gaps.clear();
        }
        parts.remove(at);
    }
}

fn single_line(part: &PdfPart) -> Option<&PdfLine> {
    match part {
        PdfPart::Text(block) if block.lines.len() == 1 => block.lines.first(),
        _ => None,
    }
}

/// The part whose first line stands at the right of a section number.
fn title_of(parts: &[PdfPart], at: usize, number: &PdfLine) -> Option<usize> {
    if !is_section_number(&number.text) {
        return None;
    }
    let mut near = parts.iter().enumerate().skip(at.saturating_sub(3)).take(8);
    let title = near.find(|(other, part)| {
        let PdfPart::Text(block) = part else { return false };
        let Some(line) = block.lines.first() else { return false };
        let gap = line.area.left - number.area.right;
        let is_title = (line.size - number.size).abs() < 0.25 * number.size
            && block.lines.len() <= 2
            && line.text.chars().any(char::is_alphabetic);
        let is_beside = gap > 0.0 && gap < 4.0 * number.size;
        *other != at && is_title && is_beside && is_level(&line.area, &number.area)
    });
    title.map(|(title, _)| title)
}

fn is_level(a: &PdfArea, b: &PdfArea) -> bool {
    (a.bottom - b.bottom).abs() < 0.4 * b.height().max(a.height())
}

#[cfg(test)]
mod tests {
    use super::{PdfPart, attach_numbers, is_label};
    use crate::pdf::page::{PdfArea, PdfBlock, PdfLine};

    fn part(text: &str, left: f32, width: f32) -> PdfPart {
        let area = PdfArea { left, top: 10.0, right: left + width, bottom: 22.0 };
        let line = PdfLine { text: text.into(), area, size: 12.0, ..PdfLine::default() };
        PdfPart::Text(PdfBlock { lines: vec![line] })
    }

    #[test]
    fn the_number_of_a_section_goes_before_its_title() {
        let far = part("12 / 40", 300.0, 40.0);
        let mut parts = vec![part("1.6", 10.0, 15.0), far, part("Unix", 50.0, 40.0)];
        attach_numbers(&mut parts);
        let text = |part: &PdfPart| super::single_line(part).unwrap().text.clone();
        assert_eq!(parts.iter().map(text).collect::<Vec<_>>(), ["12 / 40", "1.6 Unix"]);
    }

    #[test]
    fn bullets_and_numbers_are_labels_and_words_are_none() {
        assert!(["•", "1.", "(12)", "a)", "-"].into_iter().all(is_label));
        assert!(!["1", "word.", "1.6", "2024."].into_iter().any(is_label));
    }
}
