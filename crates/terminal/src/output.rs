//! Standard output of a command: colours, width, and foreign text without control characters.

use std::io::{self, BufWriter, IsTerminal as _, Write};

use resource::uri::percent_decode;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::args::ColorChoice;
use crate::error::CommandError;

/// The width of a terminal that does not tell its own.
const USUAL_WIDTH: usize = 80;

/// Where the result of a command goes.
pub(crate) struct Output {
    out: BufWriter<Box<dyn Write + Send>>,
    pub(crate) is_terminal: bool,
    /// The columns of the terminal; `None` if nothing needs to fit.
    pub(crate) width: Option<usize>,
    pub(crate) height: usize,
    /// The width of the terminal in pixels, if it tells it.
    pub(crate) pixels: Option<usize>,
    pub(crate) colors: bool,
}

/// What a piece of text is, as colours tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Collection,
    Dim,
    Match,
    Place,
    Warning,
}

impl Style {
    /// The parameters of the escape sequence: the 16 colours that every theme has.
    fn code(self) -> &'static str {
        match self {
            Self::Collection => "1;34",
            Self::Dim => "2",
            Self::Match => "1;31",
            Self::Place => "35",
            Self::Warning => "33",
        }
    }
}

impl Output {
    pub(crate) fn new(color: ColorChoice) -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let width = is_terminal.then(|| terminal_width().unwrap_or(USUAL_WIDTH));
        let colors = color.applies(is_terminal);
        let size = rustix::termios::tcgetwinsize(&stdout).ok().filter(|size| size.ws_row > 0);
        let height = size.map_or(24, |size| usize::from(size.ws_row));
        let pixels = size.map(|size| usize::from(size.ws_xpixel)).filter(|pixels| *pixels > 0);
        Self { out: BufWriter::new(Box::new(stdout)), is_terminal, width, height, pixels, colors }
    }

    /// Output to `out`, which is a terminal of this many columns, or none.
    #[cfg(test)]
    pub(crate) fn to(out: Box<dyn Write + Send>, width: Option<usize>) -> Self {
        let is_terminal = width.is_some();
        let out = BufWriter::new(out);
        Self { out, is_terminal, width, height: 24, pixels: None, colors: is_terminal }
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        Ok(self.out.write_all(bytes)?)
    }

    pub(crate) fn line(&mut self, line: &str) -> Result<(), CommandError> {
        self.bytes(line.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Writes a line that must be seen at once.
    pub(crate) fn line_now(&mut self, line: &str) -> Result<(), CommandError> {
        self.line(line)?;
        self.finish()
    }

    /// Writes a JSON value: indented for a person, on one line for a program.
    pub(crate) fn json(&mut self, value: &Value) -> Result<(), CommandError> {
        let text = if self.is_terminal {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        let text = text.map_err(|error| CommandError::Failed(error.to_string()))?;
        self.line(&text)
    }

    /// Sends what is buffered.
    pub(crate) fn finish(&mut self) -> Result<(), CommandError> {
        Ok(self.out.flush()?)
    }

    /// `text` in the colours of `style`, where there are colours.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        match self.colors {
            true => format!("\x1b[{}m{text}\x1b[0m", style.code()),
            false => text.to_owned(),
        }
    }
}

/// Columns of the terminal: those that `COLUMNS` says, else those that it has.
pub fn terminal_width() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let size = || rustix::termios::tcgetwinsize(io::stdout()).ok();
    told.or_else(|| size().map(|size| usize::from(size.ws_col))).filter(|columns| *columns > 0)
}

/// Writes words for a person to standard error.
pub(crate) fn tell(words: &str) {
    #[cfg(test)]
    crate::tests::keep_told(words);
    let _ = io::stderr().write_all(format!("{}\n", one_line(words)).as_bytes());
}

/// Whether a character would change how a terminal shows what is around it.
fn is_control(letter: char) -> bool {
    // The second range turns text around (bidirectional overrides and isolates).
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text of a server on one line, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|letter| if is_control(letter) { ' ' } else { letter }).collect()
}

/// A text of a server with its lines, in which control characters are visible: `^[`.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            '\r' => {}
            letter if letter.is_ascii_control() => {
                shown.push('^');
                shown.push(char::from(letter as u8 ^ 0x40));
            }
            letter if is_control(letter) => shown.push('\u{fffd}'),
            letter => shown.push(letter),
        }
    }
    shown
}

