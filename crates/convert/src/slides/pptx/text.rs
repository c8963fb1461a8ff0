//! Text of PowerPoint: the paragraphs of a shape, with their levels and styles.

use std::rc::Rc;

use super::PptxReader;
use super::bullets::{PptxBullet, PptxLayout, PptxPlaceholder, bullet_of, levels_of};
use crate::ooxml::{alternative, is_on, math_text};
use crate::rich_text::{
    ListMarker, RichBlock, RichSpan, SpanContent, SpanStyle, is_blank, push_block,
};
use crate::word::number_format::format_number;
use crate::word::symbols::replace_symbols;
use crate::xml_tree::XmlNode;

/// How many levels text has.
const LEVELS: usize = 9;

impl PptxReader<'_> {
    /// The blocks of a text body.
    pub(super) fn text(
        &self,
        body: XmlNode<'_>,
        layout: &PptxLayout,
        placeholder: Option<&PptxPlaceholder>,
    ) -> Vec<RichBlock> {
        let own = body.child("a:lstStyle").map(levels_of).unwrap_or_default();
        let mut counters = [None::<u32>; LEVELS];
        let mut blocks = Vec::new();
        for paragraph in body.elements().filter(|node| node.name() == "a:p") {
            let spans = self.spans(paragraph);
            if is_blank(&spans) {
                continue;
            }
            let properties = paragraph.child("a:pPr");
            let level = properties.and_then(|node| node.attribute("lvl")?.parse().ok());
            let level = level.unwrap_or(0_usize).min(LEVELS - 1);
            let bullet = properties
                .and_then(bullet_of)
                .or_else(|| own[level].clone())
                .or_else(|| placeholder.map(|placeholder| layout.bullet(placeholder, level)))
                .unwrap_or(PptxBullet::Nothing);
            counters[level + 1..].fill(None);
            let marker = match bullet {
                PptxBullet::Number(format, start) => {
                    let number = counters[level].map_or(start, |number| number.saturating_add(1));
                    counters[level] = Some(number);
                    Some(numbered(number, &format))
                }
                PptxBullet::Sign => Some(ListMarker::Bullet),
                PptxBullet::Nothing => None,
            };
            if !matches!(marker, Some(ListMarker::Number(_) | ListMarker::Label(_))) {
                counters[level] = None;
            }
            let block = match marker {
                Some(marker) => RichBlock::Item { level: level as u8, marker, spans },
                None => RichBlock::Paragraph(spans),
            };
            push_block(&mut blocks, block);
        }
        blocks
    }

    /// The spans of a paragraph.
    pub(super) fn spans(&self, paragraph: XmlNode<'_>) -> Vec<RichSpan> {
        let mut spans = Vec::new();
        self.push_spans(paragraph, &mut spans);
        spans
    }

    fn push_spans(&self, node: XmlNode<'_>, spans: &mut Vec<RichSpan>) {
        for child in node.elements() {
            match child.name() {
                "a:r" | "a:fld" => {
                    let text = child.child("a:t").map(XmlNode::all_text).unwrap_or_default();
                    let properties = child.child("a:rPr");
                    let style = properties.map(run_style).unwrap_or_default();
                    let link = properties.and_then(|node| self.link(node));
                    let font =
                        properties.and_then(|node| node.child_attribute("a:sym", "typeface"));
                    let text = replace_symbols(text, font);
                    // A line break inside of a run is written as a vertical tab.
                    for (at, line) in text.split('\u{B}').enumerate() {
                        if at > 0 {
                            spans.push(RichSpan::plain(SpanContent::Break));
                        }
                        let content = SpanContent::Text(line.to_owned());
                        spans.push(RichSpan { content, style, link: link.clone() });
                    }
                }
                "a:br" => spans.push(RichSpan::plain(SpanContent::Break)),
                "mc:AlternateContent" => {
                    if let Some(branch) = alternative(child) {
                        self.push_spans(branch, spans);
                    }
                }
                "m:oMath" | "m:oMathPara" => {
                    spans.push(RichSpan::text(math_text(child), SpanStyle::default()));
                }
                name if name.ends_with(":m") => self.push_spans(child, spans),
                _ => {}
            }
        }
    }

    fn link(&self, properties: XmlNode<'_>) -> Option<Rc<str>> {
        let id = properties.child_attribute("a:hlinkClick", "r:id")?;
        self.relationships.address(id).map(Rc::from)
    }
}

fn run_style(properties: XmlNode<'_>) -> SpanStyle {
    let has = |name: &str| properties.attribute(name).is_some_and(|value| is_on(Some(value)));
    let strike = properties.attribute("strike").is_some_and(|strike| strike != "noStrike");
    let baseline = properties.attribute("baseline").and_then(|value| value.parse::<i32>().ok());
    SpanStyle::default()
        .with(SpanStyle::BOLD, has("b"))
        .with(SpanStyle::ITALIC, has("i"))
        .with(SpanStyle::STRIKE, strike)
        .with(SpanStyle::SUPERSCRIPT, baseline.is_some_and(|baseline| baseline > 0))
        .with(SpanStyle::SUBSCRIPT, baseline.is_some_and(|baseline| baseline < 0))
}

/// The marker of a number in a format of PowerPoint, such as `alphaLcParenR`.
fn numbered(number: u32, format: &str) -> ListMarker {
    let office = match format {
        format if format.starts_with("arabic") => return ListMarker::Number(number),
        format if format.starts_with("alphaLc") => "lowerLetter",
        format if format.starts_with("alphaUc") => "upperLetter",
        format if format.starts_with("romanLc") => "lowerRoman",
        format if format.starts_with("romanUc") => "upperRoman",
        format if format.starts_with("circleNum") => "decimalEnclosedCircle",
        format if format.starts_with("ea1Jpn") => "japaneseCounting",
        _ => return ListMarker::Number(number),
    };
    let text = format_number(number, office);
    ListMarker::Label(match format {
        format if format.ends_with("ParenBoth") => format!("({text})"),
        format if format.ends_with("ParenR") => format!("{text})"),
        format if format.ends_with("Period") => format!("{text}."),
        _ => text,
    })
}
