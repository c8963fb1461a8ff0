//! Lines of an OpenDocument: text with its styles, and what stands among it.

use std::rc::Rc;

use super::{OdfReader, annotation_lead};
use crate::error::ConvertError;
use crate::rich_text::{RichBlock, RichSpan, SpanContent, SpanStyle, ruby};
use crate::xml_tree::XmlNode;

/// A paragraph while it is read.
#[derive(Default)]
pub(crate) struct OdfLine {
    pub(crate) spans: Vec<RichSpan>,
    /// Text boxes and the like, which follow the paragraph they are anchored in.
    pub(crate) after: Vec<RichBlock>,
    style: SpanStyle,
    pub(super) link: Option<Rc<str>>,
    /// Whether some text is not in the font of code.
    pub(super) has_other_font: bool,
}

impl OdfLine {
    fn text(&mut self, text: &str) {
        self.has_other_font |= !self.style.has(SpanStyle::CODE) && !text.trim().is_empty();
        self.push(SpanContent::Text(text.to_owned()));
    }

    pub(super) fn push(&mut self, content: SpanContent) {
        self.spans.push(RichSpan { content, style: self.style, link: self.link.clone() });
    }
}

impl OdfReader<'_> {
    /// Reads the text inside of `node`.
    pub(super) fn inlines(
        &mut self,
        node: XmlNode<'_>,
        line: &mut OdfLine,
    ) -> Result<(), ConvertError> {
        for child in node.children() {
            match child.text() {
                Some(text) => line.text(text),
                None => self.inline(child, line)?,
            }
        }
        Ok(())
    }

    fn inline(&mut self, node: XmlNode<'_>, line: &mut OdfLine) -> Result<(), ConvertError> {
        match node.name() {
            "text:span" => {
                let outer = line.style;
                let name = node.attribute("text:style-name").unwrap_or_default();
                line.style = self.styles.span(name, outer);
                self.inlines(node, line)?;
                line.style = outer;
            }
            "text:a" => {
                let outer = line.link.clone();
                line.link = node.attribute("xlink:href").map(Rc::from);
                self.inlines(node, line)?;
                line.link = outer;
            }
            "text:s" => line.text(" "),
            "text:tab" => line.text("\t"),
            "text:line-break" => line.push(SpanContent::Break),
            "text:ruby" => {
                let mut parts = [OdfLine::default(), OdfLine::default()];
                for (part, name) in parts.iter_mut().zip(["text:ruby-base", "text:ruby-text"]) {
                    if let Some(content) = node.child(name) {
                        self.inlines(content, part)?;
                    }
                }
                line.has_other_font = true;
                line.push(ruby(&parts[0].spans, &parts[1].spans));
            }
            "text:note" => {
                let label = self.next_label(false);
                line.push(SpanContent::Note(label.clone()));
                let body = node.child("text:note-body");
                self.read_note(label, String::new(), |reader| {
                    body.map_or(Ok(Vec::new()), |body| reader.blocks(body))
                })?;
            }
            "office:annotation" => {
                let label = self.next_label(true);
                line.push(SpanContent::Note(label.clone()));
                self.read_note(label, annotation_lead(node), |reader| reader.blocks(node))?;
            }
            "text:bookmark" | "text:bookmark-start" => {
                if let Some(name) = node.attribute("text:name") {
                    line.push(SpanContent::Anchor(name.to_owned()));
                }
            }
            "text:tracked-changes" | "text:script" | "office:event-listeners" => {}
            name if name.starts_with("draw:") => self.drawing(node, line)?,
            // Fields show their results, which stand inside of them.
            _ => self.inlines(node, line)?,
        }
        Ok(())
    }
}
