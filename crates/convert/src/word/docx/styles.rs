//! Styles of a Word document: which are headings, lists, code or quotes.

use std::collections::HashMap;

use crate::ooxml::is_on;
use crate::rich_text::SpanStyle;
use crate::word::style_names::{heading_level, is_code, is_quote, list_of_style};
use crate::xml_tree::XmlNode;

/// The longest chain of styles that is followed; a longer one is a circle.
const MAX_CHAIN: usize = 16;

/// The styles of a document by id.
#[derive(Default)]
pub(super) struct DocxStyles {
    traits: HashMap<String, DocxTraits>,
    /// The style of paragraphs that name none.
    default_paragraph: Option<String>,
}

/// What a style means.
#[derive(Default, Clone)]
pub(super) struct DocxTraits {
    /// The level of a heading.
    pub(super) heading: Option<u8>,
    pub(super) is_code: bool,
    pub(super) is_quote: bool,
    /// The list: the numbering and, if it says so, the level.
    pub(super) list: Option<(String, Option<u8>)>,
    /// The list by name: whether it counts, and its level.
    pub(super) named_list: Option<(bool, u8)>,
    /// The style of its text, of a character style.
    pub(super) span: SpanStyle,
}

/// A style as it is written, before its chain is followed.
struct DocxStyle<'t> {
    name: String,
    parent: Option<&'t str>,
    outline: Option<u8>,
    list: Option<(String, Option<u8>)>,
    run: Option<XmlNode<'t>>,
}

impl DocxStyles {
    /// Reads the styles part.
    pub(super) fn read(root: XmlNode<'_>) -> Self {
        let mut written: HashMap<&str, DocxStyle<'_>> = HashMap::new();
        let mut default_paragraph = None;
        for node in root.elements().filter(|node| node.name() == "w:style") {
            let Some(id) = node.attribute("w:styleId") else { continue };
            let is_paragraph = node.attribute("w:type") == Some("paragraph");
            if is_paragraph && matches!(node.attribute("w:default"), Some("1" | "true" | "on")) {
                default_paragraph = Some(id.to_owned());
            }
            let paragraph = node.child("w:pPr");
            let style = DocxStyle {
                name: node.child_attribute("w:name", "w:val").unwrap_or(id).to_lowercase(),
                parent: node.child_attribute("w:basedOn", "w:val"),
                outline: paragraph.and_then(outline_level),
                list: paragraph.and_then(numbering),
                run: node.child("w:rPr"),
            };
            written.insert(id, style);
        }
        let resolved = written.keys().map(|id| ((*id).to_owned(), resolve(id, &written)));
        Self { traits: resolved.collect(), default_paragraph }
    }

    /// What the style with this id means; the default of paragraphs without one.
    pub(super) fn paragraph(&self, id: Option<&str>) -> DocxTraits {
        let id = id.or(self.default_paragraph.as_deref());
        let known = id.and_then(|id| self.traits.get(id)).cloned();
        // Documents without a styles part still name the usual styles.
        known.unwrap_or_else(|| {
            let name = id.unwrap_or_default().to_lowercase();
            DocxTraits { heading: heading_level(&name), ..DocxTraits::default() }
        })
    }

    /// The style of text with the character style `id`.
    pub(super) fn span(&self, id: &str) -> SpanStyle {
        self.traits.get(id).map(|traits| traits.span).unwrap_or_default()
    }
}

fn resolve(id: &str, written: &HashMap<&str, DocxStyle<'_>>) -> DocxTraits {
    let mut chain = Vec::new();
    let mut next = Some(id);
    while let Some(style) = next.and_then(|id| written.get(id))
        && chain.len() < MAX_CHAIN
    {
        chain.push(style);
        next = style.parent;
    }
    // Level 10 is that of body text: a style that says so is no heading, whatever it is based on.
    let heading = chain.iter().find_map(|style| match style.outline {
        Some(level) => Some((level < 9).then_some(level + 1)),
        None => heading_level(&style.name).map(Some),
    });
    let own = chain.first();
    let mut span = SpanStyle::default();
    for style in chain.iter().rev() {
        if let Some(run) = style.run {
            span = run_style(run, span);
        }
    }
    if own.is_some_and(|style| is_code(&style.name)) {
        span = span.with(SpanStyle::CODE, true);
    }
    DocxTraits {
        heading: heading.flatten(),
        is_code: chain.iter().any(|style| is_code(&style.name)),
        is_quote: chain.iter().any(|style| is_quote(&style.name)),
        list: chain.iter().find_map(|style| style.list.clone()),
        named_list: chain.iter().find_map(|style| list_of_style(&style.name)),
        span,
    }
}

/// The outline level that paragraph properties give, from 0; 9 is body text.
pub(super) fn outline_level(properties: XmlNode<'_>) -> Option<u8> {
    properties.child_attribute("w:outlineLvl", "w:val")?.parse().ok().filter(|level| *level < 10)
}

/// The numbering that paragraph properties give, and its level.
pub(super) fn numbering(properties: XmlNode<'_>) -> Option<(String, Option<u8>)> {
    let list = properties.child("w:numPr")?;
    let level = list.child_attribute("w:ilvl", "w:val").and_then(|level| level.parse().ok());
    let id = list.child_attribute("w:numId", "w:val").unwrap_or_default();
    Some((id.to_owned(), level.map(|level: u8| level.min(8))))
}

/// The style that run properties make of `style`.
pub(super) fn run_style(properties: XmlNode<'_>, mut style: SpanStyle) -> SpanStyle {
    for node in properties.elements() {
        let value = node.attribute("w:val");
        style = match node.name() {
            "w:b" => style.with(SpanStyle::BOLD, is_on(value)),
            "w:i" => style.with(SpanStyle::ITALIC, is_on(value)),
            "w:strike" | "w:dstrike" => style.with(SpanStyle::STRIKE, is_on(value)),
            "w:vertAlign" => style
                .with(SpanStyle::SUPERSCRIPT, value == Some("superscript"))
                .with(SpanStyle::SUBSCRIPT, value == Some("subscript")),
            _ => style,
        };
    }
    style
}
