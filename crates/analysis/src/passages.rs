//! Passages: the pieces of a text that search indexes and returns.

mod code;
mod divide;
mod markdown;
mod outline;
mod plain;

use std::ops::Range;

use outline::TextSection;

pub(crate) use markdown::{front_matter_lines, is_front_matter_mark};
pub(crate) use outline::{TextLine, lines};

/// Sections are joined up to this many characters.
const JOINED: usize = 800;
/// A section over this many characters is divided.
const MAX_CHARS: usize = 2_000;

/// A passage: the unit that search indexes and returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassageSpan {
    /// The bytes.
    pub range: Range<usize>,
    /// The lines, from 1, end excluded.
    pub lines: Range<usize>,
    /// The headings or definitions that the passage stands under, outermost first.
    pub heading_path: Vec<String>,
    /// The page, if page marks precede it.
    pub page: Option<usize>,
}

/// How a text is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// Markdown: at headings.
    Markdown,
    /// Source code: at definitions.
    Code,
    /// Other text: at headings in capitals, numbered or underlined; else at paragraphs.
    Plain,
}

/// Splits a text into passages that cover it without gaps, in order.
///
/// A heading or definition starts a passage; small ones share one with those that follow. A line
/// `<!-- page 3 -->` starts a page.
pub fn split_passages(text: &str, kind: TextKind) -> Vec<PassageSpan> {
    let mut outline = match kind {
        TextKind::Markdown => markdown::outline(text),
        TextKind::Code => code::outline(text),
        TextKind::Plain => plain::outline(text),
    };
    outline.close(text);
    let mut spans = SpanWriter { text, list: Vec::new(), line: 1 };
    for group in join(text, outline.sections) {
        spans.add(&group);
    }
    spans.list
}

/// Sections that share a passage, or one section.
#[derive(Debug)]
struct SectionGroup {
    range: Range<usize>,
    chars: usize,
    path: Vec<String>,
    /// The headings that a section must stand under to join.
    parent: usize,
    page: Option<usize>,
    /// True if the group has nothing but a heading.
    is_bare: bool,
}

/// Joins small sections with those that follow them under the same parent.
fn join(text: &str, sections: Vec<TextSection>) -> Vec<SectionGroup> {
    let mut groups: Vec<SectionGroup> = Vec::new();
    let mut ends: Vec<usize> = sections.iter().skip(1).map(|section| section.start).collect();
    ends.push(text.len());
    for (section, end) in sections.into_iter().zip(ends) {
        let range = section.start..end;
        let chars = text[range.clone()].chars().count();
        let is_bare = section.path.last().is_some() && is_bare(&text[range.clone()]);
        if let Some(group) = groups.last_mut()
            && group.takes(&section, chars)
        {
            if group.is_bare && section.path.len() > group.path.len() {
                group.parent = section.path.len().saturating_sub(1);
                group.path = section.path;
            }
            group.is_bare = group.is_bare && is_bare;
            group.range.end = end;
            group.chars += chars;
            continue;
        }
        let parent = section.path.len().saturating_sub(1);
        let page = section.page;
        groups.push(SectionGroup { range, chars, path: section.path, parent, page, is_bare });
    }
    groups
}

impl SectionGroup {
    fn takes(&self, section: &TextSection, chars: usize) -> bool {
        let fits = self.chars + chars <= JOINED;
        let is_child = section.path.len() > self.path.len() && section.path.starts_with(&self.path);
        let is_sibling = section.path.len() == self.path.len()
            && !self.path.is_empty()
            && section.path[..self.parent] == self.path[..self.parent];
        let is_fragment = self.chars <= 2 || chars <= 2;
        self.page == section.page
            && ((fits && is_sibling) || (is_child && self.is_bare) || is_fragment)
    }
}

/// True if a section has one line of text: its heading, perhaps underlined or in braces.
fn is_bare(section: &str) -> bool {
    let has_words = |line: &&str| line.chars().any(char::is_alphanumeric);
    section.lines().filter(has_words).take(2).count() < 2
}

struct SpanWriter<'t> {
    text: &'t str,
    list: Vec<PassageSpan>,
    /// The line at which the next span starts.
    line: usize,
}

impl SpanWriter<'_> {
    fn add(&mut self, group: &SectionGroup) {
        if group.chars <= MAX_CHARS {
            self.push(group.range.clone(), group);
            return;
        }
        for range in divide::divide(self.text, group.range.clone(), group.chars) {
            self.push(range, group);
        }
    }

    fn push(&mut self, range: Range<usize>, group: &SectionGroup) {
        if range.is_empty() {
            return;
        }
        let text = &self.text[range.clone()];
        let breaks = text.bytes().filter(|byte| *byte == b'\n').count();
        let last = self.line + breaks - usize::from(text.ends_with('\n'));
        self.list.push(PassageSpan {
            range,
            lines: self.line..last + 1,
            heading_path: group.path.clone(),
            page: group.page,
        });
        self.line += breaks;
    }
}
