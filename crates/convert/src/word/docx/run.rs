//! Runs of a Word document: text with one style, and what stands among it.

use super::DocxReader;
use super::field::form_text;
use super::paragraph::DocxLine;
use super::styles::run_style;
use crate::error::ConvertError;
use crate::ooxml::alternative;
use crate::rich_text::{RichSpan, SpanContent, SpanStyle, ruby};
use crate::word::style_names::is_code_font;
use crate::word::symbols::{replace_symbols, symbol};
use crate::xml_tree::XmlNode;

impl DocxReader<'_> {
    /// Reads a run.
    pub(super) fn run(
        &mut self,
        node: XmlNode<'_>,
        line: &mut DocxLine,
    ) -> Result<(), ConvertError> {
        let properties = node.child("w:rPr");
        let style = properties.map(|node| self.style_of_run(node)).unwrap_or_default();
        self.run_content(node, style, line)
    }

    fn style_of_run(&self, properties: XmlNode<'_>) -> SpanStyle {
        let named = properties.child_attribute("w:rStyle", "w:val");
        let style = named.map(|id| self.styles.span(id)).unwrap_or_default();
        let font = properties.child_attribute("w:rFonts", "w:ascii");
        let is_code = style.has(SpanStyle::CODE) || font.is_some_and(is_code_font);
        run_style(properties, style).with(SpanStyle::CODE, is_code)
    }

    fn run_content(
        &mut self,
        node: XmlNode<'_>,
        style: SpanStyle,
        line: &mut DocxLine,
    ) -> Result<(), ConvertError> {
        for child in node.elements() {
            match child.name() {
                "w:fldChar" => {
                    if let Some(text) = form_text(child).filter(|_| !self.is_in_instruction()) {
                        self.text(text, style, line);
                    }
                    if let Some((base, reading)) = self.field_mark(child) {
                        line.spans.push(RichSpan::plain(SpanContent::Ruby {
                            base: base.into(),
                            reading: reading.into(),
                        }));
                    }
                }
                "w:instrText" => self.instruction(&child.all_text()),
                _ if self.is_in_instruction() => {}
                "w:t" => {
                    let fonts = node.child("w:rPr").and_then(|node| node.child("w:rFonts"));
                    let font = fonts.and_then(|fonts| fonts.attribute("w:ascii"));
                    self.text(replace_symbols(child.all_text(), font), style, line);
                }
                "w:tab" | "w:ptab" => self.text("\t".to_owned(), style, line),
                "w:br" | "w:cr" => line.spans.push(RichSpan::plain(SpanContent::Break)),
                "w:noBreakHyphen" => self.text("-".to_owned(), style, line),
                "w:sym" => {
                    let code = child.attribute("w:char").unwrap_or_default();
                    let code = u32::from_str_radix(code, 16).unwrap_or(0);
                    let font = child.attribute("w:font").unwrap_or_default();
                    self.text(symbol(code, font).to_string(), style, line);
                }
                "w:ruby" => self.ruby(child, style, line)?,
                "w:footnoteReference" | "w:endnoteReference" | "w:commentReference" => {
                    self.note_mark(child, line);
                }
                "w:drawing" | "w:pict" | "w:object" => self.drawing(child, line)?,
                "mc:AlternateContent" => {
                    if let Some(branch) = alternative(child) {
                        self.run_content(branch, style, line)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn text(&self, text: String, style: SpanStyle, line: &mut DocxLine) {
        line.has_other_font |= !style.has(SpanStyle::CODE) && !text.trim().is_empty();
        let link = line.link.clone().or_else(|| self.field_link());
        line.spans.push(RichSpan { content: SpanContent::Text(text), style, link });
    }

    /// Appends text with its reading.
    fn ruby(
        &mut self,
        node: XmlNode<'_>,
        style: SpanStyle,
        line: &mut DocxLine,
    ) -> Result<(), ConvertError> {
        let mut parts = [DocxLine::default(), DocxLine::default()];
        for (part, name) in parts.iter_mut().zip(["w:rubyBase", "w:rt"]) {
            if let Some(content) = node.child(name) {
                self.inlines(content, part)?;
            }
        }
        let [base, reading] = parts;
        let link = line.link.clone().or_else(|| self.field_link());
        line.has_other_font = true;
        line.spans.push(RichSpan { content: ruby(&base.spans, &reading.spans), style, link });
        Ok(())
    }
}
