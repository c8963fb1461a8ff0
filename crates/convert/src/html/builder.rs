//! Tree builder: makes a tree of the tokens of an HTML page.
//!
//! It follows the standard where pages need it (implied end tags, crossed formatting, foreign
//! content) and is linear, which tree construction by the standard is not: nesting is bounded, and
//! what is nested deeper is content of the deepest element.

#[cfg(test)]
mod tests;

use super::elements::{
    UNKNOWN, closes_paragraph, heading_level, is_block, is_boundary, is_formatting, is_head_part,
    is_table_part, is_void, known_attribute, known_name,
};
use super::tokenizer::{HtmlToken, HtmlTokenizer};
use super::tree::{HtmlAttribute, HtmlNode, HtmlNodeId, HtmlTree, ROOT, TEXT};

/// The deepest nesting of elements.
pub(super) const MAX_DEPTH: usize = 160;

/// The most nodes of a tree.
const MAX_NODES: usize = 4_000_000;

/// An element whose end tag has not come.
#[derive(Debug, Clone, Copy)]
struct OpenElement {
    id: HtmlNodeId,
    name: &'static str,
    /// Whether its end tag came inside a block: it ends with that block.
    is_ended: bool,
}

/// A tree, and where the next token goes.
pub(super) struct HtmlBuilder {
    tree: HtmlTree,
    open: Vec<OpenElement>,
    /// How many elements are open that were too deep for a node.
    too_deep: usize,
    /// How many of the open elements are roots of foreign content.
    foreign: usize,
    /// Whether the body has begun, by its tag or by content.
    has_content: bool,
    /// The start tag that is being read.
    tag: &'static str,
    first_attribute: usize,
    /// Where the attributes of the elements in the tree end.
    last_attribute: usize,
}

impl HtmlBuilder {
    /// The tree of `page`.
    pub(super) fn build(page: &str) -> HtmlTree {
        let mut builder = Self::new();
        HtmlTokenizer::run(page, |token| builder.take(&token));
        builder.tree
    }

    fn new() -> Self {
        let root = HtmlNode {
            name: "#root",
            parent: ROOT,
            first_child: ROOT,
            last_child: ROOT,
            next: ROOT,
            start: 0,
            end: 0,
        };
        let tree = HtmlTree {
            nodes: vec![root],
            attributes: Vec::new(),
            characters: String::new(),
            is_cut: false,
        };
        Self {
            tree,
            open: Vec::new(),
            too_deep: 0,
            foreign: 0,
            has_content: false,
            tag: UNKNOWN,
            first_attribute: 0,
            last_attribute: 0,
        }
    }

    fn take(&mut self, token: &HtmlToken<'_>) {
        match token {
            HtmlToken::StartTag(name) => {
                // A tag that did not end leaves attributes behind.
                self.tree.attributes.truncate(self.last_attribute);
                self.tag = known_name(name);
                self.first_attribute = self.tree.attributes.len();
            }
            HtmlToken::Attribute(name, value) => self.add_attribute(name, value),
            HtmlToken::StartTagEnd { is_self_closing } => {
                self.start_element(*is_self_closing);
                self.last_attribute = self.tree.attributes.len();
            }
            HtmlToken::EndTag(name) => self.end_element(known_name(name)),
            HtmlToken::Text(text) => self.add_text(text),
        }
    }

    fn add_attribute(&mut self, name: &str, value: &str) {
        let read = &self.tree.attributes[self.first_attribute..];
        let is_new = |name: &&'static str| !read.iter().any(|attribute| attribute.name == *name);
        let Some(name) = known_attribute(name).filter(is_new) else { return };
        let (start, end) = self.add_characters(value);
        self.tree.attributes.push(HtmlAttribute { name, start, end });
    }

    fn add_characters(&mut self, text: &str) -> (u32, u32) {
        let position = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let start = position(self.tree.characters.len());
        self.tree.characters.push_str(text);
        (start, position(self.tree.characters.len()))
    }

