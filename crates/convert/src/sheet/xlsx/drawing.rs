//! Drawings over a sheet of Excel: texts of shapes, descriptions of pictures, titles of charts.

use crate::error::ConvertError;
use crate::xml_reader::{XmlEvent, XmlPartReader};

/// What a drawing says.
#[derive(Debug, Default)]
pub(super) struct XlsxDrawing {
    /// The texts of shapes and the descriptions of pictures, in order.
    pub(super) texts: Vec<String>,
    pub(super) pictures: usize,
}

/// Reads the shapes of a drawing.
pub(super) fn read_shapes(text: &str) -> Result<XlsxDrawing, ConvertError> {
    let mut reader = XmlPartReader::new(text);
    let mut drawing = XlsxDrawing::default();
    let mut is_picture = false;
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(start) = event else { continue };
        match start.name() {
            // The same shapes again, for older programs.
            "Fallback" => reader.skip()?,
            "sp" => is_picture = false,
            "pic" => {
                is_picture = true;
                drawing.pictures += 1;
            }
            "cNvPr" if is_picture => {
                let description = start.attribute("descr").filter(|text| !text.trim().is_empty());
                drawing.texts.extend(description.map(|text| format!("Picture: {text}")));
            }
            "txBody" => {
                let text = paragraphs(&mut reader)?;
                if !text.trim().is_empty() {
                    drawing.texts.push(text.trim().to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(drawing)
}

/// The title of a chart.
pub(super) fn chart_title(text: &str) -> Result<String, ConvertError> {
    let mut reader = XmlPartReader::new(text);
    while let Some(event) = reader.next()? {
        if let XmlEvent::Start(start) = event
            && start.name() == "title"
        {
            return Ok(paragraphs(&mut reader)?.trim().to_owned());
        }
    }
    Ok(String::new())
}

/// The paragraphs of the element that was started last, a line each.
fn paragraphs(reader: &mut XmlPartReader<'_>) -> Result<String, ConvertError> {
    let outside = reader.depth().saturating_sub(1);
    let mut text = String::new();
    while reader.depth() > outside {
        let Some(event) = reader.next()? else { break };
        let XmlEvent::Start(start) = event else { continue };
        match start.name() {
            "p" | "br" if !text.is_empty() => text.push('\n'),
            "t" => text.push_str(&reader.text()?),
            _ => {}
        }
    }
    Ok(text)
}
