//! Fields of a Word document: instructions, of which only the results are shown.

use std::rc::Rc;

use super::DocxReader;
use crate::xml_tree::XmlNode;

/// The most fields inside each other.
const MAX_FIELDS: usize = 64;

/// The longest instruction that is kept.
const MAX_INSTRUCTION: usize = 4_096;

/// An open field.
#[derive(Default)]
pub(super) struct DocxField {
    instruction: String,
    is_result: bool,
    /// Where the result leads, if the field is a link.
    link: Option<Rc<str>>,
}

impl DocxReader<'_> {
    /// Follows a mark that begins, separates or ends a field.
    pub(super) fn field_mark(&mut self, mark: XmlNode<'_>) {
        match mark.attribute("w:fldCharType") {
            Some("begin") if self.fields.len() < MAX_FIELDS => {
                self.fields.push(DocxField::default());
            }
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    field.is_result = true;
                    field.link = link_of(&field.instruction);
                }
            }
            Some("end") => drop(self.fields.pop()),
            _ => {}
        }
    }

    /// Takes a piece of an instruction.
    pub(super) fn instruction(&mut self, text: &str) {
        if let Some(field) = self.fields.last_mut()
            && field.instruction.len() + text.len() <= MAX_INSTRUCTION
        {
            field.instruction.push_str(text);
        }
    }

    /// Whether text belongs to an instruction, which is not shown.
    pub(super) fn is_in_instruction(&self) -> bool {
        self.fields.iter().any(|field| !field.is_result)
    }

    /// Where the open fields lead.
    pub(super) fn field_link(&self) -> Option<Rc<str>> {
        self.fields.iter().rev().find_map(|field| field.link.clone())
    }
}

/// Where the result of an instruction leads: `HYPERLINK "address" \l "place"`.
pub(crate) fn link_of(instruction: &str) -> Option<Rc<str>> {
    let trimmed = instruction.trim();
    let rest = trimmed.get(..9).filter(|word| word.eq_ignore_ascii_case("HYPERLINK"));
    let mut rest = rest.map(|_| trimmed[9..].trim_start())?;
    let (mut address, mut place, mut is_place) = (None, None, false);
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        let is_quoted = rest.starts_with('"');
        rest = after.trim_start();
        match word {
            "\\l" if !is_quoted => is_place = true,
            // Other switches have a value that is no address.
            "\\o" | "\\t" | "\\s" if !is_quoted => {
                rest = match rest.strip_prefix('"') {
                    Some(quoted) => {
                        quoted.split_once('"').map_or("", |(_, after)| after.trim_start())
                    }
                    None => rest,
                };
            }
            _ if word.starts_with('\\') && !is_quoted => {}
            _ if is_place => place = place.or(Some(word)),
            _ => address = address.or(Some(word)),
        }
    }
    let link = match (address, place) {
        (Some(address), Some(place)) => format!("{address}#{place}"),
        (Some(address), None) => address.to_owned(),
        (None, Some(place)) => format!("#{place}"),
        (None, None) => return None,
    };
    Some(link.replace("\\\\", "\\").into())
}

#[cfg(test)]
mod tests {
    use super::link_of;

    #[test]
    fn a_link_is_told_from_its_instruction() {
        let links = [
            " HYPERLINK \"https://example.org/a b\" \\o \"tip\" ",
            "HYPERLINK \\l \"_Toc1\" \\h",
            "hyperlink https://example.org \\l part",
            "PAGEREF _Toc1",
        ]
        .map(|instruction| link_of(instruction).map(|link| link.to_string()));
        let wanted = ["https://example.org/a b", "#_Toc1", "https://example.org#part"];
        assert_eq!(links[..3], wanted.map(|link| Some(link.to_owned())));
        assert_eq!(links[3], None);
    }
}
