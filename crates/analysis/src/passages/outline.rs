//! Outline of a text: sections with the headings that they stand under, and pages.

/// The most bytes of a line that are looked at for headings and definitions.
const HEAD: usize = 300;
/// The most sections of a text. What follows the last one is divided by size alone.
const MAX_SECTIONS: usize = 50_000;
/// The most characters of a title.
const MAX_TITLE: usize = 160;

/// A section: it reaches to the start of the next one.
#[derive(Debug)]
pub(super) struct TextSection {
    pub(super) start: usize,
    pub(super) path: Vec<String>,
    pub(super) page: Option<usize>,
}

/// The sections of a text in order.
#[derive(Debug, Default)]
pub(super) struct TextOutline {
    pub(super) sections: Vec<TextSection>,
    /// The open headings with their levels.
    open: Vec<(usize, String)>,
    page: Option<usize>,
}

impl TextOutline {
    /// Starts a section at `start` under a heading of `level`.
    pub(super) fn heading(&mut self, start: usize, level: usize, title: &str) {
        self.leave(level);
        self.open.push((level, title.trim().chars().take(MAX_TITLE).collect()));
        self.section(start);
    }

    /// Starts a page at `start`.
    pub(super) fn page(&mut self, start: usize, page: usize) {
        self.page = Some(page);
        self.section(start);
    }

    /// Closes the open headings of `level` and deeper.
    pub(super) fn leave(&mut self, level: usize) {
        while self.open.last().is_some_and(|(open, _)| *open >= level) {
            self.open.pop();
        }
    }

    /// The level of the innermost open heading.
    pub(super) fn level(&self) -> Option<usize> {
        self.open.last().map(|(level, _)| *level)
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    fn section(&mut self, start: usize) {
        if self.sections.len() >= MAX_SECTIONS {
            return;
        }
        let path = self.open.iter().map(|(_, title)| title.clone()).collect();
        self.sections.push(TextSection { start, path, page: self.page });
    }

    /// Makes the sections cover the text from its start.
    pub(super) fn close(&mut self, text: &str) {
        if !text.is_empty() && self.sections.first().is_none_or(|first| first.start > 0) {
            self.sections.insert(0, TextSection { start: 0, path: Vec::new(), page: None });
        }
    }
}

/// A line of a text: where it starts, and its beginning without the line break.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextLine<'t> {
    pub(super) start: usize,
    pub(crate) head: &'t str,
    /// The whole line is longer than its head.
    pub(super) is_long: bool,
}

impl TextLine<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.head.trim().is_empty()
    }

    /// The columns of white space before the text.
    pub(super) fn indent(&self) -> usize {
        let space = self.head.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        space.map(|byte| if byte == b'\t' { 4 } else { 1 }).sum()
    }
}

/// The lines of a text.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = TextLine<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        let content = line.trim_end_matches(['\n', '\r']);
        let mut end = content.len().min(HEAD);
        while !content.is_char_boundary(end) {
            end -= 1;
        }
        TextLine { start: at, head: &content[..end], is_long: end < content.len() }
    })
}

/// The number of a page mark: `<!-- page 3 -->` on a line of its own.
pub(super) fn page_mark(line: &str) -> Option<usize> {
    let inner = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?;
    inner.trim().strip_prefix("page ")?.trim().parse().ok()
}
