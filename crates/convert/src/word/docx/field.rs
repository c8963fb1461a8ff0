//! Fields of a Word document: instructions, of which only the results are shown.

use std::rc::Rc;

use super::DocxReader;
use crate::ooxml::is_on;
use crate::word::field_code::{eq_ruby, link_of};
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
    /// Follows a mark that begins, separates or ends a field. The end of a field that sets text
    /// with its reading gives both.
    pub(super) fn field_mark(&mut self, mark: XmlNode<'_>) -> Option<(String, String)> {
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
            Some("end") => return eq_ruby(&self.fields.pop()?.instruction),
            _ => {}
        }
        None
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

/// What a form field shows that has no result: a box, or the chosen entry of a list.
pub(super) fn form_text(mark: XmlNode<'_>) -> Option<String> {
    let form = mark.child("w:ffData")?;
    if let Some(check) = form.child("w:checkBox") {
        let state = check.child("w:checked").or_else(|| check.child("w:default"));
        let is_checked = state.is_some_and(|state| is_on(state.attribute("w:val")));
        return Some(if is_checked { "☑" } else { "☐" }.to_owned());
    }
    let list = form.child("w:ddList")?;
    let chosen = list.child_attribute("w:result", "w:val");
    let chosen = chosen.or(list.child_attribute("w:default", "w:val"));
    let place = chosen.and_then(|place| place.parse().ok()).unwrap_or(0);
    let mut entries = list.elements().filter(|node| node.name() == "w:listEntry");
    entries.nth(place)?.attribute("w:val").map(str::to_owned)
}
