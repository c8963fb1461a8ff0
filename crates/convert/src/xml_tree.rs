//! XML trees: a part of a document as elements and texts, within bounds of depth and size.
//!
//! Names have the usual prefix of their namespace (`w:p`), whichever prefix the document chose.
//! Nothing is expanded but the five predefined entities and character references.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use crate::decode::decode;
use crate::error::ConvertError;

mod namespaces;

use namespaces::NamespaceScope;

/// The most elements inside each other. The readers follow them by recursion.
const MAX_DEPTH: usize = 200;

/// The most elements and texts of a part.
const MAX_NODES: usize = 6_000_000;

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

/// Builds a tree from events.
struct XmlBuilder {
    tree: XmlTree,
    /// The open elements with their last child, the document itself first.
    open: Vec<(u32, u32)>,
    ids: HashMap<String, u16>,
    /// Names as the document writes them, while the meaning of prefixes does not change. Attributes
    /// are apart: without a prefix they have no namespace.
    written: [HashMap<String, u16>; 2],
    scope: NamespaceScope,
}

impl XmlBuilder {
    fn new(bytes: usize) -> Self {
        let document = XmlRecord { name: 1, start: 0, end: 0, first_child: NONE, next: NONE };
        let tree = XmlTree {
            names: vec![String::new(), "#document".to_owned()],
            nodes: vec![document],
            attributes: Vec::new(),
            texts: String::with_capacity(bytes / 4),
        };
        Self {
            tree,
            open: vec![(0, NONE)],
            ids: HashMap::new(),
            written: Default::default(),
            scope: NamespaceScope::default(),
        }
    }

    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), ConvertError> {
        if self.open.len() > MAX_DEPTH {
            return Err(ConvertError::over_limit(format!(
                "the document nests elements over {MAX_DEPTH} deep"
            )));
        }
        self.declare(start);
        let name = self.name_id(start.name().0, false)?;
        let first = self.tree.attributes.len();
        for attribute in start.attributes().with_checks(false).flatten() {
            let key = attribute.key.0;
            if key == "xmlns" || key.starts_with("xmlns:") {
                continue;
            }
            let id = self.name_id(key, true)?;
            let from = self.tree.texts.len();
            match attribute.normalized_value(XmlVersion::Implicit1_0) {
                Ok(value) => self.tree.texts.push_str(&value),
                Err(_) => self.tree.texts.push_str(&attribute.value),
            }
            self.tree.attributes.push((id, from as u32, self.tree.texts.len() as u32));
        }
        let range = (first as u32, self.tree.attributes.len() as u32);
        let index = self.append(name, range)?;
        self.open.push((index, NONE));
        Ok(())
    }

    fn declare(&mut self, start: &BytesStart<'_>) {
        let depth = self.open.len();
        if !start.attributes_raw().contains("xmlns") {
            return;
        }
        for attribute in start.attributes().with_checks(false).flatten() {
            let key = attribute.key.0;
            let prefix = match key.strip_prefix("xmlns") {
                Some("") => "",
                Some(rest) if rest.starts_with(':') => &rest[1..],
                _ => continue,
            };
            if self.scope.bind(prefix, &attribute.value, depth) {
                self.written.iter_mut().for_each(HashMap::clear);
            }
        }
    }

    fn close(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
            if self.scope.leave(self.open.len()) {
                self.written.iter_mut().for_each(HashMap::clear);
            }
        }
    }

    fn text(&mut self, text: &str) -> Result<(), ConvertError> {
        if text.is_empty() || self.open.len() < 2 {
            return Ok(());
        }
        let start = self.tree.texts.len() as u32;
        self.tree.texts.push_str(text);
        let end = self.tree.texts.len() as u32;
        if let Some((_, last)) = self.open.last()
            && let Some(record) = self.tree.nodes.get_mut(*last as usize)
            && record.name == TEXT
            && record.end == start
        {
            record.end = end;
            return Ok(());
        }
        self.append(TEXT, (start, end)).map(drop)
    }

    fn append(&mut self, name: u16, (start, end): (u32, u32)) -> Result<u32, ConvertError> {
        if self.tree.nodes.len() >= MAX_NODES || self.tree.texts.len() >= NONE as usize {
            return Err(ConvertError::over_limit(format!(
                "a part of the document has over {MAX_NODES} elements"
            )));
        }
        let index = self.tree.nodes.len() as u32;
        self.tree.nodes.push(XmlRecord { name, start, end, first_child: NONE, next: NONE });
        if let Some((parent, last)) = self.open.last_mut() {
            match *last {
                NONE => self.tree.nodes[*parent as usize].first_child = index,
                last => self.tree.nodes[last as usize].next = index,
            }
            *last = index;
        }
        Ok(index)
    }

    fn name_id(&mut self, written: &str, is_attribute: bool) -> Result<u16, ConvertError> {
        if let Some(id) = self.written[usize::from(is_attribute)].get(written) {
            return Ok(*id);
        }
        let (prefix, local) = written.split_once(':').unwrap_or(("", written));
        let usual = match prefix {
            "" if is_attribute => "",
            prefix => self.scope.prefix(prefix).unwrap_or(prefix),
        };
        let name = if usual.is_empty() { local.to_owned() } else { format!("{usual}:{local}") };
        let id = match self.ids.get(&name) {
            Some(id) => *id,
            None => {
                let id = u16::try_from(self.tree.names.len()).map_err(|_| {
                    ConvertError::over_limit("a part of the document has over 65,535 names")
                })?;
                self.tree.names.push(name.clone());
                self.ids.insert(name, id);
                id
            }
        };
        self.written[usize::from(is_attribute)].insert(written.to_owned(), id);
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, XmlTree};
    use crate::error::ConvertErrorKind;

    const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

    #[test]
    fn names_have_the_usual_prefix_whatever_the_document_calls_it() {
        let strict = "http://purl.oclc.org/ooxml/wordprocessingml/main";
        let text = format!(
            "<body xmlns='{WORD}' xmlns:q='{strict}'><q:p q:val='1 &amp; 2' id='3'>a&lt;b&#x3042;\
             <x xmlns='urn:other'/><r/></q:p></body>"
        );
        let tree = XmlTree::parse(text.as_bytes(), "part").unwrap();
        let root = tree.root();
        assert_eq!(root.name(), "w:body");
        let p = root.child("w:p").unwrap();
        assert_eq!((p.attribute("w:val"), p.attribute("id")), (Some("1 & 2"), Some("3")));
        assert_eq!(p.all_text(), "a<bあ");
        let names: Vec<&str> = p.elements().map(|node| node.name()).collect();
        assert_eq!(names, ["x", "w:r"]);
        assert!(root.descendant("w:r").is_some() && root.descendants("w:p").len() == 1);
    }

    #[test]
    fn an_entity_of_the_document_stays_as_it_is_written() {
        let text = "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a b='&x;'>&x;</a>";
        let tree = XmlTree::parse(text.as_bytes(), "part").unwrap();
        assert_eq!(tree.root().all_text(), "&x;");
        assert_eq!(tree.root().attribute("b"), Some("&x;"));
    }

    #[test]
    fn broken_and_deep_parts_are_told_apart() {
        let kind = |text: &str| XmlTree::parse(text.as_bytes(), "part").err().map(|e| e.kind);
        assert_eq!(kind("<a><b></a>"), Some(ConvertErrorKind::Damaged));
        assert_eq!(kind("<a>"), Some(ConvertErrorKind::Damaged));
        assert_eq!(kind(""), Some(ConvertErrorKind::Damaged));
        assert_eq!(kind(&"<a>".repeat(MAX_DEPTH + 1)), Some(ConvertErrorKind::OverLimit));
        let deep = format!("{}{}", "<a>".repeat(MAX_DEPTH), "</a>".repeat(MAX_DEPTH));
        assert_eq!(kind(&deep), None);
    }
}
