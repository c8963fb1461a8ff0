//! Reader of Word documents.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use crate::error::ConvertError;
use crate::ooxml::{Relationships, main_part};
use crate::options::Options;
use crate::package::Package;
use crate::rich_text::{RichBlock, RichNote, RichSpan, RichText, blocks_text};
use crate::xml_tree::{XmlNode, XmlTree};

mod body;
mod drawing;
mod field;
mod numbering;
mod paragraph;
mod run;
mod styles;
mod table;

#[cfg(test)]
mod field_tests;
#[cfg(test)]
mod tests;

use field::DocxField;
use numbering::DocxNumbering;
use styles::DocxStyles;

/// Parts that hold notes: the word for their kind, the name of a note, and what begins a label.
const NOTE_PARTS: [(&str, &str, &str); 3] = [
    ("footnotes", "w:footnote", ""),
    ("endnotes", "w:endnote", ""),
    ("comments", "w:comment", "c"),
];

/// Reads a Word document.
pub(super) fn read(bytes: &[u8], options: &Options) -> Result<RichText, ConvertError> {
    let package = Package::open(bytes, options)?;
    let main = main_part(&package, "word/document.xml")?;
    let document = XmlTree::parse(&package.required_part(&main)?, &main)?;
    let relationships = Rc::new(Relationships::of(&package, &main)?);
    let styles = optional_tree(&package, relationships.first("styles"))?;
    let numbering = optional_tree(&package, relationships.first("numbering"))?;
    let mut reader = DocxReader {
        package: &package,
        styles: styles.map(|tree| DocxStyles::read(tree.root())).unwrap_or_default(),
        numbering: numbering.map(|tree| DocxNumbering::read(tree.root())).unwrap_or_default(),
        relationships: Rc::clone(&relationships),
        fields: Vec::new(),
        carried: Vec::new(),
        labels: HashMap::new(),
        waiting: VecDeque::new(),
        counts: [0; 2],
        cells: 0,
        drawn: HashSet::new(),
        losses: Vec::new(),
    };
    let body = document.root().child("w:body").unwrap_or(document.root());
    let mut text = RichText { blocks: reader.blocks(body)?, ..RichText::default() };
    reader.flush_carried(&mut text.blocks);
    if reader.is_in_instruction() {
        reader.lose("a field has no end: the text after it may be missing".to_owned());
        reader.fields.clear();
    }
    text.notes = reader.notes(&relationships)?;
    for kind in ["w:headerReference", "w:footerReference"] {
        let margins = reader.margins(document.root(), &relationships, kind)?;
        let slot = if kind.starts_with("w:h") { &mut text.headers } else { &mut text.footers };
        *slot = margins;
    }
    text.losses = reader.losses;
    Ok(text)
}

/// The tree of a part that a document may have.
fn optional_tree(
    package: &Package<'_>,
    part: Option<&str>,
) -> Result<Option<XmlTree>, ConvertError> {
    let Some(name) = part else { return Ok(None) };
    let content = package.part(name)?;
    content.map(|content| XmlTree::parse(&content, name)).transpose()
}

/// Reads the parts of one document.
struct DocxReader<'p> {
    package: &'p Package<'p>,
    styles: DocxStyles,
    numbering: DocxNumbering,
    /// The relationships of the part that is read.
    relationships: Rc<Relationships>,
    /// The open fields.
    fields: Vec<DocxField>,
    /// What a paragraph leaves to the next, its mark being deleted.
    carried: Vec<RichSpan>,
    /// The labels of notes by part and id.
    labels: HashMap<(usize, String), String>,
    /// The notes that are still to be read.
    waiting: VecDeque<(usize, String, String)>,
    /// How many footnotes and comments have a label.
    counts: [u32; 2],
    /// How many cells of tables are open.
    cells: usize,
    /// The parts of charts and diagrams that were read.
    drawn: HashSet<String>,
    losses: Vec<String>,
}

