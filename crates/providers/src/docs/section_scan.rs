//! Scanner of headings: finds the sections of a page in one pass over its text, in chunks.

use std::collections::{HashMap, HashSet};

use super::head::{atx_heading, is_rule, is_underline, plain_text};
use super::page_path::PageKind;

/// The most sections of a page.
pub(super) const MAX_SECTIONS: usize = 2_000;
/// The longest line that may be a heading.
const MAX_LINE_BYTES: usize = 2 << 10;
/// The longest name of a section, in characters.
const MAX_NAME_CHARS: usize = 100;

/// A section of a page: its heading and everything up to the next heading of its level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageSection {
    /// The text of the heading; a second one of the same text ends with `-2`.
    pub(super) name: String,
    /// The headings above it, the highest first.
    pub(super) above: Vec<String>,
    /// The first byte, and the one after the last.
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The sections of a page, in its order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PageSections {
    pub(super) sections: Vec<PageSection>,
    /// Whether the page has more, which are not listed.
    pub(super) is_cut: bool,
    by_name: HashMap<String, usize>,
}

impl PageSections {
    /// The place of the section called `name`.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// About how many bytes it takes.
    pub(super) fn weight(&self) -> usize {
        let names = |section: &PageSection| {
            section.name.len() * 2 + section.above.iter().map(String::len).sum::<usize>() + 128
        };
        self.sections.iter().map(names).sum::<usize>() + 64
    }
}

#[derive(Debug)]
struct ScannedHeading {
    level: usize,
    text: String,
    start: u64,
}

/// Takes a text in chunks, and gives its sections.
pub(super) struct SectionScan {
    kind: PageKind,
    headings: Vec<ScannedHeading>,
    is_cut: bool,
    /// The line that is not complete, and where it begins.
    line: Vec<u8>,
    line_start: u64,
    is_long: bool,
    offset: u64,
    lines: u64,
    /// The line before, and where it begins.
    previous: Option<(String, u64)>,
    /// Where a line of marks above a heading begins.
    overline: Option<u64>,
    fence: Option<(u8, usize)>,
    in_front_matter: Option<&'static str>,
    /// The marks that underline headings, the highest level first.
    rst_marks: Vec<(u8, bool)>,
}

/// Whether a text that is complete has a section.
pub(super) fn has_sections(kind: PageKind, text: &str) -> bool {
    let mut scan = SectionScan::new(kind);
    scan.push(text.as_bytes());
    !scan.finish().sections.is_empty()
}

