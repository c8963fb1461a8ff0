//! XML parts of documents, read as a stream of events.
//!
//! Only the five predefined entities and numeric ones are resolved: a document type declares
//! nothing here, so that no entity can grow or load anything.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::decode::decode;
use crate::error::ConvertError;

/// The deepest nesting of elements.
const MAX_DEPTH: usize = 10_000;

/// An event of an XML part. Names are local names, without the prefix of a namespace.
#[derive(Debug)]
pub(crate) enum XmlEvent<'a> {
    /// The start of an element; an empty element has its end at once.
    Start(XmlElement<'a>),
    /// The end of the element that was started last.
    End,
    /// Text. One text of a document may come in several events.
    Text(Cow<'a, str>),
}

/// The start of an element.
#[derive(Debug)]
pub(crate) struct XmlElement<'a>(BytesStart<'a>);

impl XmlElement<'_> {
    /// The local name.
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The value of the attribute with this local name.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.attributes().find(|one| one.0 == name).map(|one| one.1.into_owned())
    }

    /// The attributes: local name and value.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let mut attributes = self.0.attributes();
        // The check for duplicates takes quadratic time.
        attributes.with_checks(false);
        attributes.flatten().map(|one| {
            let name = one.key.local_name().into_inner();
            let value = match unescape(&one.value) {
                Ok(Cow::Owned(value)) => Cow::Owned(value),
                Ok(Cow::Borrowed(_)) | Err(_) => one.value,
            };
            (name, value)
        })
    }

    /// The number in the attribute with this local name.
    pub(crate) fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// Whether the attribute with this local name says yes.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        matches!(self.attribute(name).as_deref(), Some("1" | "true" | "on"))
    }
}

/// A reader of one XML part.
pub(crate) struct XmlPartReader<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
}

/// The text of an XML part, by its byte order mark or the encoding that it declares.
pub(crate) fn xml_text(part: &[u8]) -> Cow<'_, str> {
    decode(part, declared_encoding(part))
}

fn declared_encoding(part: &[u8]) -> Option<&str> {
    let declaration = part.get(..part.len().min(200))?;
    let end = declaration.iter().position(|byte| *byte == b'>')?;
    let text = std::str::from_utf8(declaration.get(..end)?).ok()?;
    let value = text.strip_prefix("<?xml")?.split_once("encoding=")?.1;
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next()
}

impl<'a> XmlPartReader<'a> {
    /// A reader of the part with this text.
    pub(crate) fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self { reader, depth: 0 }
    }

    /// A reader of a piece of a part, whose elements may end or start outside of it.
    pub(crate) fn of_piece(text: &'a str) -> Self {
        let mut reader = Self::new(text);
        let config = reader.reader.config_mut();
        config.allow_unmatched_ends = true;
        config.check_end_names = false;
        reader
    }

    /// The number of elements that are open.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// The next event; `None` at the end of the part.
    pub(crate) fn next(&mut self) -> Result<Option<XmlEvent<'a>>, ConvertError> {
        loop {
            let event = self.reader.read_event().map_err(|flaw| {
                ConvertError::damaged(format!("a part of the document is no XML: {flaw}"))
            })?;
            match event {
                Event::Start(start) | Event::Empty(start) => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(ConvertError::over_limit(format!(
                            "the document nests elements over {MAX_DEPTH} deep"
                        )));
                    }
                    return Ok(Some(XmlEvent::Start(XmlElement(start))));
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Some(XmlEvent::End));
                }
                Event::Text(text) => return Ok(Some(XmlEvent::Text(text.xml10_content()))),
                Event::CData(text) => return Ok(Some(XmlEvent::Text(text.xml10_content()))),
                Event::GeneralRef(reference) => {
                    return Ok(Some(XmlEvent::Text(resolved(&reference).into())));
                }
                Event::Eof if self.depth > 0 => {
                    return Err(ConvertError::damaged("a part of the document is cut off"));
                }
                Event::Eof => return Ok(None),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }

    /// Skips the rest of the element that was started last.
    pub(crate) fn skip(&mut self) -> Result<(), ConvertError> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside {
            if self.next()?.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// All text of the element that was started last.
    pub(crate) fn text(&mut self) -> Result<String, ConvertError> {
        let outside = self.depth.saturating_sub(1);
        let mut text = String::new();
        while self.depth > outside {
            match self.next()? {
                Some(XmlEvent::Text(piece)) => text.push_str(&piece),
                Some(XmlEvent::Start(_) | XmlEvent::End) => {}
                None => break,
            }
        }
        Ok(text)
    }
}

/// The character of a reference; a reference to an entity that XML does not define stays as it is.
fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(letter)) = reference.resolve_char_ref() {
        return letter.to_string();
    }
    let name = reference.xml10_content();
    match name.as_ref() {
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "amp" => "&".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        other => format!("&{other};"),
    }
}

#[cfg(test)]
mod tests {
    use super::{XmlEvent, XmlPartReader, xml_text};

    fn text(xml: &str) -> Result<String, crate::ConvertError> {
        let mut reader = XmlPartReader::new(xml);
        let mut text = String::new();
        while let Some(event) = reader.next()? {
            match event {
                XmlEvent::Start(start) => text.push_str(&format!("<{}>", start.name())),
                XmlEvent::End => text.push_str("</>"),
                XmlEvent::Text(piece) => text.push_str(&piece),
            }
        }
        Ok(text)
    }

    #[test]
    fn predefined_entities_are_resolved_and_others_stay() {
        let xml =
            r#"<!DOCTYPE a [<!ENTITY x "boom">]><p:a>&lt;&#x65E5;&x;<![CDATA[<b>]]><c/></p:a>"#;
        assert_eq!(text(xml), Ok("<a><日&x;<b><c></></>".to_owned()));
    }

    #[test]
    fn a_part_that_is_cut_off_is_damaged() {
        let error = text("<a><b>text</b>").unwrap_err();
        assert_eq!(error.kind, crate::ConvertErrorKind::Damaged);
    }

    #[test]
    fn deep_nesting_is_over_the_limit() {
        let error = text(&"<a>".repeat(20_000)).unwrap_err();
        assert_eq!(error.kind, crate::ConvertErrorKind::OverLimit);
    }

    #[test]
    fn a_declared_encoding_is_used() {
        let (part, _, _) =
            encoding_rs::SHIFT_JIS.encode("<?xml version='1.0' encoding='Shift_JIS'?><a>日本</a>");
        assert!(xml_text(&part).contains("<a>日本</a>"));
    }
}
