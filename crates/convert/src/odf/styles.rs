//! Styles of an OpenDocument: which are headings, code or quotes, and how text looks.

use std::collections::HashMap;

use crate::rich_text::SpanStyle;
use crate::word::style_names::{heading_level, is_code, is_code_font, is_quote};
use crate::xml_tree::XmlNode;

/// The longest chain of styles that is followed; a longer one is a circle.
const MAX_CHAIN: usize = 16;

/// The styles of a document by family and name.
#[derive(Default)]
pub(crate) struct OdfStyles {
    styles: HashMap<String, OdfStyle>,
}

struct OdfStyle {
    /// The name that editors show, in small letters.
    name: String,
    parent: Option<String>,
    /// What is on and what is off.
    on: SpanStyle,
    off: SpanStyle,
    is_hidden: bool,
}

/// What a paragraph is by its style.
#[derive(Default)]
pub(crate) struct OdfTraits {
    pub(crate) heading: Option<u8>,
    pub(crate) is_code: bool,
    pub(crate) is_quote: bool,
}

impl OdfStyles {
    /// Reads the styles inside of `node`.
    pub(super) fn read(&mut self, node: XmlNode<'_>) {
        for node in node.elements().filter(|node| node.name() == "style:style") {
            let Some(name) = node.attribute("style:name") else { continue };
            let family = node.attribute("style:family").unwrap_or_default();
            let shown = node.attribute("style:display-name").unwrap_or(name);
            let text = node.child("style:text-properties");
            let (on, off) = text.map(changes).unwrap_or_default();
            let page =
                node.child_attribute("style:drawing-page-properties", "presentation:visibility");
            let style = OdfStyle {
                name: shown.replace("_20_", " ").to_lowercase(),
                parent: node.attribute("style:parent-style-name").map(str::to_owned),
                on,
                off,
                is_hidden: page == Some("hidden"),
            };
            self.styles.insert(format!("{family}/{name}"), style);
        }
    }

    /// The style and those it is based on.
    fn chain(&self, family: &str, name: &str) -> Vec<&OdfStyle> {
        let mut chain = Vec::new();
        let mut next = Some(name);
        while let Some(name) = next
            && let Some(style) = self.styles.get(&format!("{family}/{name}"))
            && chain.len() < MAX_CHAIN
        {
            chain.push(style);
            next = style.parent.as_deref();
        }
        chain
    }

    /// What a paragraph with this style is.
    pub(crate) fn paragraph(&self, name: &str) -> OdfTraits {
        let chain = self.chain("paragraph", name);
        if chain.is_empty() {
            // The name of a style that the document does not define.
            let name = name.replace("_20_", " ").to_lowercase();
            let heading = heading_level(&name);
            return OdfTraits { heading, is_code: is_code(&name), is_quote: is_quote(&name) };
        }
        OdfTraits {
            heading: chain.iter().find_map(|style| heading_level(&style.name)),
            is_code: chain.iter().any(|style| is_code(&style.name)),
            is_quote: chain.iter().any(|style| is_quote(&style.name)),
        }
    }

    /// The style of text inside of text with `outer`.
    pub(crate) fn span(&self, name: &str, outer: SpanStyle) -> SpanStyle {
        let mut style = outer;
        for part in self.chain("text", name).iter().rev() {
            style = style.with(part.off, false).with(part.on, true);
            style = style.with(SpanStyle::CODE, style.has(SpanStyle::CODE) || is_code(&part.name));
        }
        style
    }

    /// Whether a slide with this style is hidden.
    pub(crate) fn is_hidden(&self, name: &str) -> bool {
        self.chain("drawing-page", name).iter().any(|style| style.is_hidden)
    }
}

/// What text properties turn on and off.
fn changes(node: XmlNode<'_>) -> (SpanStyle, SpanStyle) {
    let (mut on, mut off) = (SpanStyle::default(), SpanStyle::default());
    let mut set = |style: SpanStyle, is_on: Option<bool>| match is_on {
        Some(true) => on = on.with(style, true),
        Some(false) => off = off.with(style, true),
        None => {}
    };
    let weight = node.attribute("fo:font-weight");
    let is_bold =
        |weight: &str| weight == "bold" || weight.parse::<u16>().is_ok_and(|at| at >= 600);
    set(SpanStyle::BOLD, weight.map(is_bold));
    set(SpanStyle::ITALIC, node.attribute("fo:font-style").map(|style| style != "normal"));
    let line = node.attribute("style:text-line-through-style");
    set(SpanStyle::STRIKE, line.map(|line| line != "none"));
    let position = node.attribute("style:text-position");
    let is_at = |word: &str| position.map(|position| position.starts_with(word));
    set(SpanStyle::SUPERSCRIPT, is_at("super"));
    set(SpanStyle::SUBSCRIPT, is_at("sub"));
    let font = node.attribute("style:font-name").or(node.attribute("fo:font-family"));
    set(SpanStyle::CODE, font.map(is_code_font));
    (on, off)
}