impl DocxReader<'_> {
    /// Notes what cannot be converted, once.
    fn lose(&mut self, sentence: String) {
        if self.losses.len() < 20 && !self.losses.contains(&sentence) {
            self.losses.push(sentence);
        }
    }

    /// The label of a note of the part at `place` of [`NOTE_PARTS`].
    fn label(&mut self, place: usize, id: &str) -> String {
        let key = (place, id.to_owned());
        if let Some(label) = self.labels.get(&key) {
            return label.clone();
        }
        let start = NOTE_PARTS[place].2;
        let count = &mut self.counts[usize::from(!start.is_empty())];
        *count += 1;
        let label = format!("{start}{count}");
        self.waiting.push_back((place, id.to_owned(), label.clone()));
        self.labels.insert(key, label.clone());
        label
    }

    /// Reads the notes that the text refers to, and those that notes refer to.
    fn notes(&mut self, relationships: &Relationships) -> Result<Vec<RichNote>, ConvertError> {
        let mut trees = Vec::new();
        for (kind, ..) in NOTE_PARTS {
            let part = relationships.first(kind);
            let tree = optional_tree(self.package, part)?;
            let of_part = match part {
                Some(part) => Relationships::of(self.package, part)?,
                None => Relationships::default(),
            };
            trees.push((tree, Rc::new(of_part)));
        }
        let mut by_id: Vec<HashMap<&str, XmlNode<'_>>> = Vec::new();
        for ((tree, _), (_, name, _)) in trees.iter().zip(NOTE_PARTS) {
            let notes = tree.iter().flat_map(|tree| tree.root().elements());
            let notes = notes.filter(|node| node.name() == name);
            by_id.push(notes.filter_map(|node| Some((node.attribute("w:id")?, node))).collect());
        }
        let mut notes = Vec::new();
        while let Some((place, id, label)) = self.waiting.pop_front() {
            let node = by_id[place].get(id.as_str());
            self.relationships = Rc::clone(&trees[place].1);
            let mut blocks = match node {
                Some(node) => self.blocks(*node)?,
                None => vec![RichBlock::plain("(the document does not have this note)")],
            };
            self.flush_carried(&mut blocks);
            let lead = node.filter(|_| place == 2).map(|node| comment_lead(*node));
            notes.push(RichNote { label, lead: lead.unwrap_or_default(), blocks });
        }
        Ok(notes)
    }

    /// The different headers or footers of all sections.
    fn margins(
        &mut self,
        root: XmlNode<'_>,
        relationships: &Relationships,
        kind: &str,
    ) -> Result<Vec<Vec<RichBlock>>, ConvertError> {
        let mut parts: Vec<String> = Vec::new();
        let mut known = HashSet::new();
        for reference in root.descendants(kind) {
            let part = reference.attribute("r:id").and_then(|id| relationships.part(id));
            if let Some(part) = part
                && known.insert(part.to_owned())
            {
                parts.push(part.to_owned());
            }
        }
        let mut margins: Vec<Vec<RichBlock>> = Vec::new();
        let mut texts = HashSet::new();
        for part in parts {
            let Some(tree) = optional_tree(self.package, Some(&part))? else { continue };
            self.relationships = Rc::new(Relationships::of(self.package, &part)?);
            let mut blocks = self.blocks(tree.root())?;
            self.flush_carried(&mut blocks);
            let text = blocks_text(&blocks);
            // A page number alone says nothing about the document.
            if text.chars().any(char::is_alphabetic) && texts.insert(text) {
                margins.push(blocks);
            }
        }
        Ok(margins)
    }
}

fn comment_lead(node: XmlNode<'_>) -> String {
    let author = node.attribute("w:author").unwrap_or_default().trim();
    let date = node.attribute("w:date").and_then(|date| date.get(..10)).unwrap_or_default();
    crate::rich_text::comment_lead(author, date)
}
