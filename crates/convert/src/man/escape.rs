//! Escapes of roff: what a backslash begins.

use super::glyphs::glyph;

/// The longest argument of an escape.
const MAX_ARGUMENT: usize = 1_024;

/// What an escape stands for in running text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RoffEscape<'t> {
    /// Characters.
    Text(String),
    /// One character.
    Letter(char),
    /// The font with this name; the one before if it is empty or `P`.
    Font(&'t str),
    /// A space to the right.
    Space,
    /// The line goes on with the next one.
    Continuation,
    /// A line break.
    Break,
    /// The next character takes no room.
    Overstrike,
    /// Nothing that shows.
    Nothing,
}

/// Reads the escape whose backslash stands before `text`; returns how many bytes it takes.
pub(super) fn parse_escape(text: &str) -> (RoffEscape<'_>, usize) {
    let Some(first) = text.chars().next() else { return (RoffEscape::Continuation, 0) };
    let width = first.len_utf8();
    let after = &text[width..];
    let simple = |escape| (escape, width);
    match first {
        '(' | '[' => {
            let (name, taken) = parse_name(text);
            (glyph_text(name), taken)
        }
        'f' => {
            let (name, taken) = parse_name(after);
            (RoffEscape::Font(name), width + taken)
        }
        'F' | 'g' | 'k' | 'm' | 'M' | 'V' | 'Y' | 'O' | '*' | 'n' | '$' => {
            (RoffEscape::Nothing, width + parse_name(after).1)
        }
        's' => (RoffEscape::Nothing, width + size_width(after)),
        'h' => {
            let (distance, taken) = delimited(after);
            let is_right = !distance.starts_with(['-', '0', '|']) && !distance.is_empty();
            let escape = if is_right { RoffEscape::Space } else { RoffEscape::Nothing };
            (escape, width + taken)
        }
        'C' => {
            let (name, taken) = delimited(after);
            (glyph_text(name), width + taken)
        }
        'N' => {
            let (code, taken) = delimited(after);
            let letter = code.parse().ok().and_then(char::from_u32).filter(|c| !c.is_control());
            (letter.map_or(RoffEscape::Nothing, RoffEscape::Letter), width + taken)
        }
        'o' => {
            let (letters, taken) = delimited(after);
            // Letters on top of each other: the last one shows, as on a terminal.
            let last = letters.chars().next_back();
            (last.map_or(RoffEscape::Nothing, RoffEscape::Letter), width + taken)
        }
        'b' | 'D' | 'H' | 'l' | 'L' | 'R' | 'S' | 'v' | 'w' | 'x' | 'X' | 'Z' | 'A' | 'B' => {
            (RoffEscape::Nothing, width + delimited(after).1)
        }
        ' ' | '~' | '0' => simple(RoffEscape::Space),
        't' => simple(RoffEscape::Letter('\t')),
        'e' | 'E' | '\\' => simple(RoffEscape::Letter('\\')),
        'c' => simple(RoffEscape::Continuation),
        'p' => simple(RoffEscape::Break),
        'z' => simple(RoffEscape::Overstrike),
        '-' | '.' | '\'' | '`' | '_' => simple(RoffEscape::Letter(first)),
        '&' | ')' | '%' | ':' | '/' | ',' | '|' | '^' | '{' | '}' | '!' | '?' | 'a' | 'd' | 'u'
        | 'r' => simple(RoffEscape::Nothing),
        other => simple(RoffEscape::Letter(other)),
    }
}

fn glyph_text<'t>(name: &str) -> RoffEscape<'t> {
    glyph(name).map_or(RoffEscape::Nothing, RoffEscape::Text)
}

/// The name at the start of `text`: `x`, `(xx` or `[xxx]`; and how many bytes it takes.
pub(super) fn parse_name(text: &str) -> (&str, usize) {
    let mut letters = text.chars();
    match letters.next() {
        None => ("", 0),
        Some('[') => match text[..text.floor_char_boundary(MAX_ARGUMENT)].find(']') {
            Some(end) => (&text[1..end], end + 1),
            None => ("", 1),
        },
        Some('(') => {
            let end = text[1..].char_indices().nth(2).map_or(text.len(), |(at, _)| at + 1);
            (&text[1..end], end)
        }
        Some(letter) => (&text[..letter.len_utf8()], letter.len_utf8()),
    }
}

/// The argument at the start of `text`, between two of the same character. A letter or an argument
/// without an end is none: only its first character is taken.
pub(super) fn delimited(text: &str) -> (&str, usize) {
    let Some(quote) = text.chars().next() else { return ("", 0) };
    let inner = &text[quote.len_utf8()..];
    let near = &inner[..inner.floor_char_boundary(MAX_ARGUMENT)];
    match near.find(quote).filter(|_| !quote.is_alphanumeric()) {
        Some(end) => (&inner[..end], end + 2 * quote.len_utf8()),
        None => ("", quote.len_utf8()),
    }
}

/// How many bytes the size of a `\s` takes: `+2`, `(12`, `[12]`, `'12'`, `-(12`.
fn size_width(text: &str) -> usize {
    let sign = usize::from(text.starts_with(['+', '-']));
    let size = &text[sign..];
    sign + match size.chars().next() {
        Some('\'') => delimited(size).1,
        Some('(' | '[') => {
            let (inner, taken) = parse_name(size);
            taken.max(inner.len())
        }
        // Two digits are one size where it is between 10 and 39.
        Some('1'..='3') if sign == 0 && size[1..].starts_with(|c: char| c.is_ascii_digit()) => 2,
        Some(digit) if digit.is_ascii_digit() => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{RoffEscape, parse_escape};

    #[test]
    fn escapes_are_read_with_their_arguments() {
        let letter = RoffEscape::Letter;
        let cases = [
            ("-x", letter('-'), 1),
            ("ex", letter('\\'), 1),
            ("&x", RoffEscape::Nothing, 1),
            ("(bux", RoffEscape::Text("•".to_owned()), 3),
            ("[em]x", RoffEscape::Text("—".to_owned()), 4),
            ("fBx", RoffEscape::Font("B"), 2),
            ("f(CWx", RoffEscape::Font("CW"), 4),
            ("f[]x", RoffEscape::Font(""), 3),
            ("s-1x", RoffEscape::Nothing, 3),
            ("s0x", RoffEscape::Nothing, 2),
            ("s12x", RoffEscape::Nothing, 3),
            ("h'2n'x", RoffEscape::Space, 5),
            ("h'-2n'x", RoffEscape::Nothing, 6),
            ("N'65'x", letter('A'), 5),
            ("o'_a'x", letter('a'), 5),
            ("日x", letter('日'), 3),
            ("", RoffEscape::Continuation, 0),
        ];
        for (text, escape, taken) in cases {
            assert_eq!(parse_escape(text), (escape, taken), "{text}");
        }
    }

    #[test]
    fn escapes_that_end_early_stay_within_the_text() {
        for first in (' '..='~').chain(['日']) {
            for rest in
                ["", "'", "'a", "(", "(a", "(日", "(日本", "[", "[a", "+", "-(", "日", "日本日"]
            {
                let text = format!("{first}{rest}");
                let (_, taken) = parse_escape(&text);
                assert!(text.is_char_boundary(taken), "{text} {taken}");
            }
        }
    }
}