impl SectionScan {
    pub(super) fn new(kind: PageKind) -> Self {
        Self {
            kind,
            headings: Vec::new(),
            is_cut: false,
            line: Vec::new(),
            line_start: 0,
            is_long: false,
            offset: 0,
            lines: 0,
            previous: None,
            overline: None,
            fence: None,
            in_front_matter: None,
            rst_marks: Vec::new(),
        }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.offset += piece.len() as u64;
            let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
            self.is_long |= piece.len() > room;
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let start = std::mem::replace(&mut self.line_start, self.offset);
        let is_long = std::mem::take(&mut self.is_long);
        self.lines += 1;
        if is_long {
            self.previous = None;
            return;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        let text = if start == 0 { text.trim_start_matches('\u{feff}') } else { text };
        self.take_line(text, start);
        self.previous = Some((text.to_owned(), start));
    }

    fn take_line(&mut self, line: &str, start: u64) {
        if let Some(fence) = self.in_front_matter {
            if line.trim_end() == fence {
                self.in_front_matter = None;
            }
            return;
        }
        if self.lines == 1 && self.kind.has_front_matter() {
            let fences = ["---", "+++"];
            self.in_front_matter = fences.into_iter().find(|fence| line.trim_end() == *fence);
            if self.in_front_matter.is_some() {
                return;
            }
        }
        match self.kind {
            PageKind::Markdown | PageKind::Manual => self.take_markdown(line, start),
            PageKind::ReStructuredText => self.take_restructured(line, start),
            PageKind::AsciiDoc => self.take_asciidoc(line, start),
            PageKind::Html | PageKind::PlainText | PageKind::OpenApi => {}
        }
    }

    fn take_markdown(&mut self, line: &str, start: u64) {
        let trimmed = line.trim_start_matches(' ');
        let mark = trimmed.bytes().next().filter(|mark| b"`~".contains(mark));
        let length =
            mark.map_or(0, |mark| trimmed.bytes().take_while(|byte| *byte == mark).count());
        match (self.fence, mark) {
            (Some((open, least)), Some(mark)) if open == mark && length >= least => {
                self.fence = None
            }
            (Some(_), _) => return,
            (None, Some(mark)) if length >= 3 => {
                self.fence = Some((mark, length));
                return;
            }
            (None, _) => {}
        }
        if let Some((level, text)) = atx_heading(line) {
            return self.add(level, text, start);
        }
        // A line of `=` or `-` underlines a paragraph of one line.
        let is_setext =
            trimmed.len() >= 2 && is_rule(line, b"=-") && line.len() - trimmed.len() <= 3;
        if let Some((above, above_start)) = self.previous.take().filter(|_| is_setext) {
            let is_text = !above.trim().is_empty()
                && !above.starts_with(['#', '>', '|', '-', '*', '`', ' ', '\t', '<']);
            if is_text {
                let level = if trimmed.starts_with('=') { 1 } else { 2 };
                self.add(level, &above, above_start);
            }
        }
    }

    fn take_restructured(&mut self, line: &str, start: u64) {
        let previous = self.previous.take();
        let mark = line.bytes().next().unwrap_or(b' ');
        let Some((above, above_start)) = previous else {
            self.overline = is_long_rule(line).then_some(start);
            return;
        };
        if is_underline(&above, line) && !is_long_rule(&above) {
            let has_overline = self.overline.is_some();
            let known = self.rst_marks.iter().position(|known| *known == (mark, has_overline));
            let level = known.unwrap_or_else(|| {
                self.rst_marks.push((mark, has_overline));
                self.rst_marks.len() - 1
            });
            let start = self.overline.take().unwrap_or(above_start);
            self.add((level + 1).min(6), above.trim(), start);
        } else if is_long_rule(line) && above.trim().is_empty() {
            self.overline = Some(start);
        } else if !is_long_rule(&above) {
            self.overline = None;
        }
    }

    fn take_asciidoc(&mut self, line: &str, start: u64) {
        let is_block = ["----", "....", "````"].into_iter().find(|mark| line.trim_end() == *mark);
        match (self.fence, is_block) {
            (Some((open, _)), Some(mark)) if mark.as_bytes()[0] == open => self.fence = None,
            (None, Some(mark)) => self.fence = Some((mark.as_bytes()[0], 4)),
            (Some(_), _) => {}
            (None, None) => {
                let level = line.bytes().take_while(|byte| *byte == b'=').count();
                if let Some(text) =
                    line[level..].strip_prefix(' ').filter(|_| (1..=6).contains(&level))
                {
                    self.add(level, text, start);
                }
            }
        }
    }

    fn add(&mut self, level: usize, text: &str, start: u64) {
        if self.headings.len() >= MAX_SECTIONS {
            self.is_cut = true;
            return;
        }
        let text = plain_text(text);
        let end = text.char_indices().nth(MAX_NAME_CHARS).map_or(text.len(), |(at, _)| at);
        let text = text[..end].trim().to_owned();
        if !text.is_empty() {
            self.headings.push(ScannedHeading { level, text, start });
        }
    }

    /// The sections of the text.
    pub(super) fn finish(mut self) -> PageSections {
        if !self.line.is_empty() {
            self.end_line();
        }
        let total = self.offset;
        self.finish_at(total)
    }

    /// The sections of a text that is `total` bytes long, of which no more may be read.
    pub(super) fn finish_at(self, total: u64) -> PageSections {
        let mut headings = self.headings;
        // A single heading of the highest level is the title: its section would be the page.
        let top = headings.iter().map(|heading| heading.level).min().unwrap_or(1);
        let is_title = |heading: &ScannedHeading| heading.level == top;
        if headings.first().is_some_and(is_title)
            && headings.iter().filter(|one| is_title(one)).count() == 1
        {
            headings.remove(0);
        }
        let mut result = PageSections { is_cut: self.is_cut, ..PageSections::default() };
        let mut names = SectionNames::default();
        // Sections whose end has not come: level and place.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for heading in headings {
            while open.last().is_some_and(|(level, _)| *level >= heading.level) {
                if let Some((_, at)) = open.pop() {
                    let section: &mut PageSection = &mut result.sections[at];
                    section.end = heading.start;
                }
            }
            let above = open.iter().map(|(_, at)| result.sections[*at].name.clone()).collect();
            let name = names.unused(&heading.text);
            open.push((heading.level, result.sections.len()));
            result.by_name.insert(name.clone(), result.sections.len());
            result.sections.push(PageSection { name, above, start: heading.start, end: total });
        }
        result
    }
}

fn is_long_rule(line: &str) -> bool {
    line.trim_end().len() >= 3 && is_rule(line, super::head::RST_MARKS)
}

/// Names of sections: the second of the same text gets a number.
#[derive(Default)]
struct SectionNames {
    used: HashSet<String>,
    counts: HashMap<String, usize>,
}

impl SectionNames {
    fn unused(&mut self, text: &str) -> String {
        let count = self.counts.entry(text.to_owned()).or_insert(0);
        loop {
            *count += 1;
            let name = if *count == 1 { text.to_owned() } else { format!("{text}-{count}") };
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests;
