//! Paragraphs of a Word document: headings, items of lists, code and text.

use std::rc::Rc;

use super::styles::{DocxTraits, numbering, outline_level};
use super::{DocxReader, NOTE_PARTS};
use crate::error::ConvertError;
use crate::ooxml::{alternative, math_text};
use crate::rich_text::{
    ListMarker, RichBlock, RichSpan, SpanContent, SpanStyle, code_text, is_blank, push_block,
};
use crate::word::field_code::link_of;
use crate::xml_tree::XmlNode;

/// A paragraph while it is read.
#[derive(Default)]
pub(super) struct DocxLine {
    pub(super) spans: Vec<RichSpan>,
    /// Text boxes and the like, which follow the paragraph they are anchored in.
    pub(super) after: Vec<RichBlock>,
    /// Where the text leads.
    pub(super) link: Option<Rc<str>>,
    /// Whether the text is in the font of code but for these spans.
    pub(super) has_other_font: bool,
}

impl DocxReader<'_> {
    /// Reads a paragraph and what is anchored in it.
    pub(super) fn paragraph(
        &mut self,
        node: XmlNode<'_>,
        blocks: &mut Vec<RichBlock>,
    ) -> Result<(), ConvertError> {
        let properties = node.child("w:pPr");
        let mut line = DocxLine { spans: std::mem::take(&mut self.carried), ..DocxLine::default() };
        self.inlines(node, &mut line)?;
        if properties.is_some_and(leaves_to_next) {
            self.carried = line.spans;
        } else {
            let block = self.block_of(properties, line.spans, line.has_other_font);
            push_block(blocks, block);
        }
        line.after.into_iter().for_each(|block| push_block(blocks, block));
        Ok(())
    }

    fn block_of(
        &mut self,
        properties: Option<XmlNode<'_>>,
        mut spans: Vec<RichSpan>,
        has_other_font: bool,
    ) -> RichBlock {
        let style = properties.and_then(|node| node.child_attribute("w:pStyle", "w:val"));
        let traits = self.styles.paragraph(style);
        let (marker, level) = self.marker(properties, style, &traits);
        if is_blank(&spans) {
            // A number alone in a cell counts the rows of a table.
            let label = marker.filter(|_| self.cells > 0).and_then(heading_label);
            return RichBlock::plain(label.unwrap_or_default());
        }
        if traits.is_code {
            return RichBlock::Code(code_text(&spans));
        }
        if !has_other_font {
            // A font of code says nothing where all of a paragraph has it.
            let plain = |span: &mut RichSpan| span.style = span.style.with(SpanStyle::CODE, false);
            spans.iter_mut().for_each(plain);
        }
        let outline = properties.and_then(outline_level);
        let heading = match outline {
            Some(level) => (level < 9).then_some(level + 1),
            None => traits.heading,
        };
        match (heading, marker) {
            (Some(level), marker) => {
                if let Some(label) = marker.and_then(heading_label) {
                    spans.insert(0, RichSpan::text(label, SpanStyle::default()));
                }
                RichBlock::Heading { level, spans }
            }
            (None, Some(marker)) => RichBlock::Item { level, marker, spans },
            (None, None) if traits.is_quote => RichBlock::Quote(vec![RichBlock::Paragraph(spans)]),
            (None, None) => RichBlock::Paragraph(spans),
        }
    }

    /// Counts a paragraph: what stands before it, and the level of its list.
    fn marker(
        &mut self,
        properties: Option<XmlNode<'_>>,
        style: Option<&str>,
        traits: &DocxTraits,
    ) -> (Option<ListMarker>, u8) {
        let list = properties.and_then(numbering).or_else(|| traits.list.clone());
        match (list, traits.named_list) {
            (Some((id, level)), named) if id != "0" && !id.is_empty() => {
                let of_style = || self.numbering.level_of_style(&id, style);
                let level = level.or_else(of_style).unwrap_or(0);
                (self.numbering.next(&id, level), level.max(named.map_or(0, |named| named.1)))
            }
            (None, Some((false, level))) => (Some(ListMarker::Bullet), level),
            (None, Some((true, level))) => (Some(ListMarker::Number(1)), level),
            (Some(_), _) | (None, None) => (None, 0),
        }
    }

    /// Reads the runs inside of `node`.
    pub(super) fn inlines(
        &mut self,
        node: XmlNode<'_>,
        line: &mut DocxLine,
    ) -> Result<(), ConvertError> {
        for child in node.elements() {
            match child.name() {
                "w:r" => self.run(child, line)?,
                "w:hyperlink" => {
                    let before = std::mem::replace(&mut line.link, self.hyperlink(child));
                    self.inlines(child, line)?;
                    line.link = before;
                }
                "w:fldSimple" => {
                    let link = link_of(child.attribute("w:instr").unwrap_or_default());
                    let before = line.link.clone();
                    line.link = link.or(line.link.take());
                    self.inlines(child, line)?;
                    line.link = before;
                }
                "w:sdt" => {
                    if let Some(content) = child.child("w:sdtContent") {
                        self.inlines(content, line)?;
                    }
                }
                "w:ins" | "w:moveTo" | "w:smartTag" | "w:customXml" | "w:dir" | "w:bdo" => {
                    self.inlines(child, line)?;
                }
                "mc:AlternateContent" => {
                    if let Some(branch) = alternative(child) {
                        self.inlines(branch, line)?;
                    }
                }
                "m:oMath" | "m:oMathPara" => {
                    let text = math_text(child);
                    line.spans.push(RichSpan::text(text, SpanStyle::default()));
                }
                "w:bookmarkStart" => {
                    let name = child.attribute("w:name").filter(|name| *name != "_GoBack");
                    if let Some(name) = name {
                        let anchor = SpanContent::Anchor(name.to_owned());
                        line.spans.push(RichSpan::plain(anchor));
                    }
                }
                "w:subDoc" => {
                    self.lose("the document includes another file, which is not shown".to_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Where a hyperlink leads.
    fn hyperlink(&self, node: XmlNode<'_>) -> Option<Rc<str>> {
        let place = node.attribute("w:anchor");
        let address = node.attribute("r:id").and_then(|id| self.relationships.address(id));
        match (address, place) {
            (Some(address), Some(place)) if !address.contains('#') => {
                Some(format!("{address}#{place}").into())
            }
            (Some(address), _) => Some(address.into()),
            (None, Some(place)) => Some(format!("#{place}").into()),
            (None, None) => None,
        }
    }

    /// Appends the mark of a note.
    pub(super) fn note_mark(&mut self, node: XmlNode<'_>, line: &mut DocxLine) {
        let kind = node.name().trim_start_matches("w:").trim_end_matches("Reference");
        let place = NOTE_PARTS.iter().position(|(_, name, _)| name.ends_with(kind));
        if let (Some(place), Some(id)) = (place, node.attribute("w:id")) {
            let label = self.label(place, id);
            line.spans.push(RichSpan::plain(SpanContent::Note(label)));
        }
    }
}

/// The number of a heading as its text shows it.
fn heading_label(marker: ListMarker) -> Option<String> {
    match marker {
        ListMarker::Number(number) => Some(format!("{number}. ")),
        ListMarker::Label(label) => Some(format!("{label} ")),
        ListMarker::Bullet | ListMarker::Continuation => None,
    }
}

/// Whether the text of a paragraph goes on in the next: its mark is deleted, or it is an initial.
fn leaves_to_next(properties: XmlNode<'_>) -> bool {
    let mark = properties.child("w:rPr");
    let is_deleted = mark
        .is_some_and(|mark| mark.child("w:del").is_some() || mark.child("w:moveFrom").is_some());
    let is_initial = properties.child_attribute("w:framePr", "w:dropCap");
    is_deleted || is_initial.is_some_and(|kind| kind != "none")
}
