//! Reader of OpenDocument: the text of documents and presentations.

use std::collections::HashSet;
use std::rc::Rc;

use crate::error::ConvertError;
use crate::package::Package;
use crate::rich_text::{RichBlock, RichNote};
use crate::xml_tree::{XmlNode, XmlTree};

mod block;
mod drawing;
mod inline;
mod list;
mod styles;
mod table;

pub(crate) use inline::OdfLine;

use list::OdfLists;
use styles::OdfStyles;

/// Reads the parts of one document.
pub(crate) struct OdfReader<'p> {
    package: &'p Package<'p>,
    pub(crate) styles: Rc<OdfStyles>,
    lists: OdfLists,
    /// The notes that were read, in the order of their marks.
    pub(crate) notes: Vec<RichNote>,
    /// How many footnotes and comments there are.
    counts: [u32; 2],
    /// The embedded objects that were read.
    drawn: HashSet<String>,
    pub(crate) losses: Vec<String>,
}

/// The parts of a document that text is read from.
pub(crate) struct OdfParts {
    pub(crate) content: XmlTree,
    pub(crate) styles: Option<XmlTree>,
}

impl OdfParts {
    /// Reads the parts of a package.
    pub(crate) fn read(package: &Package<'_>) -> Result<Self, ConvertError> {
        let manifest = "META-INF/manifest.xml";
        if let Some(part) = package.part(manifest)?
            && let Ok(tree) = XmlTree::parse(&part, manifest)
            && tree.root().descendant("manifest:encryption-data").is_some()
        {
            return Err(ConvertError::protected());
        }
        let content = XmlTree::parse(&package.required_part("content.xml")?, "content.xml")?;
        let styles = package.part("styles.xml")?;
        let styles = styles.map(|part| XmlTree::parse(&part, "styles.xml")).transpose()?;
        Ok(Self { content, styles })
    }
}

impl<'p> OdfReader<'p> {
    /// A reader of these parts.
    pub(crate) fn new(package: &'p Package<'p>, parts: &OdfParts) -> Self {
        let mut styles = OdfStyles::default();
        let mut lists = OdfLists::default();
        let roots = parts.styles.iter().chain([&parts.content]).map(XmlTree::root);
        for root in roots {
            for place in ["office:styles", "office:automatic-styles"] {
                if let Some(node) = root.child(place) {
                    styles.read(node);
                    lists.read(node);
                }
            }
        }
        Self {
            package,
            styles: Rc::new(styles),
            lists,
            notes: Vec::new(),
            counts: [0; 2],
            drawn: HashSet::new(),
            losses: Vec::new(),
        }
    }

    /// Notes what cannot be converted, once.
    fn lose(&mut self, sentence: String) {
        if self.losses.len() < 20 && !self.losses.contains(&sentence) {
            self.losses.push(sentence);
        }
    }

    /// The next label of a footnote or comment.
    fn next_label(&mut self, is_comment: bool) -> String {
        let count = &mut self.counts[usize::from(is_comment)];
        *count += 1;
        format!("{}{count}", if is_comment { "c" } else { "" })
    }

    /// Appends a note. Notes inside of a note come after it.
    fn read_note(
        &mut self,
        label: String,
        lead: String,
        read: impl FnOnce(&mut Self) -> Result<Vec<RichBlock>, ConvertError>,
    ) -> Result<(), ConvertError> {
        let place = self.notes.len();
        self.notes.push(RichNote { label, lead, blocks: Vec::new() });
        self.notes[place].blocks = read(self)?;
        Ok(())
    }
}

/// What stands before the text of a comment.
pub(crate) fn annotation_lead(node: XmlNode<'_>) -> String {
    let text = |name: &str| node.child(name).map(XmlNode::all_text).unwrap_or_default();
    let (author, date) = (text("dc:creator"), text("dc:date"));
    crate::rich_text::comment_lead(author.trim(), date.get(..10).unwrap_or_default())
}
