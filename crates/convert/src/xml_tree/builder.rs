//! Builder of XML trees from events, within bounds.

use std::collections::HashMap;

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use super::namespaces::NamespaceScope;
use super::{NONE, TEXT, XmlRecord, XmlTree};
use crate::error::ConvertError;

/// The most elements inside each other. The readers follow them by recursion.
pub(super) const MAX_DEPTH: usize = 200;

/// The most elements and texts of a part.
const MAX_NODES: usize = 6_000_000;

/// Builds a tree from events.
pub(super) struct XmlBuilder {
    pub(super) tree: XmlTree,
    /// The open elements with their last child, the document itself first.
    pub(super) open: Vec<(u32, u32)>,
    ids: HashMap<String, u16>,
    /// Names as the document writes them, while the meaning of prefixes does not change. Attributes
    /// are apart: without a prefix they have no namespace.
    written: [HashMap<String, u16>; 2],
    scope: NamespaceScope,
}

impl XmlBuilder {
    pub(super) fn new(bytes: usize) -> Self {
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

    pub(super) fn open(&mut self, start: &BytesStart<'_>) -> Result<(), ConvertError> {
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

    pub(super) fn close(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
            if self.scope.leave(self.open.len()) {
                self.written.iter_mut().for_each(HashMap::clear);
            }
        }
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), ConvertError> {
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
