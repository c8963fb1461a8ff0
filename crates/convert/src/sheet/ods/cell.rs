//! The content of a cell of OpenDocument: paragraphs, links, comments, shapes.

use super::super::grid::CellNote;
use crate::error::ConvertError;
use crate::xml_reader::{XmlElement, XmlEvent, XmlPartReader};

/// The most spaces that one element stands for.
const MAX_SPACES: usize = 100;

/// The content of a cell.
#[derive(Debug, Default)]
pub(super) struct OdsCellContent {
    /// The paragraphs, a line each.
    pub(super) text: String,
    pub(super) link: Option<String>,
    pub(super) notes: Vec<CellNote>,
    /// The shapes that hang on the cell.
    pub(super) shapes: Vec<OdsShape>,
}

/// A shape over a sheet, or several in a group.
#[derive(Debug, Default)]
pub(super) struct OdsShape {
    /// Its text, or the description of a picture.
    pub(super) text: String,
    /// Whether it shows a picture, a chart or another object.
    pub(super) is_picture: bool,
}

/// Reads the cell that was started last.
pub(super) fn read_cell(reader: &mut XmlPartReader<'_>) -> Result<OdsCellContent, ConvertError> {
    let outside = reader.depth().saturating_sub(1);
    let mut content = OdsCellContent::default();
    let mut lines = Vec::new();
    while reader.depth() > outside {
        let Some(event) = reader.next()? else { break };
        let XmlEvent::Start(start) = event else { continue };
        match start.name() {
            "p" | "h" => lines.push(read_paragraph(reader, &mut content.link)?),
            "annotation" => content.notes.push(read_note(reader)?),
            "table" => reader.skip()?,
            "frame" | "custom-shape" | "rect" | "ellipse" | "g" | "line" | "connector"
            | "caption" => content.shapes.push(read_shape(reader)?),
            _ => {}
        }
    }
    content.text = lines.join("\n");
    content.notes.retain(|note| !note.text.is_empty());
    Ok(content)
}

/// The text of the paragraph that was started last, and the first link in it.
fn read_paragraph(
    reader: &mut XmlPartReader<'_>,
    link: &mut Option<String>,
) -> Result<String, ConvertError> {
    let outside = reader.depth().saturating_sub(1);
    let mut text = String::new();
    // The depth of the reading aid that is open.
    let mut aid = None;
    while reader.depth() > outside {
        match reader.next()? {
            Some(XmlEvent::Text(piece)) => text.push_str(&piece),
            Some(XmlEvent::Start(start)) => match start.name() {
                "a" if link.is_none() => *link = safe_link(&start),
                "s" => {
                    let count = start.number::<usize>("c").unwrap_or(1);
                    text.extend(std::iter::repeat_n(' ', count.min(MAX_SPACES)));
                }
                "tab" => text.push('\t'),
                "line-break" => text.push('\n'),
                "ruby-text" => {
                    text.push('(');
                    aid = Some(reader.depth());
                }
                "annotation" => reader.skip()?,
                _ => {}
            },
            Some(XmlEvent::End) => {
                if aid.is_some_and(|depth| reader.depth() < depth) {
                    text.push(')');
                    aid = None;
                }
            }
            None => break,
        }
    }
    Ok(text)
}

fn safe_link(start: &XmlElement<'_>) -> Option<String> {
    let link = start.attribute("href")?;
    let scheme = link.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    (!matches!(scheme.as_str(), "javascript" | "vbscript" | "data")).then_some(link)
}

fn read_note(reader: &mut XmlPartReader<'_>) -> Result<CellNote, ConvertError> {
    let outside = reader.depth().saturating_sub(1);
    let mut note = CellNote::default();
    let mut lines = Vec::new();
    while reader.depth() > outside {
        let Some(event) = reader.next()? else { break };
        let XmlEvent::Start(start) = event else { continue };
        match start.name() {
            "creator" => note.author = reader.text()?,
            "p" => lines.push(read_paragraph(reader, &mut None)?),
            _ => {}
        }
    }
    note.text = lines.join("\n").trim().to_owned();
    Ok(note)
}

/// Reads the shapes in the element that was started last.
pub(super) fn read_shape(reader: &mut XmlPartReader<'_>) -> Result<OdsShape, ConvertError> {
    let outside = reader.depth().saturating_sub(1);
    let mut shape = OdsShape::default();
    let mut lines = Vec::new();
    while reader.depth() > outside {
        let Some(event) = reader.next()? else { break };
        let XmlEvent::Start(start) = event else { continue };
        match start.name() {
            "p" | "h" => lines.push(read_paragraph(reader, &mut None)?),
            "title" | "desc" => lines.push(reader.text()?),
            "object" | "object-ole" | "image" => shape.is_picture = true,
            _ => {}
        }
    }
    lines.retain(|line| !line.trim().is_empty());
    shape.text = lines.join("\n");
    Ok(shape)
}
