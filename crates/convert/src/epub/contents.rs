//! The table of contents of a book: titles of chapters by the path of their page.
//!
//! What is broken here costs titles, not text, so it is passed over.

use std::collections::HashMap;

use crate::part_path::{percent_decoded, resolve_part};
use crate::xml_reader::{XmlEvent, XmlPartReader};

/// The titles in the page with the table of contents (EPUB 3).
pub(super) fn navigation_titles(text: &str, folder: &str) -> HashMap<String, String> {
    let mut reader = XmlPartReader::of_piece(text);
    let mut titles = HashMap::new();
    let mut is_contents = false;
    while let Ok(Some(event)) = reader.next() {
        let XmlEvent::Start(start) = event else { continue };
        match start.name() {
            "nav" => {
                let kind = start.attribute("type").unwrap_or_default();
                is_contents = kind.is_empty() || kind.split_whitespace().any(|word| word == "toc");
            }
            "a" if is_contents => {
                let target = start.attribute("href").unwrap_or_default();
                let Ok(title) = reader.text() else { break };
                add(&mut titles, folder, &target, &title);
            }
            _ => {}
        }
    }
    titles
}

/// The titles in the table of contents of EPUB 2.
pub(super) fn ncx_titles(text: &str, folder: &str) -> HashMap<String, String> {
    let mut reader = XmlPartReader::of_piece(text);
    let mut titles = HashMap::new();
    let mut title = String::new();
    while let Ok(Some(event)) = reader.next() {
        let XmlEvent::Start(start) = event else { continue };
        match start.name() {
            "navLabel" => {
                let Ok(label) = reader.text() else { break };
                title = label;
            }
            "content" => {
                let target = start.attribute("src").unwrap_or_default();
                add(&mut titles, folder, &target, &title);
            }
            _ => {}
        }
    }
    titles
}

/// Adds a title; the first one that points into a page is its title.
fn add(titles: &mut HashMap<String, String>, folder: &str, target: &str, title: &str) {
    let page = target.split('#').next().unwrap_or(target);
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if !page.is_empty() && !title.is_empty() {
        let path = resolve_part(folder, &percent_decoded(page));
        titles.entry(path).or_insert(title);
    }
}
