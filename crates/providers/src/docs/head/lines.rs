//! First heading and first paragraph of a text in lines.

use super::inline::plain_text;

/// Title and description.
type HeadTexts = (Option<String>, Option<String>);

pub(super) fn of_markdown(text: &str) -> HeadTexts {
    first_texts(text, |line, next| {
        if let Some(heading) = atx_heading(line) {
            return LineKind::Heading(heading.1.to_owned(), 1);
        }
        let underlined = next.is_some_and(|next| is_rule(next, b"=-") && next.trim().len() >= 2);
        let is_block = line.starts_with(['>', '|', '-', '+', '#', '<'])
            || ["* ", "```", "~~~", ":::", "import ", "export ", "{%", "[[", "!["]
                .iter()
                .any(|mark| line.starts_with(mark));
        match () {
            () if line.starts_with("```") || line.starts_with("~~~") => {
                LineKind::Fence(line[..3].to_owned())
            }
            () if underlined
                && !is_block
                && next.is_some_and(|next| next.starts_with(['=', '-'])) =>
            {
                LineKind::Heading(line.to_owned(), 2)
            }
            () if is_block => LineKind::Block,
            () => LineKind::Text,
        }
    })
}

pub(super) fn of_asciidoc(text: &str) -> HeadTexts {
    first_texts(text, |line, _| {
        let level = line.bytes().take_while(|byte| *byte == b'=').count();
        let heading = line[level..].strip_prefix(' ').filter(|_| (1..=6).contains(&level));
        match heading {
            Some(heading) => LineKind::Heading(heading.to_owned(), 1),
            None if ["----", "....", "====", "++++"].iter().any(|mark| line.starts_with(mark)) => {
                LineKind::Fence(line[..4].to_owned())
            }
            None if line.starts_with([':', '/', '[', '*', '|', 'i'])
                && (line.starts_with("include::") || !line.starts_with('i')) =>
            {
                LineKind::Block
            }
            None => LineKind::Text,
        }
    })
}

pub(super) fn of_restructured(text: &str) -> HeadTexts {
    first_texts(text, |line, next| {
        let underlined = next.is_some_and(|next| is_underline(line, next));
        match () {
            () if is_rule(line, RST_MARKS) => LineKind::Block,
            () if underlined => LineKind::Heading(line.to_owned(), 2),
            () if line.starts_with([' ', '\t', ':', '*', '-', '|']) || line.starts_with("..") => {
                LineKind::Block
            }
            () => LineKind::Text,
        }
    })
}

pub(super) fn of_plain(text: &str) -> HeadTexts {
    let (title, description) = first_texts(text, |line, next| {
        if is_rule(line, RST_MARKS) {
            return LineKind::Block;
        }
        match next.is_some_and(|next| is_underline(line, next)) {
            true => LineKind::Heading(line.trim().to_owned(), 2),
            false => LineKind::Text,
        }
    });
    if title.is_some() {
        return (title, description);
    }
    // A short first line that stands alone is a title.
    let mut lines = text.lines().map(str::trim).skip_while(|line| line.is_empty());
    let first = lines.next().filter(|line| line.chars().count() <= 80);
    let is_alone = lines.next().is_none_or(str::is_empty);
    let rest: Vec<&str> =
        lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty()).collect();
    match first.filter(|_| is_alone) {
        Some(first) => {
            (Some(first.to_owned()), Some(rest.join(" ")).filter(|text| !text.is_empty()))
        }
        None => (None, description),
    }
}

/// The characters that underline headings of reStructuredText.
pub(in crate::docs) const RST_MARKS: &[u8] = b"=-~^\"'`#*+._:<>";

/// What a line of a text is.
enum LineKind {
    /// A heading, and how many lines it takes.
    Heading(String, usize),
    /// Markup that says nothing of the page.
    Block,
    /// The start of a literal text, which ends with the same mark.
    Fence(String),
    Text,
}

fn first_texts(text: &str, kind: impl Fn(&str, Option<&str>) -> LineKind) -> HeadTexts {
    let (mut title, mut paragraph) = (None, String::new());
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    let mut is_comment = false;
    while let Some(line) = lines.get(at) {
        let next = lines.get(at + 1).copied();
        at += 1;
        is_comment |= line.trim_start().starts_with("<!--");
        if is_comment || line.trim().is_empty() {
            is_comment = is_comment && !line.contains("-->");
            if !paragraph.is_empty() {
                break;
            }
            continue;
        }
        match kind(line, next) {
            LineKind::Heading(heading, count) => {
                if !paragraph.is_empty() {
                    break;
                }
                at += count - 1;
                let heading = plain_text(&heading);
                // What follows such a heading does not tell what the page is about.
                if title.is_some() && is_aside(&heading) {
                    break;
                }
                title.get_or_insert(heading);
            }
            LineKind::Block if !paragraph.is_empty() => break,
            LineKind::Block => {}
            LineKind::Fence(mark) => {
                let end = lines[at..].iter().position(|line| line.starts_with(&mark));
                at = end.map_or(lines.len(), |end| at + end + 1);
            }
            LineKind::Text => {
                let words = plain_text(line);
                let glue = if needs_space(&paragraph, &words) { " " } else { "" };
                paragraph.push_str(glue);
                paragraph.push_str(&words);
            }
        }
    }
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    (title.and_then(some), some(paragraph))
}

/// Whether a heading is that of a part that says nothing of the page.
fn is_aside(heading: &str) -> bool {
    const WORDS: [&str; 8] = [
        "license",
        "licence",
        "contents",
        "contribut",
        "changelog",
        "ライセンス",
        "目次",
        "変更履歴",
    ];
    let heading = heading.to_lowercase();
    WORDS.iter().any(|word| heading.contains(word))
}

/// Whether two lines of a paragraph are joined by a space: Japanese and Chinese ones are not.
fn needs_space(before: &str, after: &str) -> bool {
    let is_wide =
        |letter: char| matches!(letter, '\u{2e80}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}');
    let is_joined = before.ends_with(is_wide) && after.starts_with(is_wide);
    !before.is_empty() && !after.is_empty() && !is_joined
}

/// Level and text of an ATX heading: `## Text ##`.
pub(in crate::docs) fn atx_heading(line: &str) -> Option<(usize, &str)> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let line = &line[indent..];
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    let is_heading = indent <= 3
        && (1..=6).contains(&level)
        && (rest.is_empty() || rest.starts_with([' ', '\t']));
    let text = rest.trim().trim_end_matches('#').trim_end();
    is_heading.then_some((level, text))
}

/// Whether a line is one of these characters, repeated.
pub(in crate::docs) fn is_rule(line: &str, marks: &[u8]) -> bool {
    let line = line.trim().as_bytes();
    let first = line.first().filter(|first| marks.contains(first));
    first.is_some_and(|first| line.iter().all(|byte| byte == first))
}

/// Whether `next` underlines `line`, whose wide characters take two columns.
pub(in crate::docs) fn is_underline(line: &str, next: &str) -> bool {
    let length = next.trim_end().len();
    let is_text = !line.trim().is_empty() && !line.starts_with([' ', '\t']);
    is_text
        && length >= 3.min(line.chars().count())
        && is_rule(next, RST_MARKS)
        && length >= line.trim_end().chars().count()
}
