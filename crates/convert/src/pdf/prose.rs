//! Running text of a PDF as Markdown and as plain text: paragraphs, headings and lists.

use std::collections::{BTreeMap, HashSet};

use super::labels::{is_bullet, is_label, split_bullet};
use super::page::{PdfArea, PdfBlock, PdfLine, PdfPage, is_unspaced};
use super::tables::PdfPart;
use crate::markdown;
use crate::options::Options;

/// How much larger than the body of the text a heading is.
const HEADING_RATIO: f32 = 1.17;

/// The most letters of a heading.
const MAX_HEADING: usize = 200;

/// The most compounds that are remembered to tell a hyphen from a break.
const MAX_COMPOUNDS: usize = 200_000;

/// What the writer of text knows of the whole document.
#[derive(Debug, Default)]
pub(super) struct DocumentStyle {
    /// The size of most letters.
    body: f32,
    /// The sizes of headings, the largest first.
    headings: Vec<i32>,
    /// Words with a hyphen inside a line, which keep it at the end of a line.
    compounds: HashSet<String>,
}

impl DocumentStyle {
    /// The style of the pages.
    pub(super) fn of_pages<'p>(pages: impl Iterator<Item = &'p PdfPage> + Clone) -> Self {
        let lines = || pages.clone().flat_map(|page| &page.blocks).flat_map(|block| &block.lines);
        let mut sizes: BTreeMap<i32, usize> = BTreeMap::new();
        let mut style = Self::default();
        for line in lines() {
            *sizes.entry(key_of(line.size)).or_default() += line.text.len();
            style.remember_compounds(&line.text);
        }
        let total: usize = sizes.values().sum();
        let mut below = 0;
        let median = sizes.iter().find(|(_, weight)| {
            below += **weight;
            below * 2 >= total
        });
        style.body = median.map_or(0.0, |(key, _)| *key as f32 / 2.0);
        let mut headings: Vec<i32> = pages
            .flat_map(|page| &page.blocks)
            .filter(|block| style.is_heading(block))
            .map(|block| key_of(size_of(block)))
            .collect();
        headings.sort_unstable_by(|a, b| b.cmp(a));
        headings.dedup();
        style.headings = headings;
        style
    }

    fn remember_compounds(&mut self, text: &str) {
        if !text.contains('-') || self.compounds.len() > MAX_COMPOUNDS {
            return;
        }
        for word in text.split_whitespace() {
            let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
            if word.contains('-') {
                self.compounds.insert(word.to_lowercase());
            }
        }
    }

    fn is_heading(&self, block: &PdfBlock) -> bool {
        let letters: usize = block.lines.iter().map(|line| line.text.chars().count()).sum();
        let has_letter = block.lines.iter().any(|line| line.text.chars().any(char::is_alphabetic));
        let is_large = block
            .lines
            .iter()
            .all(|line| !line.is_vertical && line.size >= self.body * HEADING_RATIO);
        block.lines.len() <= 4 && letters <= MAX_HEADING && has_letter && is_large
    }

    fn level(&self, block: &PdfBlock) -> usize {
        let key = key_of(size_of(block));
        let rank = self.headings.iter().position(|heading| *heading <= key).unwrap_or(0);
        rank.min(5) + 1
    }

    /// Joins the next line of a paragraph, without the hyphen that breaks a word.
    fn join_line(&self, text: &mut String, next: &str) {
        let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphabetic);
        let is_low = next.chars().next().is_some_and(char::is_lowercase);
        if text.ends_with('\u{AD}') {
            text.pop();
            text.push_str(next);
            return;
        }
        let stem = text.strip_suffix(['-', '‐']).filter(|stem| is_letter(stem.chars().last()));
        let (Some(stem), true) = (stem, is_low) else {
            join_text(text, next);
            return;
        };
        let word = stem.rsplit(char::is_whitespace).next().unwrap_or(stem);
        let rest = next.split(char::is_whitespace).next().unwrap_or(next);
        let compound = format!("{word}-{rest}").to_lowercase();
        let compound = compound.trim_matches(|letter: char| !letter.is_alphanumeric());
        if !self.compounds.contains(compound) {
            text.truncate(stem.len());
        }
        text.push_str(next);
    }
}

fn key_of(size: f32) -> i32 {
    (size * 2.0).round() as i32
}

fn size_of(block: &PdfBlock) -> f32 {
    block.lines.iter().map(|line| line.size).fold(0.0, f32::max)
}

/// Appends a piece of text, with a space between words of scripts that have spaces.
pub(super) fn join_text(text: &mut String, next: &str) {
    let last = text.chars().next_back();
    let first = next.chars().next();
    let is_dense = last.is_some_and(is_unspaced) && first.is_some_and(is_unspaced);
    if !text.is_empty() && !is_dense && !text.ends_with(' ') {
        text.push(' ');
    }
    text.push_str(next);
}

/// The paragraphs of a block: the lines of each are joined, except where the writer broke them.
pub(super) fn paragraphs(block: &PdfBlock, style: &DocumentStyle) -> Vec<String> {
    let area = block.area();
    let lines = &block.lines;
    let breaks: Vec<bool> =
        lines.windows(2).map(|pair| is_break(&pair[0], &pair[1], &area)).collect();
    let count = breaks.iter().filter(|is_break| **is_break).count();
    // Where most lines are broken by the writer, as in a listing, all are.
    let is_listing = breaks.len() > 1 && count * 2 > breaks.len();
    let mut paragraphs: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let text = shorten_leaders(&line.text);
        let is_new = at == 0 || is_listing || breaks[at - 1] || split_bullet(&text).is_some();
        match paragraphs.last_mut() {
            Some(last) if !is_new => style.join_line(last, &text),
            _ => paragraphs.push(text),
        }
    }
    paragraphs
}

