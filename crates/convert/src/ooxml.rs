//! Office Open XML: what Word documents and presentations have in common.

mod chart;
mod diagram;
mod math;
mod relationships;

pub(crate) use chart::chart_blocks;
pub(crate) use diagram::diagram_blocks;
pub(crate) use math::math_text;
pub(crate) use relationships::{Relationships, main_part};

use crate::xml_tree::XmlNode;

/// What a reader of text looks for in an alternative.
const READABLE: [&str; 8] =
    ["w:txbxContent", "w:t", "a:t", "m:t", "pic:pic", "p:pic", "c:chart", "dgm:relIds"];

/// The alternative of an `mc:AlternateContent` that is read: the first that has something to read.
pub(crate) fn alternative(node: XmlNode<'_>) -> Option<XmlNode<'_>> {
    let is_branch = |child: &XmlNode<'_>| matches!(child.name(), "mc:Choice" | "mc:Fallback");
    let branches = || node.elements().filter(is_branch);
    branches().find(|branch| is_readable(*branch)).or_else(|| branches().next())
}

fn is_readable(node: XmlNode<'_>) -> bool {
    node.elements().any(|child| READABLE.contains(&child.name()) || is_readable(child))
}

/// Whether a toggle such as `w:b` is on: it is, unless its value says no.
pub(crate) fn is_on(value: Option<&str>) -> bool {
    !matches!(value, Some("0" | "false" | "off" | "none"))
}
