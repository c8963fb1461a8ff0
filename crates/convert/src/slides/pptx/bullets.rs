//! Bullets of PowerPoint: which paragraphs are items, by the slide, its layout and its master.

use super::{optional_tree, shape_tree};
use crate::error::ConvertError;
use crate::ooxml::Relationships;
use crate::package::Package;
use crate::xml_tree::{XmlNode, XmlTree};

/// How many levels text has.
const LEVELS: usize = 9;

/// What stands before a paragraph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PptxBullet {
    Nothing,
    Sign,
    /// A number in this format, from this start.
    Number(String, u32),
}

/// The bullets of all levels, where they are given.
pub(super) type PptxLevels = [Option<PptxBullet>; LEVELS];

/// What a slide takes from its layout and master.
#[derive(Default)]
pub(super) struct PptxLayout {
    placeholders: Vec<PptxPlaceholder>,
    master: Vec<PptxPlaceholder>,
    /// The bullets of the text of the master.
    body: PptxLevels,
}

/// A placeholder: what a shape of a slide, layout or master stands for.
pub(super) struct PptxPlaceholder {
    pub(super) kind: String,
    pub(super) index: String,
    pub(super) levels: PptxLevels,
}

impl PptxPlaceholder {
    /// The placeholder that a shape is, if it is one.
    pub(super) fn of(shape: XmlNode<'_>) -> Option<Self> {
        let properties = shape.elements().find(|node| node.child("p:nvPr").is_some())?;
        let node = properties.child("p:nvPr")?.child("p:ph")?;
        let text = shape.child("p:txBody").and_then(|body| body.child("a:lstStyle"));
        Some(Self {
            kind: node.attribute("type").unwrap_or("obj").to_owned(),
            index: node.attribute("idx").unwrap_or("0").to_owned(),
            levels: text.map(levels_of).unwrap_or_default(),
        })
    }

    /// Whether it is the title.
    pub(super) fn is_title(&self) -> bool {
        matches!(self.kind.as_str(), "title" | "ctrTitle")
    }

    /// Whether it repeats on every slide.
    pub(super) fn is_repeated(&self) -> bool {
        matches!(self.kind.as_str(), "dt" | "ftr" | "sldNum" | "hdr")
    }
}

impl PptxLayout {
    /// Reads a layout and its master.
    pub(super) fn read(package: &Package<'_>, part: &str) -> Result<Self, ConvertError> {
        let mut layout = Self::default();
        let Some(tree) = optional_tree(package, Some(part))? else { return Ok(layout) };
        layout.placeholders = placeholders(&tree);
        let relationships = Relationships::of(package, part)?;
        if let Some(tree) = optional_tree(package, relationships.first("slideMaster"))? {
            layout.master = placeholders(&tree);
            let styles = tree.root().child("p:txStyles");
            let body = styles.and_then(|styles| styles.child("p:bodyStyle"));
            layout.body = body.map(levels_of).unwrap_or_default();
        }
        Ok(layout)
    }

    /// What stands before a paragraph of a placeholder that does not say so itself.
    pub(super) fn bullet(&self, placeholder: &PptxPlaceholder, level: usize) -> PptxBullet {
        if placeholder.is_title() || placeholder.is_repeated() {
            return PptxBullet::Nothing;
        }
        let same = |other: &&PptxPlaceholder| other.index == placeholder.index;
        let in_layout = self.placeholders.iter().find(same);
        let kind = in_layout.map_or(placeholder.kind.as_str(), |found| found.kind.as_str());
        let is_kind = |other: &&PptxPlaceholder| {
            other.kind == kind || (other.kind == "body" && matches!(kind, "obj" | "subTitle"))
        };
        let in_master = self.master.iter().find(is_kind);
        let chain = [Some(placeholder), in_layout, in_master];
        let given = chain.into_iter().flatten().find_map(|found| found.levels[level].clone());
        given.or_else(|| self.body[level].clone()).unwrap_or(PptxBullet::Sign)
    }
}

fn placeholders(tree: &XmlTree) -> Vec<PptxPlaceholder> {
    let shapes = shape_tree(tree.root());
    shapes.iter().flat_map(|shapes| shapes.elements()).filter_map(PptxPlaceholder::of).collect()
}

/// The bullets that a list style gives.
pub(super) fn levels_of(style: XmlNode<'_>) -> PptxLevels {
    let mut levels = PptxLevels::default();
    for (at, slot) in levels.iter_mut().enumerate() {
        let name = format!("a:lvl{}pPr", at + 1);
        *slot = style.child(&name).and_then(bullet_of);
    }
    levels
}

/// The bullet that paragraph properties give.
pub(super) fn bullet_of(properties: XmlNode<'_>) -> Option<PptxBullet> {
    properties.elements().find_map(|node| match node.name() {
        "a:buNone" => Some(PptxBullet::Nothing),
        "a:buChar" | "a:buBlip" => Some(PptxBullet::Sign),
        "a:buAutoNum" => {
            let start = node.attribute("startAt").and_then(|start| start.parse().ok());
            let format = node.attribute("type").unwrap_or("arabicPeriod");
            Some(PptxBullet::Number(format.to_owned(), start.unwrap_or(1)))
        }
        _ => None,
    })
}
