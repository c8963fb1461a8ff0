//! The result of a conversion: the content in the new form, and its sections.

/// A document in another form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Converted {
    /// The content: UTF-8, if the form is text.
    pub body: Vec<u8>,
    /// The pages, sheets, slides or chapters of the body, in order; empty if it has none.
    pub sections: Vec<Section>,
    /// What the form does not show although the document has it, one sentence each.
    pub losses: Vec<String>,
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

impl Converted {
    /// A text without sections.
    pub fn text(body: impl Into<String>) -> Self {
        Self { body: body.into().into_bytes(), ..Self::default() }
    }

    /// Starts a section at the end of the body.
    pub(crate) fn start_section(&mut self, title: Option<String>, is_hidden: bool) {
        self.sections.push(Section { title, start: self.body.len(), is_hidden });
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
}