/// A URI as a person reads it: letters beyond ASCII without percent-encoding, as in an IRI
/// (RFC 3987). [`encoded_uri`] is the way back.
pub(crate) fn shown_uri(uri: &str) -> String {
    let mut shown = String::with_capacity(uri.len());
    let mut rest = uri;
    while let Some(at) = rest.find('%') {
        shown.push_str(&rest[..at]);
        rest = &rest[at..];
        // One letter has at most four bytes, each of them three characters.
        let letter = (2..=4).find_map(|count| {
            let encoded = rest.get(..count * 3)?;
            let bytes = percent_decode(encoded);
            let text = std::str::from_utf8(&bytes).ok().filter(|_| bytes.len() == count)?;
            let letter = text.chars().next().filter(|_| text.chars().count() == 1)?;
            (!is_control(letter) && !letter.is_whitespace()).then_some((letter, count * 3))
        });
        match letter {
            Some((letter, length)) => {
                shown.push(letter);
                rest = &rest[length..];
            }
            None => {
                shown.push('%');
                rest = &rest[1..];
            }
        }
    }
    one_line(&(shown + rest))
}

/// The URI that a person wrote with letters beyond ASCII, or with spaces.
pub(crate) fn encoded_uri(written: &str) -> String {
    let mut uri = String::with_capacity(written.len());
    for letter in written.chars() {
        if letter.is_ascii() && letter != ' ' {
            uri.push(letter);
        } else {
            let mut bytes = [0; 4];
            letter
                .encode_utf8(&mut bytes)
                .bytes()
                .for_each(|byte| uri.push_str(&format!("%{byte:02X}")));
        }
    }
    uri
}

/// The columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// The text cut to `most` columns, with an ellipsis where something is missing.
pub(crate) fn fit(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 1;
    for letter in text.chars() {
        used += letter.width().unwrap_or_default();
        if used > most {
            break;
        }
        shown.push(letter);
    }
    shown + "…"
}

/// The end of the text in `most` columns, after an ellipsis: of a URI it tells the most.
pub(crate) fn fit_end(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut start = text.len();
    let mut used = 1;
    for (at, letter) in text.char_indices().rev() {
        used += letter.width().unwrap_or_default();
        if used > most {
            break;
        }
        start = at;
    }
    format!("…{}", &text[start..])
}

#[cfg(test)]
mod tests {
    use super::{columns, encoded_uri, fit, fit_end, one_line, shown_uri, visible};

    #[test]
    fn a_uri_is_shown_with_its_letters_and_read_back() {
        let uri = "file:///a/%E8%B3%87%E6%96%99/a%20b%2Fc.md?x=%C3%A9";
        assert_eq!(shown_uri(uri), "file:///a/資料/a%20b%2Fc.md?x=é");
        assert_eq!(encoded_uri(&shown_uri(uri)), uri);
        assert_eq!(encoded_uri("file:///a/a b"), "file:///a/a%20b");
        for odd in ["%", "%E8", "%E8%B3", "%FF%FE", "%E2%80%AE", "100%", "%41", "資%E8"] {
            assert!(!shown_uri(odd).contains('\u{202e}'), "{odd}");
        }
        assert_eq!(shown_uri("%E2%80%AE%41"), "%E2%80%AE%41");
    }

    #[test]
    fn japanese_text_takes_two_columns_a_letter_and_is_cut_between_letters() {
        assert_eq!(columns("資料.md"), 7);
        assert_eq!(fit("資料.md", 7), "資料.md");
        assert_eq!(fit("資料.md", 6), "資料.…");
        assert_eq!(fit("資料.md", 4), "資…");
        assert_eq!(fit("資料.md", 2), "…");
        assert_eq!([fit_end("資料.md", 7), fit_end("資料.md", 6)], ["資料.md", "…料.md"]);
        assert_eq!([fit_end("資料.md", 5), fit_end("資料", 2)], ["….md", "…"]);
    }

    #[test]
    fn a_name_cannot_change_what_the_terminal_shows() {
        assert_eq!(one_line("a\x1b[31m\nb\u{202e}c\u{9b}"), "a [31m b c ");
        assert_eq!(visible("a\x1b[31m\r\n\tb\u{202e}c\x07"), "a^[[31m\n\tb\u{fffd}c^G");
    }
}
