//! Outline of Markdown: headings outside of code fences and front matter.

use super::outline::{TextLine, TextOutline, lines, page_mark};

/// The most lines of front matter.
const MAX_FRONT_MATTER: usize = 200;
/// The longest line that an underline makes a heading.
const MAX_UNDERLINED: usize = 100;

pub(super) fn outline(text: &str) -> TextOutline {
    let mut outline = TextOutline::default();
    let mut fence: Option<(u8, usize)> = None;
    let front_matter = front_matter_lines(text);
    // The two lines before.
    let mut before: [Option<TextLine<'_>>; 2] = [None, None];
    for (number, line) in lines(text).enumerate() {
        if number < front_matter {
            continue;
        }
        let mark = fence_mark(line.head);
        match (fence, mark) {
            (None, Some((byte, count, _))) => fence = Some((byte, count)),
            (Some((byte, count)), Some((own, own_count, rest))) => {
                if own == byte && own_count >= count && rest.is_empty() {
                    fence = None;
                }
            }
            (Some(_), None) => {}
            (None, None) => {
                if let Some(page) = page_mark(line.head) {
                    outline.page(line.start, page);
                } else if let Some((level, title)) = heading(line.head) {
                    outline.heading(line.start, level, &plain_title(title));
                } else if let Some((level, title)) = underlined(&before, line) {
                    outline.heading(title.start, level, &plain_title(title.head));
                }
            }
        }
        before = [before[1], (fence.is_none() && mark.is_none()).then_some(line)];
    }
    outline
}

/// The number of lines of YAML or TOML front matter; 0 if the text has none.
pub(crate) fn front_matter_lines(text: &str) -> usize {
    let mut lines = lines(text);
    let Some(first) = lines.next().map(|line| line.head.trim_end()) else { return 0 };
    if !is_front_matter_mark(first) {
        return 0;
    }
    let end = lines.take(MAX_FRONT_MATTER).position(|line| line.head.trim_end() == first);
    end.map_or(0, |end| end + 2)
}

/// Whether a line opens or closes front matter.
pub(crate) fn is_front_matter_mark(line: &str) -> bool {
    matches!(line, "---" | "+++")
}

/// The character, the length and the rest of a line that opens or closes a fence.
fn fence_mark(line: &str) -> Option<(u8, usize, &str)> {
    let trimmed = line.trim_start_matches(' ');
    if line.len() - trimmed.len() > 3 {
        return None;
    }
    let byte = *trimmed.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let count = trimmed.bytes().take_while(|own| *own == byte).count();
    let rest = trimmed[count..].trim();
    (count >= 3 && !(byte == b'`' && rest.contains('`'))).then_some((byte, count, rest))
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let trimmed = line.trim_start_matches(' ');
    let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
    let title = &trimmed[level..];
    let is_heading = line.len() - trimmed.len() <= 3
        && (1..=6).contains(&level)
        && (title.is_empty() || title.starts_with([' ', '\t', '\u{3000}']));
    is_heading.then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

/// The heading that `line` underlines: one line of text after a blank line.
fn underlined<'t>(
    before: &[Option<TextLine<'t>>; 2],
    line: TextLine<'t>,
) -> Option<(usize, TextLine<'t>)> {
    let underline = line.head.trim_end();
    let level = match underline.as_bytes().first()? {
        b'=' => 1,
        b'-' => 2,
        _ => return None,
    };
    let mark = &underline[..1];
    let title = before[1].filter(|title| !title.is_blank() && title.indent() < 4)?;
    let is_single = before[0].is_none_or(|line| line.is_blank());
    let is_text = !title.head.trim_start().starts_with(['|', '-', '*', '>', '#', '+', '<', '=']);
    let is_underline = underline.len() >= 3 && underline.split(mark).all(str::is_empty);
    let is_short = !title.is_long && title.head.len() <= MAX_UNDERLINED * 3;
    (is_single && is_text && is_underline && is_short).then_some((level, title))
}

/// A title without emphasis, code marks, link targets and attributes.
fn plain_title(title: &str) -> String {
    let title = match title.rfind("{#") {
        Some(at) if title.ends_with('}') => &title[..at],
        _ => title,
    };
    let mut plain = String::with_capacity(title.len());
    let mut rest = title;
    while let Some(at) = rest.find(['*', '`', '[', ']']) {
        plain.push_str(&rest[..at]);
        let is_close = rest[at..].starts_with(']');
        rest = &rest[at + 1..];
        if is_close
            && rest.starts_with('(')
            && let Some(end) = rest.find(')')
        {
            rest = &rest[end + 1..];
        }
    }
    plain.push_str(rest);
    plain.trim().to_owned()
}
