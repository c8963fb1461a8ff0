//! Manual pages: title and description, from the first lines of their roff.

mod escapes;
mod unpack;

use self::escapes::{plain_line, split_arguments};

pub(super) use unpack::{is_compressed, unpack_start};

/// The lines that the name and the description stand in.
const MAX_HEAD_LINES: usize = 400;

/// Title (`chmod(1)`) and description of a manual page, from its first lines.
pub(super) fn read_head(text: &str) -> (Option<String>, Option<String>) {
    let (mut title, mut names) = (None, String::new());
    let (mut in_name, mut has_dash) = (false, false);
    let mut lines = text.lines().take(MAX_HEAD_LINES);
    while let Some(line) = lines.next() {
        let (name, rest) = control_line(line);
        let arguments = || split_arguments(rest);
        match name {
            Some("TH" | "Dt") => {
                let words = arguments();
                let section = words.get(1).map(|section| format!("({section})"));
                title = words
                    .first()
                    .map(|name| format!("{}{}", page_name(name), section.unwrap_or_default()));
            }
            Some("de" | "de1" | "am" | "ig") => {
                lines.by_ref().find(|line| line.starts_with(".."));
            }
            Some("SH" | "Sh") if in_name => break,
            Some("SH" | "Sh") => in_name = true,
            Some("Nd") if in_name => {
                has_dash = true;
                names.push_str(" - ");
                names.push_str(&arguments().join(" "));
            }
            Some("\\\"" | "PP" | "Nm" | "IX") => {}
            // Of the macros, fonts alone have text.
            Some(font) if in_name && (has_dash || is_font(font)) => {
                names.push(' ');
                names.push_str(&arguments().join(" "));
            }
            Some(_) => {}
            None if in_name => {
                names.push(' ');
                names.push_str(&plain_line(line));
            }
            None => {}
        }
    }
    let after_dash = {
        let dashes = [" - ", " — ", " – ", " -- ", " --- "];
        let found = dashes.iter().filter_map(|dash| Some((names.find(dash)?, dash.len()))).min();
        found.map(|(at, length)| names[at + length..].trim().to_owned())
    };
    (title, after_dash.filter(|text| !text.is_empty()))
}

/// Whether a macro writes its arguments in a font.
fn is_font(name: &str) -> bool {
    matches!(
        name,
        "B" | "I" | "R" | "SM" | "SB" | "BI" | "BR" | "IB" | "IR" | "RB" | "RI" | "CW" | "C"
    )
}

/// The name of a page, as `.TH` gives it: in capitals it is written small.
fn page_name(name: &str) -> String {
    let is_capital = !name.chars().any(char::is_lowercase);
    if is_capital { name.to_lowercase() } else { name.to_owned() }
}

/// The title that the name of a file gives: `ls(1)` of `ls.1.gz`.
pub(super) fn title_of_name(name: &str) -> Option<String> {
    let (page, section) = name.strip_suffix(".gz").unwrap_or(name).rsplit_once('.')?;
    Some(format!("{page}({section})"))
}

/// The macro of a line, and its arguments; no macro in a line of text.
fn control_line(line: &str) -> (Option<&str>, &str) {
    let Some(rest) = line.strip_prefix('.').or_else(|| line.strip_prefix('\'')) else {
        return (None, line);
    };
    let rest = rest.trim_start();
    let end = rest.find([' ', '\t']).unwrap_or(rest.len());
    (Some(&rest[..end]), rest[end..].trim())
}

#[cfg(test)]
mod tests;