/// Whether the writer broke the line after `line`: the first word of `next` would have fitted.
fn is_break(line: &PdfLine, next: &PdfLine, area: &PdfArea) -> bool {
    if line.text.ends_with(['-', '\u{AD}', '‐']) {
        return false;
    }
    let room = if line.is_vertical {
        area.bottom - line.area.bottom
    } else {
        area.right - line.area.right
    };
    let is_dense = next.text.chars().next().is_some_and(is_unspaced);
    let needed = if is_dense { 2.1 * next.size } else { next.first_word + 0.4 * next.size };
    room > needed * 1.1
}

/// The text without the rows of dots of a table of contents.
fn shorten_leaders(text: &str) -> String {
    if !text.contains(". . . .") && !text.contains(".....") {
        return text.to_owned();
    }
    let mut short = String::new();
    for word in text.split(' ') {
        let is_leader = !word.is_empty() && word.bytes().all(|byte| byte == b'.');
        if is_leader && (short.ends_with('…') || word.len() > 1 || text.contains(". . . .")) {
            if !short.ends_with('…') {
                short.push_str(" …");
            }
            continue;
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word.trim_end_matches("....."));
    }
    short
}

/// Puts the columns of vertical writing together, which readers give as blocks of their own.
pub(super) fn merge_columns(parts: Vec<PdfPart>) -> Vec<PdfPart> {
    let mut merged: Vec<PdfPart> = Vec::with_capacity(parts.len());
    for part in parts {
        if let (Some(PdfPart::Text(last)), PdfPart::Text(next)) = (merged.last_mut(), &part) {
            let follows = last.lines.last().zip(next.lines.first()).is_some_and(|(a, b)| {
                let step = a.area.left - b.area.left;
                let is_vertical = a.is_vertical && b.is_vertical;
                let is_same = (a.size - b.size).abs() < 0.15 * a.size;
                let is_level = (a.area.top - b.area.top).abs() < 3.0 * a.size;
                is_vertical && is_same && is_level && step > 0.0 && step < 2.5 * a.size
            });
            if follows {
                last.lines.extend(next.lines.iter().cloned());
                continue;
            }
        }
        merged.push(part);
    }
    merged
}

/// A part of a page as Markdown, with an empty line after it.
pub(super) fn to_markdown(part: &PdfPart, style: &DocumentStyle, options: &Options) -> String {
    match part {
        PdfPart::Table(rows) => {
            let escape =
                |row: &Vec<String>| row.iter().map(|cell| markdown::escape(cell)).collect();
            let rows: Vec<Vec<String>> = rows.iter().map(escape).collect();
            markdown::table(&rows, options) + "\n"
        }
        PdfPart::List(items) => {
            let mut text = String::new();
            for (label, item) in items {
                let item = markdown::escape(&shorten_leaders(item));
                let line = match label.trim() {
                    "" => format!("{item}\n"),
                    label if is_bullet(label) => format!("- {item}\n"),
                    label if is_label(label) => format!("{label} {item}\n"),
                    // Two spaces keep the break of a line.
                    label => format!("{label} {item}  \n"),
                };
                text.push_str(&line);
            }
            text + "\n"
        }
        PdfPart::Text(block) if style.is_heading(block) => {
            let mut title = String::new();
            for line in &block.lines {
                style.join_line(&mut title, &shorten_leaders(&line.text));
            }
            format!("{} {}\n\n", "#".repeat(style.level(block)), markdown::escape(&title))
        }
        PdfPart::Text(block) => {
            let lines = paragraphs(block, style);
            let lines: Vec<_> = lines.iter().map(|line| markdown_line(line)).collect();
            let mut text = String::new();
            for (at, line) in lines.iter().enumerate() {
                text.push_str(line);
                let is_item = |at: usize| lines.get(at).is_none_or(|line| line.starts_with("- "));
                // Two spaces keep the break of a line.
                text.push_str(if is_item(at + 1) { "\n" } else { "  \n" });
            }
            text + "\n"
        }
    }
}

fn markdown_line(line: &str) -> String {
    match split_bullet(line) {
        Some(item) => format!("- {}", markdown::escape(item)),
        None => {
            let escaped = markdown::escape(line);
            let is_number = line.starts_with(|letter: char| letter.is_ascii_digit());
            if is_number { escaped } else { markdown::escape_line_start(&escaped) }
        }
    }
}

/// A part of a page as plain text, with an empty line after it.
pub(super) fn to_plain(part: &PdfPart) -> String {
    let mut text = String::new();
    match part {
        PdfPart::Table(rows) => {
            for row in rows {
                text.push_str(row.join("\t").trim_end());
                text.push('\n');
            }
        }
        PdfPart::List(items) => {
            for (label, item) in items {
                text.push_str(&format!("{label} {item}\n"));
            }
        }
        PdfPart::Text(block) => {
            for line in &block.lines {
                text.push_str(&line.text);
                text.push('\n');
            }
        }
    }
    text + "\n"
}
