//! Plain text of others, safe to show: on one line, without characters that control a terminal.

use std::borrow::Cow;

/// Whether `letter` breaks a line, controls a terminal or turns the direction of writing around.
pub fn is_control(letter: char) -> bool {
    // Unicode counts its separators of lines and paragraphs and its directional formatting as no
    // control characters.
    letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text on one line: each control character becomes a space.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(is_control) { text.replace(is_control, " ").into() } else { text.into() }
}

/// The first `max` characters of the text, on one line.
pub fn one_line_up_to(text: &str, max: usize) -> String {
    text.chars().take(max).map(|letter| if is_control(letter) { ' ' } else { letter }).collect()
}

/// The words of the text on one line, with one space between them.
pub fn words_on_one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|letter: char| letter.is_whitespace() || is_control(letter)).collect();
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{one_line, one_line_up_to, words_on_one_line};

    #[test]
    fn no_text_breaks_a_line_or_turns_it_around() {
        let text = "a\r\nb\u{2028}c\u{2029}d\u{85}e\u{1b}[2J\u{9b}f\u{202e}g\u{2067}h\ti";
        assert_eq!(one_line(text), "a  b c d e [2J f g h i");
        assert_eq!(one_line_up_to(text, 6), "a  b c");
        assert_eq!(words_on_one_line(&format!(" {text}\n")), "a b c d e [2J f g h i");
        assert!(matches!(one_line("plain \u{e9} \u{5d0}\u{200f}"), Cow::Borrowed(_)));
    }
}
