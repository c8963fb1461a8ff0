//! Numbering of a Word document: the bullets and numbers of its lists, counted as they come.

use std::collections::{HashMap, HashSet};

use crate::rich_text::ListMarker;
use crate::word::number_format::format_number;
use crate::xml_tree::XmlNode;

/// How many levels a list has.
const LEVELS: usize = 9;

/// The longest pattern of a label; a longer one is no label.
const MAX_PATTERN: usize = 64;

/// The lists of a document, and how far each has counted.
#[derive(Default)]
pub(super) struct DocxNumbering {
    /// The levels by abstract list.
    abstracts: HashMap<String, Vec<DocxLevel>>,
    instances: HashMap<String, DocxList>,
    counters: HashMap<String, [Option<u32>; LEVELS]>,
    /// The levels that began anew for a list, which they do once.
    restarted: HashSet<(String, usize)>,
}

/// A list: the abstract list it follows and where it begins anew.
struct DocxList {
    abstract_id: String,
    starts: [Option<u32>; LEVELS],
    /// The levels of its own, if it changes some.
    levels: Option<Vec<DocxLevel>>,
}

/// A level of a list.
#[derive(Clone)]
struct DocxLevel {
    start: u32,
    format: String,
    /// The label with `%1` for the number of the first level.
    pattern: String,
    /// The style of paragraphs that are on this level.
    style: Option<String>,
    /// Whether all numbers of its labels are decimal.
    is_legal: bool,
}

impl Default for DocxLevel {
    fn default() -> Self {
        let format = "decimal".to_owned();
        Self { start: 1, format, pattern: "%1.".to_owned(), style: None, is_legal: false }
    }
}

impl DocxNumbering {
    /// Reads the numbering part.
    pub(super) fn read(root: XmlNode<'_>) -> Self {
        let mut numbering = Self::default();
        let mut by_style: HashMap<&str, &str> = HashMap::new();
        let mut links: Vec<(&str, &str)> = Vec::new();
        for node in root.elements().filter(|node| node.name() == "w:abstractNum") {
            let Some(id) = node.attribute("w:abstractNumId") else { continue };
            if let Some(style) = node.child_attribute("w:styleLink", "w:val") {
                by_style.insert(style, id);
            }
            if let Some(style) = node.child_attribute("w:numStyleLink", "w:val") {
                links.push((id, style));
            }
            numbering.abstracts.insert(id.to_owned(), levels(node));
        }
        for (id, style) in links {
            let linked = by_style.get(style).and_then(|from| numbering.abstracts.get(*from));
            if let Some(levels) = linked.cloned() {
                numbering.abstracts.insert(id.to_owned(), levels);
            }
        }
        for node in root.elements().filter(|node| node.name() == "w:num") {
            let Some(id) = node.attribute("w:numId") else { continue };
            let abstract_id = node.child_attribute("w:abstractNumId", "w:val").unwrap_or_default();
            let mut list = DocxList {
                abstract_id: abstract_id.to_owned(),
                starts: [None; LEVELS],
                levels: None,
            };
            for change in node.elements().filter(|node| node.name() == "w:lvlOverride") {
                let start = change.child_attribute("w:startOverride", "w:val");
                if let Some(slot) = level_of(change).and_then(|level| list.starts.get_mut(level)) {
                    *slot = start.and_then(|start| start.parse().ok());
                }
                if let Some(node) = change.child("w:lvl") {
                    let usual = || numbering.abstracts.get(abstract_id).cloned();
                    let mut levels = list.levels.take().or_else(usual).unwrap_or_else(plain_levels);
                    read_level(node, &mut levels);
                    list.levels = Some(levels);
                }
            }
            numbering.instances.insert(id.to_owned(), list);
        }
        numbering
    }

    /// The level of a list that paragraphs of a style are on.
    pub(super) fn level_of_style(&self, list: &str, style: Option<&str>) -> Option<u8> {
        let levels = self.abstracts.get(&self.instances.get(list)?.abstract_id)?;
        let place = levels
            .iter()
            .position(|level| level.style.is_some() && level.style.as_deref() == style);
        place.and_then(|place| u8::try_from(place).ok())
    }

    /// Counts a paragraph of a list: what stands before it, if anything.
    pub(super) fn next(&mut self, list: &str, level: u8) -> Option<ListMarker> {
        let level = usize::from(level).min(LEVELS - 1);
        let instance = self.instances.get(list)?;
        let of_abstract = || self.abstracts.get(&instance.abstract_id);
        let levels = instance.levels.as_ref().or_else(of_abstract)?;
        let own = levels.get(level)?;
        let counters = self.counters.entry(instance.abstract_id.clone()).or_default();
        let restart =
            instance.starts[level].filter(|_| self.restarted.insert((list.to_owned(), level)));
        counters[level] = Some(match (restart, counters[level]) {
            (Some(start), _) => start,
            (None, Some(number)) => number.saturating_add(1),
            (None, None) => instance.starts[level].unwrap_or(own.start),
        });
        counters[level + 1..].fill(None);
        for above in 0..level {
            counters[above].get_or_insert(levels[above].start);
        }
        if own.format == "bullet" {
            return Some(ListMarker::Bullet);
        }
        let label = label(levels, level, counters);
        let number = counters[level].unwrap_or(own.start);
        let plain = label.trim().trim_end_matches(['.', ')', '．', '、']);
        match label.trim() {
            "" => None,
            _ if plain == number.to_string() => Some(ListMarker::Number(number)),
            label => Some(ListMarker::Label(label.to_owned())),
        }
    }
}

/// Levels that a document does not describe.
fn plain_levels() -> Vec<DocxLevel> {
    let level = |at: usize| DocxLevel { pattern: format!("%{}.", at + 1), ..DocxLevel::default() };
    (0..LEVELS).map(level).collect()
}

fn levels(node: XmlNode<'_>) -> Vec<DocxLevel> {
    let mut levels = plain_levels();
    for node in node.elements().filter(|node| node.name() == "w:lvl") {
        read_level(node, &mut levels);
    }
    levels
}

fn read_level(node: XmlNode<'_>, levels: &mut [DocxLevel]) {
    let Some(level) = level_of(node).and_then(|level| levels.get_mut(level)) else { return };
    let value = |name: &str| node.child_attribute(name, "w:val");
    // The standard counts from 0 where a level does not say.
    level.start = value("w:start").and_then(|start| start.parse().ok()).unwrap_or(0);
    level.format = value("w:numFmt").unwrap_or("decimal").to_owned();
    let pattern = value("w:lvlText").filter(|pattern| pattern.len() <= MAX_PATTERN);
    level.pattern = pattern.unwrap_or_default().to_owned();
    level.style = value("w:pStyle").map(str::to_owned);
    level.is_legal = node.child("w:isLgl").is_some();
}

fn level_of(node: XmlNode<'_>) -> Option<usize> {
    node.attribute("w:ilvl")?.parse().ok()
}

fn label(levels: &[DocxLevel], level: usize, counters: &[Option<u32>; LEVELS]) -> String {
    let mut label = levels[level].pattern.clone();
    if levels[level].format == "none" {
        label = label.replace(&format!("%{}", level + 1), "");
    }
    for (at, of) in levels.iter().enumerate().take(level + 1) {
        let mark = format!("%{}", at + 1);
        if label.contains(&mark) {
            let format = if levels[level].is_legal { "decimal" } else { of.format.as_str() };
            let number = counters[at].unwrap_or(of.start);
            label = label.replace(&mark, &format_number(number, format));
        }
    }
    label
}
