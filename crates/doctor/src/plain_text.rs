//! Text of a server, made safe to show: short, on one line, without control characters.

use serde_json::Value;

/// How many characters of a text of the server a message has.
const MAX_CHARS: usize = 160;

/// The text on one line: hidden characters are written as escapes, a long text is cut.
pub(crate) fn plain(text: &str) -> String {
    plain_up_to(text, MAX_CHARS)
}

pub(crate) fn plain_up_to(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == most {
            shown.push('…');
            break;
        }
        match character {
            '\n' | '\r' | '\t' => shown.push(' '),
            _ if is_hidden(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

/// A JSON value on one line.
pub(crate) fn plain_json(value: &Value) -> String {
    plain(&value.to_string())
}

/// Whether a character is not seen, or changes how the text around it is seen.
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            // Direction marks and overrides, which make a text look like another one.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}'
            // Zero-width and invisible characters; the joiners U+200C and U+200D are letters' own.
            | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            // Tags: a whole alphabet that no one sees and a model reads.
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_a_terminal_would_obey_is_written_as_an_escape() {
        assert_eq!(plain("a\u{1b}[31mb\u{202e}c\nd"), "a\\u{1b}[31mb\\u{202e}c d");
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(plain(&"x".repeat(500)).chars().count(), 161);
    }
}
