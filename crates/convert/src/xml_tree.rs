//! XML trees: a part of a document as elements and texts, within bounds of depth and size.
//!
//! Names have the usual prefix of their namespace (`w:p`), whichever prefix the document chose.
//! Nothing is expanded but the five predefined entities and character references.

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::decode::decode;
use crate::error::ConvertError;

mod builder;
mod namespaces;

#[cfg(test)]
mod tests;

use builder::XmlBuilder;

/// The most bytes of a part.
const MAX_BYTES: usize = 160 << 20;

/// No node.
const NONE: u32 = u32::MAX;

/// The name of texts, which no element has.
const TEXT: u16 = 0;

/// A parsed part. It owns the texts.
pub(crate) struct XmlTree {
    names: Vec<String>,
    nodes: Vec<XmlRecord>,
    attributes: Vec<(u16, u32, u32)>,
    texts: String,
}

/// An element or text. A text has its range in place of the attributes.
struct XmlRecord {
    name: u16,
    start: u32,
    end: u32,
    first_child: u32,
    next: u32,
}

/// An element or text of a tree.
#[derive(Clone, Copy)]
pub(crate) struct XmlNode<'t> {
    tree: &'t XmlTree,
    index: u32,
}

impl XmlTree {
    /// Parses a part; `part` is its name in messages.
    pub(crate) fn parse(bytes: &[u8], part: &str) -> Result<Self, ConvertError> {
        if bytes.len() > MAX_BYTES {
            return Err(ConvertError::over_limit(format!(
                "the part {part:?} has over {MAX_BYTES} bytes"
            )));
        }
        let text = match bytes {
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => decode(bytes, None),
            [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest),
            _ => String::from_utf8_lossy(bytes),
        };
        let broken = |flaw: &dyn std::fmt::Display| {
            ConvertError::damaged(format!("the part {part:?} is not well-formed XML: {flaw}"))
        };
        let mut builder = XmlBuilder::new(text.len());
        let mut reader = Reader::from_str(&text);
        loop {
            match reader.read_event().map_err(|flaw| broken(&flaw))? {
                Event::Start(start) => builder.open(&start)?,
                Event::Empty(start) => {
                    builder.open(&start)?;
                    builder.close();
                }
                Event::End(_) => builder.close(),
                Event::Text(text) => builder.text(&text.xml10_content())?,
                Event::CData(text) => builder.text(&text.xml10_content())?,
                Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                    Ok(Some(letter)) => builder.text(letter.encode_utf8(&mut [0; 4]))?,
                    _ => builder.text(&entity(&reference.xml10_content()))?,
                },
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
        if builder.open.len() > 1 {
            return Err(broken(&"it ends before its last element does"));
        }
        if builder.tree.nodes[0].first_child == NONE {
            return Err(broken(&"it has no element"));
        }
        Ok(builder.tree)
    }

    /// The outermost element.
    pub(crate) fn root(&self) -> XmlNode<'_> {
        let document = XmlNode { tree: self, index: 0 };
        document.elements().next().unwrap_or(document)
    }
}

/// What a predefined entity stands for. Others stay as they are written: a document cannot bring
/// its own.
fn entity(name: &str) -> String {
    match name {
        "amp" => "&".to_owned(),
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        other => format!("&{other};"),
    }
}

impl<'t> XmlNode<'t> {
    fn record(self) -> &'t XmlRecord {
        &self.tree.nodes[self.index as usize]
    }

    /// The name of an element; empty for a text.
    pub(crate) fn name(self) -> &'t str {
        &self.tree.names[usize::from(self.record().name)]
    }

    /// The content of a text.
    pub(crate) fn text(self) -> Option<&'t str> {
        let record = self.record();
        (record.name == TEXT).then(|| &self.tree.texts[record.start as usize..record.end as usize])
    }

    /// All children, texts among them.
    pub(crate) fn children(self) -> impl Iterator<Item = Self> {
        let tree = self.tree;
        let mut next = self.record().first_child;
        std::iter::from_fn(move || {
            (next != NONE).then(|| {
                let child = XmlNode { tree, index: next };
                next = child.record().next;
                child
            })
        })
    }

    /// The children that are elements.
    pub(crate) fn elements(self) -> impl Iterator<Item = Self> {
        self.children().filter(|child| child.record().name != TEXT)
    }

    /// The first child with this name.
    pub(crate) fn child(self, name: &str) -> Option<Self> {
        self.elements().find(|child| child.name() == name)
    }

    /// The first element with this name at any depth, in the order of the document.
    pub(crate) fn descendant(self, name: &str) -> Option<Self> {
        self.elements().find_map(|child| {
            if child.name() == name { Some(child) } else { child.descendant(name) }
        })
    }

    /// All elements with this name at any depth, not looking inside those that are found.
    pub(crate) fn descendants(self, name: &str) -> Vec<Self> {
        let mut found = Vec::new();
        self.find_all(name, &mut found);
        found
    }

    fn find_all(self, name: &str, found: &mut Vec<Self>) {
        for child in self.elements() {
            if child.name() == name {
                found.push(child);
            } else {
                child.find_all(name, found);
            }
        }
    }

    /// The value of an attribute.
    pub(crate) fn attribute(self, name: &str) -> Option<&'t str> {
        let record = self.record();
        if record.name == TEXT {
            return None;
        }
        let attributes = &self.tree.attributes[record.start as usize..record.end as usize];
        let names = &self.tree.names;
        let found = attributes.iter().find(|(at, ..)| names[usize::from(*at)] == name)?;
        Some(&self.tree.texts[found.1 as usize..found.2 as usize])
    }

    /// The value of an attribute of the first child with this name.
    pub(crate) fn child_attribute(self, child: &str, attribute: &str) -> Option<&'t str> {
        self.child(child)?.attribute(attribute)
    }

    /// All texts inside, in order.
    pub(crate) fn all_text(self) -> String {
        let mut all = String::new();
        self.collect_text(&mut all);
        all
    }

    fn collect_text(self, all: &mut String) {
        for child in self.children() {
            match child.text() {
                Some(text) => all.push_str(text),
                None => child.collect_text(all),
            }
        }
    }
}
