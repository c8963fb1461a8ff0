//! The result of a conversion: the content in the new form, and its sections.

use std::ops::Range;

use resource::{Outline, SectionChoice, SectionTitle};

use crate::document::DocumentKind;
use crate::form::Form;

/// A document in another form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversion {
    /// The content: UTF-8, if the form is text.
    pub body: Vec<u8>,
    /// The pages, sheets, slides or chapters of the body, in order; empty if it has none.
    pub sections: Vec<Section>,
    /// What the form does not show although the document has it, one sentence each.
    pub losses: Vec<String>,
    /// Whether a limit cut off some of the text, so that all of it was not seen.
    pub is_cut: bool,
}

/// A page, sheet, slide or chapter. It ends where the next one starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name, if it has one.
    pub title: Option<String>,
    /// Where it starts in the body, in bytes, at a character.
    pub start: usize,
    /// Whether the document hides it.
    pub is_hidden: bool,
}

impl Conversion {
    /// A text without sections.
    pub fn text(body: impl Into<String>) -> Self {
        Self { body: body.into().into_bytes(), ..Self::default() }
    }

    /// Starts a section at the end of the body.
    pub(crate) fn start_section(&mut self, title: Option<String>, is_hidden: bool) {
        self.sections.push(Section { title, start: self.body.len(), is_hidden });
    }

    /// Says what a limit leaves out.
    pub(crate) fn cut(&mut self, sentence: impl Into<String>) {
        self.losses.push(sentence.into());
        self.is_cut = true;
    }

    /// Appends text to the body.
    pub(crate) fn push_str(&mut self, text: &str) {
        self.body.extend_from_slice(text.as_bytes());
    }

    /// The bytes of the section at `index`, counted from 0.
    pub fn section(&self, index: usize) -> Option<&[u8]> {
        let start = self.sections.get(index)?.start;
        let end = self.sections.get(index + 1).map_or(self.body.len(), |next| next.start);
        self.body.get(start..end)
    }

    /// The sections, as a read names them; `None` if documents of this kind have none.
    pub fn outline(&self, kind: DocumentKind) -> Option<Outline> {
        let unit = kind.section_unit()?;
        let known = |(at, section): (usize, &Section)| {
            let (title, is_hidden) = (section.title.clone()?, section.is_hidden);
            Some(SectionTitle { number: at + 1, title, is_hidden })
        };
        let titles = self.sections.iter().enumerate().filter_map(known);
        let titles = titles.take(Outline::MAX_TITLES).collect();
        Some(Outline { unit, total: Some(self.sections.len()), titles })
    }
}

/// The bytes that `choice` names in a body of `length` bytes with these sections; without a choice
/// all of them, and of a table the first sheet, because it has no marks between sheets.
pub fn chosen_range(
    (sections, length): (&[Section], usize),
    outline: Option<&Outline>,
    form: Form,
    choice: Option<&SectionChoice>,
) -> resource::Result<Range<usize>> {
    let chosen = match (choice, outline) {
        (Some(choice), Some(outline)) => {
            outline.resolve(choice, sections.iter().map(|section| section.title.as_deref()))?
        }
        (Some(choice), None) => return Err(choice.unit.missing()),
        (None, _) if form == Form::Csv && sections.len() > 1 => 0..1,
        (None, _) => return Ok(0..length),
    };
    let place = |at: usize| sections.get(at).map_or(length, |next| next.start);
    let start = place(chosen.start).min(length);
    Ok(start..place(chosen.end).clamp(start, length))
}

/// A count with the words for one, or for several.
pub(crate) fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use resource::{SectionChoice, SectionUnit};

    use super::{Conversion, chosen_range};
    use crate::document::DocumentKind;
    use crate::form::Form;

    #[test]
    fn sections_are_chosen_by_number_and_title_and_of_a_table_the_first() {
        let mut made = Conversion::text("head ");
        for (title, is_hidden) in [("one", false), ("two", true)] {
            made.start_section(Some(title.to_owned()), is_hidden);
            made.push_str(&format!("<{title}>"));
        }
        let outline = made.outline(DocumentKind::Xlsx).unwrap();
        let hidden: Vec<bool> = outline.titles.iter().map(|known| known.is_hidden).collect();
        assert_eq!((outline.total, hidden), (Some(2), vec![false, true]));
        let chosen = |form, choice: Option<&SectionChoice>| {
            let body = (&made.sections[..], made.body.len());
            let range = chosen_range(body, Some(&outline), form, choice).unwrap();
            String::from_utf8(made.body[range].to_vec()).unwrap()
        };
        let second = SectionChoice::number(SectionUnit::Sheet, 2);
        assert_eq!(chosen(Form::Markdown, Some(&second)), "<two>");
        assert_eq!(chosen(Form::Markdown, Some(&SectionChoice::sheet("one"))), "<one>");
        assert_eq!(chosen(Form::Markdown, None), "head <one><two>");
        assert_eq!(chosen(Form::Csv, None), "<one>");
        let none = chosen_range((&[], 5), None, Form::Markdown, Some(&second)).unwrap_err();
        assert!(none.message.contains("has no sheets"), "{none}");
    }
}
