//! Text that the built-in tools write for models, line by line.
//!
//! Titles, names and MIME types come from servers that refdesk does not trust. A line break in one
//! of them would let it write lines that look like refdesk's own.

use std::borrow::Cow;

use resource::is_control;

/// Lines of text for a model. No value can begin a line of its own.
#[derive(Debug, Default)]
pub struct TextLines(String);

impl TextLines {
    /// Appends one line; its control characters become spaces.
    pub fn push(&mut self, line: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(&single_line(line));
    }
}

impl From<TextLines> for String {
    fn from(lines: TextLines) -> Self {
        lines.0
    }
}

/// The text on one line: control characters other than tabs become spaces.
pub fn single_line(text: &str) -> Cow<'_, str> {
    let is_odd = |letter: char| letter != '\t' && is_control(letter);
    if text.contains(is_odd) { text.replace(is_odd, " ").into() } else { text.into() }
}

/// Whether the name of a tool or prompt has characters that no name may have.
pub(crate) fn has_control(name: &str) -> bool {
    name.contains(is_control)
}

#[cfg(test)]
mod tests {
    use super::{TextLines, single_line};

    #[test]
    fn no_value_begins_a_line_of_its_own() {
        let mut lines = TextLines::default();
        lines.push("a\r\nb\u{2028}c\u{85}d\u{1b}[2Je\tf");
        lines.push("second");
        assert_eq!(String::from(lines), "a  b c d [2Je\tf\nsecond");
        assert!(matches!(single_line("plain é"), std::borrow::Cow::Borrowed(_)));
    }
}
