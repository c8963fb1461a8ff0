//! The parts of a workbook that all sheets share: relations, texts and number formats.

use std::collections::HashMap;

use super::super::grid::MAX_CELL_BYTES;
use super::super::number_format::NumberFormat;
use crate::error::ConvertError;
use crate::part_path::resolve_part;
use crate::xml_reader::{XmlEvent, XmlPartReader};

/// The relations of a part to other parts.
#[derive(Debug, Default)]
pub(super) struct Relations {
    by_id: HashMap<String, Relation>,
    /// The ids in their order.
    order: Vec<String>,
}

/// A relation to a part or to an address outside.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) kind: String,
    pub(super) target: String,
}

impl Relations {
    pub(super) fn of_id(&self, id: &str) -> Option<&Relation> {
        self.by_id.get(id)
    }

    /// The targets of all relations whose type ends so.
    pub(super) fn all_of_type<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        let relations = self.order.iter().filter_map(|id| self.by_id.get(id));
        relations.filter(move |one| one.kind.ends_with(kind)).map(|one| one.target.as_str())
    }

    pub(super) fn of_type(&self, kind: &str) -> Option<String> {
        self.all_of_type(kind).next().map(str::to_owned)
    }
}

/// Parses the relations of a part in `folder`.
pub(super) fn relations(text: &str, folder: &str) -> Result<Relations, ConvertError> {
    let mut reader = XmlPartReader::new(text);
    let mut relations = Relations::default();
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(start) = event else { continue };
        if start.name() != "Relationship" {
            continue;
        }
        let target = start.attribute("Target").unwrap_or_default();
        let is_outside = start.attribute("TargetMode").as_deref() == Some("External");
        let target = if is_outside { target } else { resolve_part(folder, &target) };
        let id = start.attribute("Id").unwrap_or_default();
        let kind = start.attribute("Type").unwrap_or_default();
        relations.order.push(id.clone());
        relations.by_id.insert(id, Relation { kind, target });
    }
    Ok(relations)
}

/// The texts that cells refer to by number.
#[derive(Debug, Default)]
pub(super) struct SharedStrings {
    text: String,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl SharedStrings {
    pub(super) fn parse(text: &str) -> Result<Self, ConvertError> {
        let mut reader = XmlPartReader::new(text);
        let mut strings = Self::default();
        while let Some(event) = reader.next()? {
            if let XmlEvent::Start(start) = event
                && start.name() == "si"
            {
                let text = rich_text(&mut reader)?;
                // One byte more than a cell has room for, so that the cell says that it is cut.
                let end = text.ceil_char_boundary(MAX_CELL_BYTES + 1);
                strings.text.push_str(&text[..end]);
                strings.ends.push(strings.text.len());
            }
        }
        Ok(strings)
    }

    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { *self.ends.get(index - 1)? };
        self.text.get(start..end)
    }
}

/// The text of the element that was started last: its runs, without the reading aids beside them.
pub(super) fn rich_text(reader: &mut XmlPartReader<'_>) -> Result<String, ConvertError> {
    let outside = reader.depth().saturating_sub(1);
    let mut text = String::new();
    while reader.depth() > outside {
        match reader.next()? {
            Some(XmlEvent::Start(start)) if start.name() == "rPh" => reader.skip()?,
            Some(XmlEvent::Start(start)) if start.name() == "t" => {
                text.push_str(&reader.text()?);
            }
            Some(_) => {}
            None => break,
        }
    }
    Ok(unescaped(text))
}

/// A text without the escapes of Excel for control characters: `_x000D_` is a carriage return.
pub(super) fn unescaped(text: String) -> String {
    if !text.contains("_x") {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("_x") {
        let (before, escape) = rest.split_at(at);
        plain.push_str(before);
        let code = escape.get(2..6).filter(|_| escape.as_bytes().get(6) == Some(&b'_'));
        let letter = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        match letter.and_then(char::from_u32) {
            Some(letter) => {
                if !letter.is_control() || matches!(letter, '\n' | '\t') {
                    plain.push(letter);
                }
                rest = &escape[7..];
            }
            None => {
                plain.push_str("_x");
                rest = &escape[2..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// The number formats of cells, by the style of a cell.
#[derive(Debug, Default)]
pub(super) struct XlsxStyles {
    formats: Vec<NumberFormat>,
    /// The index in `formats` of each style.
    styles: Vec<usize>,
}

impl XlsxStyles {
    pub(super) fn parse(text: &str) -> Result<Self, ConvertError> {
        let mut reader = XmlPartReader::new(text);
        let mut codes = HashMap::new();
        let mut index_of: HashMap<u32, usize> = HashMap::new();
        let mut parsed = Self::default();
        let mut cell_styles = None;
        while let Some(event) = reader.next()? {
            match event {
                XmlEvent::Start(start) if start.name() == "numFmt" => {
                    let id = start.number::<u32>("numFmtId");
                    codes.extend(id.zip(start.attribute("formatCode")));
                }
                XmlEvent::Start(start) if start.name() == "cellXfs" => {
                    cell_styles = Some(reader.depth());
                }
                XmlEvent::Start(start) if start.name() == "xf" && cell_styles.is_some() => {
                    let id = start.number("numFmtId").unwrap_or(0);
                    let index = *index_of.entry(id).or_insert_with(|| {
                        let code = codes.get(&id).map(String::as_str);
                        let format = code.map(NumberFormat::parse);
                        parsed.formats.push(format.unwrap_or_else(|| NumberFormat::built_in(id)));
                        parsed.formats.len() - 1
                    });
                    parsed.styles.push(index);
                }
                XmlEvent::End if cell_styles.is_some_and(|depth| reader.depth() < depth) => {
                    cell_styles = None;
                }
                _ => {}
            }
        }
        Ok(parsed)
    }

    /// The format of the style with this number.
    pub(super) fn format(&self, style: usize) -> Option<&NumberFormat> {
        self.formats.get(*self.styles.get(style)?)
    }
}

#[cfg(test)]
mod tests {
    use super::{SharedStrings, unescaped};

    #[test]
    fn runs_are_joined_and_reading_aids_left_out() {
        let xml = "<sst><si><r><t>東</t></r><r><t>京</t></r><rPh sb='0' eb='2'><t>トウキョウ</t></rPh>\
                   </si><si><t xml:space='preserve'> a_x000D_\n</t></si></sst>";
        let strings = SharedStrings::parse(xml).unwrap();
        assert_eq!(strings.get(0), Some("東京"));
        assert_eq!(strings.get(1), Some(" a\n"));
        assert_eq!(strings.get(2), None);
        assert_eq!(unescaped("_x日本_xZZZZ_".to_owned()), "_x日本_xZZZZ_");
    }
}