    fn top(&self) -> &'static str {
        self.open.last().map_or("#root", |open| open.name)
    }

    fn start_element(&mut self, is_self_closing: bool) {
        let name = self.tag;
        if self.foreign > 0 && breaks_out_of_foreign(name) {
            self.leave_foreign();
        }
        self.close_implied(name);
        let is_late = matches!(name, "html" | "head" | "body") && self.has_content;
        let is_stray = is_table_part(name) && !self.open.iter().any(|open| open.name == "table");
        self.has_content |= name != "html" && name != "head" && !is_head_part(name);
        if is_late || is_stray {
            self.tree.attributes.truncate(self.first_attribute);
            return;
        }
        let is_leaf = is_void(name) || (is_self_closing && self.foreign > 0);
        if self.open.len() >= MAX_DEPTH || self.tree.nodes.len() >= MAX_NODES {
            self.tree.is_cut |= self.tree.nodes.len() >= MAX_NODES;
            self.tree.attributes.truncate(self.first_attribute);
            self.too_deep += usize::from(!is_leaf);
            return;
        }
        let position = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let (start, end) = (position(self.first_attribute), position(self.tree.attributes.len()));
        let id = self.add_node(name, start, end);
        if !is_leaf {
            self.foreign += usize::from(is_foreign_root(name));
            self.open.push(OpenElement { id, name, is_ended: false });
        }
    }

    fn add_node(&mut self, name: &'static str, start: u32, end: u32) -> HtmlNodeId {
        let parent = self.open.last().map_or(ROOT, |open| open.id);
        let id = u32::try_from(self.tree.nodes.len()).unwrap_or(u32::MAX);
        let (first_child, last_child, next) = (ROOT, ROOT, ROOT);
        self.tree.nodes.push(HtmlNode { name, parent, first_child, last_child, next, start, end });
        let last = self.tree.node(parent).last_child;
        if last == ROOT {
            self.tree.nodes[parent as usize].first_child = id;
        } else {
            self.tree.nodes[last as usize].next = id;
        }
        self.tree.nodes[parent as usize].last_child = id;
        id
    }

    fn add_text(&mut self, text: &str) {
        if self.top() == "head" && !text.trim_ascii().is_empty() {
            self.open.pop();
        }
        if matches!(self.top(), "script" | "style" | "iframe" | "noembed" | "noframes" | "noscript")
        {
            return;
        }
        self.has_content |= self.top() != "title" && !text.trim_ascii().is_empty();
        let (start, end) = self.add_characters(&text.replace('\0', ""));
        // A limit of nodes must not cost text: it grows the text before.
        let last = self.tree.nodes.len() - 1;
        if self.tree.nodes.len() >= MAX_NODES && self.tree.nodes[last].name == TEXT {
            self.tree.nodes[last].end = end;
        } else {
            self.add_node(TEXT, start, end);
        }
    }

    /// Ends the elements that end where an element called `name` starts.
    fn close_implied(&mut self, name: &'static str) {
        const LISTS: &[&str] =
            &["ul", "ol", "menu", "dir", "dl", "blockquote", "section", "article"];
        const NONE: &[&str] = &[];
        if self.top() == "head" && !is_head_part(name) {
            self.open.pop();
        }
        match name {
            "li" => self.close_nearest(&["li"], LISTS),
            "dt" | "dd" => self.close_nearest(&["dt", "dd"], LISTS),
            "td" | "th" => self.close_in_table(&["td", "th"], &["tr"]),
            "tr" => self.close_in_table(&["tr", "caption", "colgroup"], NONE),
            "tbody" | "thead" | "tfoot" | "colgroup" => {
                self.close_in_table(&["tbody", "thead", "tfoot", "caption", "colgroup"], NONE);
            }
            "option" => self.close_nearest(&["option"], &["select", "optgroup", "datalist"]),
            "optgroup" => self.close_nearest(&["optgroup", "option"], &["select"]),
            "rt" | "rp" | "rb" | "rtc" => self.close_nearest(&["rt", "rp", "rb"], &["ruby"]),
            "a" => self.close_nearest(&["a"], NONE),
            "button" => self.close_nearest(&["button"], NONE),
            _ => {}
        }
        if closes_paragraph(name) {
            self.close_nearest(&["p"], &["button"]);
        }
        if heading_level(name).is_some() && heading_level(self.top()).is_some() {
            self.pop_to(self.open.len() - 1);
        }
    }

    fn close_nearest(&mut self, names: &[&str], walls: &[&str]) {
        for at in (0..self.open.len()).rev() {
            let open = self.open[at].name;
            if names.contains(&open) {
                return self.pop_to(at);
            }
            if walls.contains(&open) || is_boundary(open) {
                return;
            }
        }
    }

    fn close_in_table(&mut self, names: &[&str], walls: &[&str]) {
        for at in (0..self.open.len()).rev() {
            let open = self.open[at].name;
            if names.contains(&open) {
                return self.pop_to(at);
            }
            if open == "table" || walls.contains(&open) {
                return;
            }
        }
    }

    fn end_element(&mut self, name: &'static str) {
        if self.too_deep > 0 && !is_void(name) {
            self.too_deep -= 1;
            return;
        }
        if name == "br" {
            self.add_node("br", 0, 0);
            return;
        }
        // What follows the end of the body is still content.
        if matches!(name, "body" | "html") || is_void(name) {
            return;
        }
        let mut crosses_block = false;
        for at in (0..self.open.len()).rev() {
            let open = self.open[at].name;
            if open == name {
                if crosses_block && is_formatting(name) {
                    self.open[at].is_ended = true;
                } else {
                    self.pop_to(at);
                }
                return;
            }
            if is_boundary(open) && !(is_table_part(name) || name == "table") {
                return;
            }
            if open == "table" && name != "table" {
                return;
            }
            crosses_block |= is_block(open);
            if crosses_block && !is_block(name) && !is_formatting(name) && name != UNKNOWN {
                return;
            }
        }
    }

    /// Ends the open elements from `at` on, and those around them whose end tag has come.
    fn pop_to(&mut self, at: usize) {
        let mut at = at;
        while at > 0 && self.open[at - 1].is_ended {
            at -= 1;
        }
        self.open.truncate(at);
        self.foreign = self.open.iter().filter(|open| is_foreign_root(open.name)).count();
    }

    fn leave_foreign(&mut self) {
        if let Some(at) = self.open.iter().position(|open| is_foreign_root(open.name)) {
            self.pop_to(at);
        }
    }
}

fn is_foreign_root(name: &str) -> bool {
    matches!(name, "svg" | "math")
}

/// Whether the start tag of this element ends foreign content, which it cannot be part of.
fn breaks_out_of_foreign(name: &str) -> bool {
    is_block(name)
        || matches!(
            name,
            "b" | "big"
                | "br"
                | "code"
                | "em"
                | "embed"
                | "head"
                | "i"
                | "img"
                | "meta"
                | "ruby"
                | "s"
                | "small"
                | "span"
                | "strong"
                | "strike"
                | "sub"
                | "sup"
                | "tt"
                | "u"
                | "var"
        )
}
