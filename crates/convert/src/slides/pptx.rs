//! Reader of PowerPoint presentations.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::deck::{Slide, SlideDeck};
use crate::error::ConvertError;
use crate::ooxml::{Relationships, is_on, main_part};
use crate::options::Options;
use crate::package::Package;
use crate::xml_tree::{XmlNode, XmlTree};

mod bullets;
mod comments;
mod shape;
mod table;
mod text;

use bullets::PptxLayout;

/// The most slides of a presentation.
const MAX_SLIDES: usize = 20_000;

/// Reads a PowerPoint presentation.
pub(super) fn read(bytes: &[u8], options: &Options) -> Result<SlideDeck, ConvertError> {
    let package = Package::open(bytes, options)?;
    let main = main_part(&package, "ppt/presentation.xml")?;
    let tree = XmlTree::parse(&package.required_part(&main)?, &main)?;
    let relationships = Relationships::of(&package, &main)?;
    let mut reader = PptxReader {
        package: &package,
        relationships: Relationships::default(),
        layouts: HashMap::new(),
        authors: comments::read_authors(&package, &relationships)?,
        footers: HashSet::new(),
        drawn: HashSet::new(),
        deck: SlideDeck::default(),
    };
    let list = tree.root().child("p:sldIdLst");
    let ids = list.iter().flat_map(|list| list.elements()).filter_map(|id| id.attribute("r:id"));
    let mut seen = HashSet::new();
    for part in ids.filter_map(|id| relationships.part(id)) {
        if !seen.insert(part.to_owned()) {
            continue;
        }
        if seen.len() > MAX_SLIDES {
            let message = format!("the presentation has over {MAX_SLIDES} slides");
            return Err(ConvertError::over_limit(message));
        }
        reader.slide(part)?;
    }
    Ok(reader.deck)
}

/// The tree of a part that a presentation may have.
fn optional_tree(
    package: &Package<'_>,
    part: Option<&str>,
) -> Result<Option<XmlTree>, ConvertError> {
    let Some(name) = part else { return Ok(None) };
    let content = package.part(name)?;
    content.map(|content| XmlTree::parse(&content, name)).transpose()
}

/// Reads the parts of one presentation.
struct PptxReader<'p> {
    package: &'p Package<'p>,
    /// The relationships of the slide that is read.
    relationships: Relationships,
    layouts: HashMap<String, Rc<PptxLayout>>,
    /// The names of those who comment, by id.
    authors: HashMap<String, String>,
    /// The footers that were given: each is given once.
    footers: HashSet<String>,
    /// The parts of charts and diagrams that were read.
    drawn: HashSet<String>,
    deck: SlideDeck,
}

impl PptxReader<'_> {
    fn slide(&mut self, part: &str) -> Result<(), ConvertError> {
        let Some(tree) = optional_tree(self.package, Some(part))? else {
            self.deck.lose(format!("the slide {part:?} is missing"));
            return Ok(());
        };
        self.relationships = Relationships::of(self.package, part)?;
        let layout = self.relationships.first("slideLayout").map(str::to_owned);
        let layout = self.layout(layout)?;
        let root = tree.root();
        let is_hidden = root.attribute("show").is_some_and(|show| !is_on(Some(show)));
        let mut slide = Slide { is_hidden, ..Slide::default() };
        if let Some(shapes) = shape_tree(root) {
            self.shapes(shapes, &layout, &mut slide)?;
        }
        slide.comments = self.comments()?;
        let notes = self.relationships.first("notesSlide").map(str::to_owned);
        if let Some(tree) = optional_tree(self.package, notes.as_deref())?
            && let (Some(part), Some(shapes)) = (notes, shape_tree(tree.root()))
        {
            self.relationships = Relationships::of(self.package, &part)?;
            slide.notes = self.notes(shapes)?;
        }
        self.deck.slides.push(slide);
        Ok(())
    }

    fn layout(&mut self, part: Option<String>) -> Result<Rc<PptxLayout>, ConvertError> {
        let Some(part) = part else { return Ok(Rc::default()) };
        if let Some(layout) = self.layouts.get(&part) {
            return Ok(Rc::clone(layout));
        }
        let layout = Rc::new(PptxLayout::read(self.package, &part)?);
        self.layouts.insert(part, Rc::clone(&layout));
        Ok(layout)
    }
}

fn shape_tree(root: XmlNode<'_>) -> Option<XmlNode<'_>> {
    root.child("p:cSld")?.child("p:spTree")
}
