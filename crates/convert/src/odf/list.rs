//! Lists of an OpenDocument: their bullets and numbers, counted as they come.

use std::collections::HashMap;

use crate::rich_text::ListMarker;
use crate::word::number_format::format_number;
use crate::xml_tree::XmlNode;

/// How many levels a list has.
const LEVELS: usize = 10;

/// The longest text before or after a number.
const MAX_AFFIX: usize = 32;

/// The name of the numbering of headings, which no list has.
const OUTLINE: &str = "\0outline";

/// The list styles of a document, and how far each has counted.
#[derive(Default)]
pub(super) struct OdfLists {
    styles: HashMap<String, Vec<OdfLevel>>,
    counters: HashMap<String, [Option<u32>; LEVELS]>,
}

/// A level of a list style.
#[derive(Clone, Default)]
struct OdfLevel {
    /// The format of numbers as Office calls it; none for bullets.
    format: Option<&'static str>,
    prefix: String,
    suffix: String,
    start: u32,
    /// How many levels the number shows.
    shown: usize,
}

impl OdfLists {
    /// Reads the list styles inside of `node`.
    pub(super) fn read(&mut self, node: XmlNode<'_>) {
        for node in node.elements() {
            let name = match node.name() {
                "text:list-style" => node.attribute("style:name").unwrap_or_default(),
                "text:outline-style" => OUTLINE,
                _ => continue,
            };
            let mut levels = vec![OdfLevel::default(); LEVELS];
            for level in node.elements() {
                let place = level.attribute("text:level").and_then(|at| at.parse::<usize>().ok());
                let slot = place.and_then(|place| levels.get_mut(place.checked_sub(1)?));
                if let Some(slot) = slot {
                    *slot = read_level(level);
                }
            }
            self.styles.insert(name.to_owned(), levels);
        }
    }

    /// Begins a list anew, from `level` downwards.
    pub(super) fn restart(&mut self, style: &str, level: usize) {
        if let Some(counters) = self.counters.get_mut(style) {
            counters.iter_mut().skip(level).for_each(|counter| *counter = None);
        }
    }

    /// Counts an item: what stands before it.
    pub(super) fn next(&mut self, style: &str, level: usize, start: Option<u32>) -> ListMarker {
        let level = level.min(LEVELS - 1);
        let Some(levels) = self.styles.get(style) else { return ListMarker::Bullet };
        let counters = self.counters.entry(style.to_owned()).or_default();
        let next = counters[level].map_or(levels[level].start.max(1), |n| n.saturating_add(1));
        counters[level] = Some(start.unwrap_or(next));
        counters[level + 1..].fill(None);
        let Some(_) = levels[level].format else { return ListMarker::Bullet };
        let number = counters[level].unwrap_or(1);
        let label = label(levels, level, counters);
        let plain = label.trim().trim_end_matches(['.', ')', '．', '、']);
        if plain == number.to_string() {
            return ListMarker::Number(number);
        }
        ListMarker::Label(label.trim().to_owned())
    }

    /// Counts a heading: the number that stands before it, if any.
    pub(super) fn next_heading(&mut self, level: usize) -> Option<String> {
        let level = level.clamp(1, LEVELS) - 1;
        self.styles.get(OUTLINE)?.get(level)?.format?;
        match self.next(OUTLINE, level, None) {
            ListMarker::Number(number) => Some(format!("{number}. ")),
            ListMarker::Label(label) => Some(format!("{label} ")),
            ListMarker::Bullet | ListMarker::Continuation => None,
        }
    }
}

fn read_level(node: XmlNode<'_>) -> OdfLevel {
    let format = node.attribute("style:num-format").unwrap_or_default();
    let is_number =
        node.name().ends_with("-number") || node.name().ends_with("outline-level-style");
    let affix = |name| {
        let text = node.attribute(name).unwrap_or_default();
        if text.len() <= MAX_AFFIX { text.to_owned() } else { String::new() }
    };
    let number = |name: &str| node.attribute(name).and_then(|value| value.parse::<u32>().ok());
    OdfLevel {
        format: is_number.then(|| office_format(format)).flatten(),
        prefix: affix("style:num-prefix"),
        suffix: affix("style:num-suffix"),
        start: number("text:start-value").unwrap_or(1),
        shown: number("text:display-levels").unwrap_or(1).clamp(1, 10) as usize,
    }
}

/// The name that Office has for a format of OpenDocument.
fn office_format(format: &str) -> Option<&'static str> {
    let first = format.chars().next()?;
    Some(match first {
        'a' => "lowerLetter",
        'A' => "upperLetter",
        'i' => "lowerRoman",
        'I' => "upperRoman",
        'ア' => "aiueo",
        'イ' => "iroha",
        '一' => "japaneseCounting",
        '①' => "decimalEnclosedCircle",
        '１' => "decimalFullWidth",
        '甲' => "ideographTraditional",
        _ => "decimal",
    })
}

fn label(levels: &[OdfLevel], level: usize, counters: &[Option<u32>; LEVELS]) -> String {
    let own = &levels[level];
    let first = (level + 1).saturating_sub(own.shown);
    let numbers: Vec<String> = (first..=level)
        .filter_map(|at| {
            let number = counters[at].unwrap_or(levels[at].start.max(1));
            Some(format_number(number, levels[at].format?))
        })
        .collect();
    format!("{}{}{}", own.prefix, numbers.join("."), own.suffix)
}
