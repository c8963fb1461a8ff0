//! The list of the parts of a book (OPF): title, authors, parts, order of reading.

use std::collections::{HashMap, HashSet};

use resource::words_on_one_line;

use crate::error::ConvertError;
use crate::markdown::escape;
use crate::part_path::{percent_decoded, resolve_part};
use crate::xml_reader::{XmlEvent, XmlPartReader};

/// What the list of parts says.
#[derive(Debug, Default)]
pub(super) struct OpfPackage {
    title: String,
    authors: Vec<String>,
    /// The pages, in the order of reading.
    pub(super) spine: Vec<OpfItem>,
    /// The page with the table of contents (EPUB 3).
    pub(super) navigation: Option<String>,
    /// The part with the table of contents (EPUB 2).
    pub(super) ncx: Option<String>,
}

/// A part of the book.
#[derive(Debug, Clone)]
pub(super) struct OpfItem {
    pub(super) path: String,
    mime: String,
}

impl OpfItem {
    /// Whether the part is a page of text.
    pub(super) fn is_page(&self) -> bool {
        matches!(self.mime.as_str(), "application/xhtml+xml" | "text/html" | "text/x-oeb1-document")
    }
}

impl OpfPackage {
    /// Title and authors, as the beginning of the book.
    pub(super) fn head(&self) -> String {
        if self.title.is_empty() {
            return String::new();
        }
        let mut head = format!("# {}\n\n", escape(&self.title));
        for author in &self.authors {
            head.push_str(&format!("- Author: {}\n", escape(author)));
        }
        if !self.authors.is_empty() {
            head.push('\n');
        }
        head
    }
}

/// Parses the list of parts at `path`.
pub(super) fn parse_opf(text: &str, path: &str) -> Result<OpfPackage, ConvertError> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut reader = XmlPartReader::new(text);
    let mut opf = OpfPackage::default();
    let mut items = HashMap::new();
    let mut order = Vec::new();
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(start) = event else { continue };
        match start.name() {
            "title" if opf.title.is_empty() => opf.title = words_on_one_line(&reader.text()?),
            "creator" => opf.authors.push(words_on_one_line(&reader.text()?)),
            "item" => {
                let href = percent_decoded(&start.attribute("href").unwrap_or_default());
                let path = resolve_part(folder, &href);
                let mime = start.attribute("media-type").unwrap_or_default();
                let properties = start.attribute("properties").unwrap_or_default();
                if properties.split_whitespace().any(|word| word == "nav") {
                    opf.navigation = Some(path.clone());
                }
                if mime == "application/x-dtbncx+xml" {
                    opf.ncx = Some(path.clone());
                }
                let id = start.attribute("id").unwrap_or_default();
                items.insert(id, OpfItem { path, mime: mime.trim().to_ascii_lowercase() });
            }
            "itemref" => order.extend(start.attribute("idref")),
            _ => {}
        }
    }
    // A page comes once, however often and under however many names the order has it.
    let mut seen = HashSet::new();
    let pages = order.iter().filter_map(|id| items.remove(id));
    opf.spine = pages.filter(|item| seen.insert(item.path.clone())).collect();
    Ok(opf)
}
