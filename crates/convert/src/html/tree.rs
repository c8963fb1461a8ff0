//! The tree of an HTML page, in one vector: nodes refer to each other by index, in document order.

use super::builder::HtmlBuilder;
use crate::error::ConvertError;

/// The index of a node. The root has 0.
pub(super) type HtmlNodeId = u32;

/// The root, which is no node's child: as a child or neighbour, it stands for none.
pub(super) const ROOT: HtmlNodeId = 0;

/// The name of text nodes.
pub(super) const TEXT: &str = "#text";

/// The most bytes of a page.
const MAX_PAGE_BYTES: usize = 1 << 30;

/// An element or a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct HtmlNode {
    /// The element's name, or [`TEXT`].
    pub(super) name: &'static str,
    pub(super) parent: HtmlNodeId,
    pub(super) first_child: HtmlNodeId,
    pub(super) last_child: HtmlNodeId,
    pub(super) next: HtmlNodeId,
    /// The range of its attributes, or of its characters.
    pub(super) start: u32,
    pub(super) end: u32,
}

/// An attribute: its name, and the range of its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct HtmlAttribute {
    pub(super) name: &'static str,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A page.
#[derive(Debug)]
pub(super) struct HtmlTree {
    pub(super) nodes: Vec<HtmlNode>,
    pub(super) attributes: Vec<HtmlAttribute>,
    /// The characters of all texts and values.
    pub(super) characters: String,
    /// Whether elements beyond the limit were left out; their text was not.
    pub(super) is_cut: bool,
}

impl HtmlTree {
    /// Parses a page, or a fragment of one.
    pub(super) fn parse(page: &str) -> Result<Self, ConvertError> {
        if page.len() > MAX_PAGE_BYTES {
            return Err(ConvertError::over_limit("the page has more than 1 GiB"));
        }
        Ok(HtmlBuilder::build(page))
    }

    pub(super) fn node(&self, id: HtmlNodeId) -> &HtmlNode {
        &self.nodes[id as usize]
    }

    pub(super) fn name(&self, id: HtmlNodeId) -> &'static str {
        self.node(id).name
    }

    /// The ids of all nodes, in document order.
    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = HtmlNodeId> + use<> {
        0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    /// The characters of a text node.
    pub(super) fn text(&self, id: HtmlNodeId) -> &str {
        let node = self.node(id);
        self.characters.get(node.start as usize..node.end as usize).unwrap_or("")
    }

    /// The value of an element's attribute.
    pub(super) fn attribute(&self, id: HtmlNodeId, name: &str) -> Option<&str> {
        let node = self.node(id);
        if node.name == TEXT {
            return None;
        }
        let attributes = &self.attributes[node.start as usize..node.end as usize];
        let found = attributes.iter().find(|attribute| attribute.name == name)?;
        self.characters.get(found.start as usize..found.end as usize)
    }

    pub(super) fn children(&self, id: HtmlNodeId) -> HtmlChildren<'_> {
        HtmlChildren { tree: self, next: self.node(id).first_child }
    }

    /// The first element with this name.
    pub(super) fn first(&self, name: &str) -> Option<HtmlNodeId> {
        self.ids().find(|id| self.name(*id) == name)
    }

    /// The characters of all texts in an element, as they are.
    pub(super) fn raw_text(&self, id: HtmlNodeId) -> String {
        let mut text = String::new();
        self.collect_text(id, &mut text);
        text
    }

    fn collect_text(&self, id: HtmlNodeId, text: &mut String) {
        if self.name(id) == TEXT {
            text.push_str(self.text(id));
        }
        for child in self.children(id) {
            self.collect_text(child, text);
        }
    }

    /// Whether a class of the element is one that `is_wanted`.
    pub(super) fn has_class(&self, id: HtmlNodeId, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.attribute(id, "class")
            .is_some_and(|class| class.split_ascii_whitespace().any(is_wanted))
    }
}

/// The children of an element, in order.
pub(super) struct HtmlChildren<'a> {
    tree: &'a HtmlTree,
    next: HtmlNodeId,
}

impl Iterator for HtmlChildren<'_> {
    type Item = HtmlNodeId;

    fn next(&mut self) -> Option<HtmlNodeId> {
        let id = self.next;
        if id == ROOT {
            return None;
        }
        self.next = self.tree.node(id).next;
        Some(id)
    }
}
