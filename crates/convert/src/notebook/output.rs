//! Outputs of cells of notebooks.

use super::fenced;
use super::format::NotebookOutput;
use crate::email::size_words;
use crate::error::ConvertError;
use crate::html_body::html_body;
use crate::options::Options;

const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/svg+xml", "image/gif"];

/// An output as Markdown; `None` is a broken one.
pub(super) fn output_text(
    output: Option<&NotebookOutput<'_>>,
    options: &Options,
) -> Result<String, ConvertError> {
    let Some(output) = output else { return Ok("[broken output]\n".to_owned()) };
    match output.output_type.as_deref() {
        Some("stream") => {
            let name = output.name.as_deref().or(output.stream.as_deref());
            let label = if name == Some("stderr") { "Output (stderr)" } else { "Output" };
            Ok(labelled(label, &output.text()))
        }
        Some("error" | "pyerr") => {
            let name = output.ename.as_deref().unwrap_or_default();
            let message = output.evalue.as_deref().unwrap_or_default();
            let traceback = output.traceback();
            let text = format!("{name}: {message}");
            // The traceback usually ends with the message.
            let has_message = shown(&traceback).contains(message);
            let text = if has_message && !traceback.is_empty() {
                traceback
            } else {
                text + "\n" + &traceback
            };
            Ok(labelled("Error", &text))
        }
        _ => data_text(output, options),
    }
}

fn labelled(label: &str, text: &str) -> String {
    let text = shown(text);
    if text.trim().is_empty() {
        return String::new();
    }
    format!("{label}:\n\n{}", fenced(&text, "text"))
}

/// The form of an output that tells the most as text.
fn data_text(output: &NotebookOutput<'_>, options: &Options) -> Result<String, ConvertError> {
    let plain = output.data("text/plain");
    if let Some((mime, data)) = IMAGES.iter().find_map(|mime| Some((*mime, output.data(mime)?))) {
        // What base64 holds; a vector image is text.
        let size = if mime == "image/svg+xml" { data.len() } else { data.trim().len() / 4 * 3 };
        let plain = plain.map(|text| format!(": {}", one_line(&text))).unwrap_or_default();
        let plain = plain.replace(['[', ']', '<'], " ");
        return Ok(format!("[{mime} output, {}{plain}]\n", size_words(size)));
    }
    let html = output.data("text/html");
    if let Some(table) = html.as_deref().filter(|html| html.contains("<table")) {
        return html_text(table, options);
    }
    if let Some(markdown) = output.data("text/markdown") {
        return Ok(format!("Output:\n\n{}\n", markdown.trim()));
    }
    if let Some(plain) = plain {
        return Ok(labelled("Output", &plain));
    }
    if let Some(html) = html {
        return html_text(&html, options);
    }
    for (mime, language) in [("text/latex", "latex"), ("application/json", "json")] {
        if let Some(text) = output.data(mime) {
            return Ok(format!("Output:\n\n{}", fenced(&text, language)));
        }
    }
    let mimes: Vec<_> = output.mimes().take(3).map(one_line).collect();
    Ok(if mimes.is_empty() { String::new() } else { format!("[{} output]\n", mimes.join(", ")) })
}

fn html_text(html: &str, options: &Options) -> Result<String, ConvertError> {
    let text = html_body(html, options)?.body;
    Ok(format!("Output:\n\n{}\n", String::from_utf8_lossy(&text).trim()))
}

fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(200).collect()
}

/// A text as a terminal shows it: without colours, and a line that was written over as it was last.
fn shown(text: &str) -> String {
    let plain = without_escapes(text);
    if !plain.contains('\r') {
        return plain;
    }
    let plain = plain.replace("\r\n", "\n");
    let mut text = String::with_capacity(plain.len());
    for (at, line) in plain.split('\n').enumerate() {
        if at > 0 {
            text.push('\n');
        }
        text.push_str(line.trim_end_matches('\r').rsplit('\r').next().unwrap_or(line));
    }
    text
}

/// A text without the escape sequences of terminals.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\u{1b}', Some('[')) => {
                letters.next();
                // Parameters, then one letter.
                letters.by_ref().find(|one| matches!(one, '@'..='~'));
            }
            ('\u{1b}', Some(']')) => {
                letters.by_ref().find(|one| matches!(one, '\u{7}' | '\\' | '\n'));
            }
            ('\u{1b}', _) => {
                letters.next();
            }
            ('\u{8}', _) => {
                plain.pop();
            }
            (other, _) if other.is_control() && !matches!(other, '\n' | '\t' | '\r') => {}
            (other, _) => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn colours_and_overwritten_lines_are_not_shown() {
        assert_eq!(shown("\u{1b}[0;31mError\u{1b}[0m: x"), "Error: x");
        assert_eq!(shown("10%\r50%\r100%\nend\r\n"), "100%\nend\n");
        assert_eq!(shown("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}"), "link");
        assert_eq!(shown("\u{1b}["), "");
    }
}
