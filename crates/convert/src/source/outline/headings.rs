//! Headings of reStructuredText, AsciiDoc and Org, which are read as source.

use super::{MAX_DEPTH, OutlineSymbol, OutlineSymbols};

/// The headings of a text; each reaches to the next one of its level or above.
pub(super) fn headings(text: &str, key: &str) -> OutlineSymbols {
    let mut found = match key {
        "rst" => underlined(text),
        "org" => marked(text, '*'),
        "mdx" => marked(text, '#'),
        _ => marked(text, '='),
    };
    let last_line = text.lines().count();
    let mut symbols = OutlineSymbols::default();
    // The levels of the headings that the next one may be in, and where they are in the list.
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    for (level, line, name) in found.drain(..) {
        while open.last().is_some_and(|(inner, _)| *inner >= level) {
            let place = open.pop().and_then(|(_, place)| place);
            if let Some(symbol) = place.and_then(|place| symbols.list.get_mut(place)) {
                symbol.end_line = line - 1;
            }
        }
        let (kind, depth) = ("heading", open.len().min(MAX_DEPTH));
        let symbol = OutlineSymbol { name, kind, start_line: line, end_line: last_line, depth };
        open.push((level, symbols.push(symbol)));
    }
    symbols
}

/// Lines that begin with one or more marks and a space.
fn marked(text: &str, mark: char) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (at, line) in text.lines().enumerate() {
        let is_fence =
            line.starts_with("----") || line.starts_with("```") || line.starts_with("....");
        if is_fence {
            fence =
                if fence == Some(line.trim_end()) { None } else { fence.or(Some(line.trim_end())) };
        }
        let title = line.trim_start_matches(mark);
        let level = (line.len() - title.len()) / mark.len_utf8();
        if fence.is_none() && level > 0 && title.starts_with(' ') && !title.trim().is_empty() {
            found.push((level, at + 1, title.trim().to_owned()));
        }
    }
    found
}

/// Lines over a line of one repeated mark; the marks get levels in the order in which they come.
fn underlined(text: &str) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    let mut marks: Vec<(u8, bool)> = Vec::new();
    let mut before: [&str; 2] = ["", ""];
    for (at, line) in text.lines().enumerate() {
        let [over, title] = before;
        before = [title, line.trim_end()];
        let Some(mark) = rule_mark(line) else { continue };
        let is_title = !title.trim().is_empty() && rule_mark(title).is_none();
        if !is_title || line.trim_end().len() < title.trim_end().chars().count() {
            continue;
        }
        let style = (mark, rule_mark(over) == Some(mark));
        let known = marks.iter().position(|known| *known == style);
        let level = known.unwrap_or_else(|| {
            marks.push(style);
            marks.len() - 1
        });
        found.push((level + 1, at, title.trim().to_owned()));
    }
    found
}

fn rule_mark(line: &str) -> Option<u8> {
    let line = line.trim_end();
    let mark = *line.as_bytes().first().filter(|mark| mark.is_ascii_punctuation())?;
    (line.len() >= 2 && line.bytes().all(|byte| byte == mark)).then_some(mark)
}
