//! Footnotes of a page: references, the blocks they refer to, and the links back.

use std::collections::{HashMap, HashSet};

use super::elements::is_block;
use super::main_content::MainContent;
use super::tree::{HtmlNodeId, HtmlTree, ROOT};

/// The longest mark of a reference.
const MAX_MARK_LETTERS: usize = 8;

/// The most elements between a reference and the id that its link back names.
const MAX_STEPS_TO_ID: usize = 3;

/// The footnotes of a page, by node.
#[derive(Default)]
pub(super) struct HtmlNotes<'a> {
    references: HashMap<HtmlNodeId, String>,
    definitions: HashMap<HtmlNodeId, String>,
    back_links: HashSet<HtmlNodeId>,
    /// The ids around references.
    sources: HashSet<&'a str>,
    labels: HashSet<String>,
}

impl<'a> HtmlNotes<'a> {
    /// Finds the footnotes among the content of a page.
    pub(super) fn find(tree: &'a HtmlTree, content: &MainContent) -> Self {
        let mut notes = Self::default();
        let kept = || tree.ids().filter(|id| content.is_kept(*id));
        if !kept().any(|id| tree.name(id) == "a" && is_reference(tree, id)) {
            return notes;
        }
        let mut targets: HashMap<&str, HtmlNodeId> = HashMap::new();
        for id in kept() {
            if let Some(name) = name_of(tree, id) {
                targets.entry(name).or_insert(id);
            }
        }
        for id in kept().filter(|id| tree.name(*id) == "a") {
            notes.take_link(tree, id, &targets);
        }
        notes
    }

    fn take_link(
        &mut self,
        tree: &'a HtmlTree,
        id: HtmlNodeId,
        targets: &HashMap<&str, HtmlNodeId>,
    ) {
        let Some(target) = local_target(tree, id) else { return };
        if self.sources.contains(target) {
            let is_short = tree.raw_text(id).trim().chars().count() <= MAX_MARK_LETTERS;
            if is_short {
                self.back_links.insert(id);
            }
            return;
        }
        let Some(block) = targets.get(target).filter(|_| is_reference(tree, id)) else { return };
        let block = block_around(tree, *block);
        // A mark in the block that it names is no reference to it.
        if block == ROOT || is_inside(tree, id, block) || !is_note_block(tree.name(block)) {
            return;
        }
        let label = match self.definitions.get(&block) {
            Some(label) => label.clone(),
            None => self.new_label(&tree.raw_text(id)),
        };
        self.definitions.insert(block, label.clone());
        self.references.insert(id, label);
        let mut at = id;
        for _ in 0..MAX_STEPS_TO_ID {
            self.sources.extend(name_of(tree, at));
            self.sources.extend(tree.children(at).filter_map(|child| name_of(tree, child)));
            at = tree.node(at).parent;
            if at == ROOT || is_block(tree.name(at)) {
                break;
            }
        }
    }

    /// A label that no other note has, of the mark if it is a word.
    fn new_label(&mut self, mark: &str) -> String {
        let word: String = mark.chars().filter(|letter| letter.is_alphanumeric()).collect();
        let word = if word.is_empty() { "note".to_owned() } else { word };
        let mut label = word.clone();
        let mut next = self.labels.len();
        while !self.labels.insert(label.clone()) {
            next += 1;
            label = format!("{word}-{next}");
        }
        label
    }

    /// The label of the note that this link refers to.
    pub(super) fn reference(&self, link: HtmlNodeId) -> Option<&str> {
        self.references.get(&link).map(String::as_str)
    }

    /// The label of the note that this block defines.
    pub(super) fn definition(&self, block: HtmlNodeId) -> Option<&str> {
        self.definitions.get(&block).map(String::as_str)
    }

    /// Whether the link leads from a note back to its reference.
    pub(super) fn is_back_link(&self, link: HtmlNodeId) -> bool {
        self.back_links.contains(&link)
    }
}

fn name_of(tree: &HtmlTree, id: HtmlNodeId) -> Option<&str> {
    let by_name = || tree.attribute(id, "name").filter(|_| tree.name(id) == "a");
    tree.attribute(id, "id").or_else(by_name).filter(|name| !name.is_empty())
}

fn local_target(tree: &HtmlTree, id: HtmlNodeId) -> Option<&str> {
    tree.attribute(id, "href")?.trim().strip_prefix('#').filter(|target| !target.is_empty())
}

/// Whether a link is a raised short mark, or says that it refers to a note.
fn is_reference(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    if local_target(tree, id).is_none() {
        return false;
    }
    let is_named = tree.attribute(id, "role") == Some("doc-noteref")
        || tree.has_class(id, |class| {
            matches!(class, "footnote-ref" | "footnote-reference" | "footnote" | "noteref")
        });
    let is_raised = tree.name(tree.node(id).parent) == "sup"
        || tree.children(id).any(|child| tree.name(child) == "sup");
    (is_named || is_raised) && tree.raw_text(id).trim().chars().count() <= MAX_MARK_LETTERS
}

fn is_note_block(name: &str) -> bool {
    matches!(name, "li" | "p" | "div" | "dd" | "aside" | "section" | "blockquote")
}

fn block_around(tree: &HtmlTree, id: HtmlNodeId) -> HtmlNodeId {
    let mut at = id;
    while at != ROOT && !is_block(tree.name(at)) {
        at = tree.node(at).parent;
    }
    at
}

fn is_inside(tree: &HtmlTree, id: HtmlNodeId, block: HtmlNodeId) -> bool {
    let mut at = id;
    while at != ROOT {
        if at == block {
            return true;
        }
        at = tree.node(at).parent;
    }
    false
}
