//! Escapes of roff: the plain text of a line, without fonts and motions.

/// Names of characters and what they stand for.
const CHARACTERS: [(&str, &str); 36] = [
    ("bu", "•"),
    ("em", "—"),
    ("en", "–"),
    ("hy", "-"),
    ("aq", "'"),
    ("dq", "\""),
    ("lq", "“"),
    ("rq", "”"),
    ("oq", "‘"),
    ("cq", "’"),
    ("co", "©"),
    ("rg", "®"),
    ("tm", "™"),
    ("mu", "×"),
    ("->", "→"),
    ("<-", "←"),
    ("rs", "\\"),
    ("ti", "~"),
    ("ha", "^"),
    ("ga", "`"),
    ("ul", "_"),
    ("sh", "#"),
    ("at", "@"),
    ("lB", "["),
    ("rB", "]"),
    ("lC", "{"),
    ("rC", "}"),
    ("la", "⟨"),
    ("ra", "⟩"),
    ("<=", "≤"),
    (">=", "≥"),
    ("!=", "≠"),
    ("mc", "µ"),
    ("de", "°"),
    ("+-", "±"),
    ("de", "°"),
];

/// The text of a line.
pub(super) fn plain_line(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escape) = rest.chars().next() else { break };
        rest = &rest[escape.len_utf8()..];
        match escape {
            '-' => text.push('-'),
            'e' | '\\' => text.push('\\'),
            '\'' | '`' | '.' => text.push(escape),
            ' ' | '~' | '0' => text.push(' '),
            't' => text.push('\t'),
            '"' | '#' => return text,
            '(' => {
                let (name, after) = split_chars(rest, 2);
                text.push_str(character(name).unwrap_or_default());
                rest = after;
            }
            '[' => {
                let (name, after) = rest.split_once(']').unwrap_or((rest, ""));
                push_named(name, &mut text);
                rest = after;
            }
            '*' => {
                let (name, after) = escape_name(rest);
                text.push_str(match name {
                    "lq" => "“",
                    "rq" => "”",
                    "R" => "®",
                    _ => "",
                });
                rest = after;
            }
            'f' | 'F' | 'n' | 'm' | 'M' | 'g' | 'k' | '$' | 'Y' | 'V' => {
                let rest_name = rest.strip_prefix(['+', '-']).unwrap_or(rest);
                rest = escape_name(rest_name).1;
            }
            's' => rest = skip_size(rest),
            'h' | 'v' | 'w' | 'l' | 'L' | 'D' | 'b' | 'o' | 'x' | 'X' | 'N' | 'A' | 'B' | 'R'
            | 'H' | 'S' | 'Z' => rest = skip_quoted(rest),
            // Zero-width: `\&`, `\|`, `\^`, `\%`, `\:`, `\c`, `\/`, `\,`, braces of conditions.
            _ => {}
        }
    }
    text.push_str(rest);
    text
}

fn push_named(name: &str, text: &mut String) {
    let code = name.strip_prefix('u').and_then(|code| u32::from_str_radix(code, 16).ok());
    match (character(name), code.and_then(char::from_u32)) {
        (Some(known), _) => text.push_str(known),
        (None, Some(letter)) => text.push(letter),
        (None, None) => {}
    }
}

fn character(name: &str) -> Option<&'static str> {
    CHARACTERS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn split_chars(text: &str, count: usize) -> (&str, &str) {
    let end = text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    text.split_at(end)
}

/// A name of one character, `(xx` or `[name]`, and what follows it.
fn escape_name(text: &str) -> (&str, &str) {
    match text.chars().next() {
        Some('(') => split_chars(&text[1..], 2),
        Some('[') => text[1..].split_once(']').unwrap_or((&text[1..], "")),
        Some(_) => split_chars(text, 1),
        None => (text, text),
    }
}

/// `\s-1`, `\s+2`, `\s10`, `\s0`, `\s'…'`.
fn skip_size(text: &str) -> &str {
    if text.starts_with(['\'', '[']) {
        return skip_quoted(text);
    }
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    text.strip_prefix(|digit: char| digit.is_ascii_digit()).unwrap_or(text)
}

/// Skips an argument between two equal characters.
fn skip_quoted(text: &str) -> &str {
    let Some(quote) = text.chars().next() else { return text };
    let inside = &text[quote.len_utf8()..];
    let close = if quote == '[' { ']' } else { quote };
    inside.split_once(close).map_or(inside, |(_, rest)| rest)
}

/// The arguments of a macro, unquoted, without escapes.
pub(super) fn split_arguments(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() && !rest.starts_with("\\\"") {
        let mut argument = String::new();
        if let Some(inside) = rest.strip_prefix('"') {
            rest = inside;
            loop {
                let Some((before, after)) = rest.split_once('"') else {
                    argument.push_str(rest);
                    rest = "";
                    break;
                };
                argument.push_str(before);
                rest = after;
                // Two quotes stand for one.
                match rest.strip_prefix('"') {
                    Some(more) => {
                        argument.push('"');
                        rest = more;
                    }
                    None => break,
                }
            }
        } else {
            let mut is_escaped = false;
            let end = rest.char_indices().find(|(_, letter)| {
                let is_end = !is_escaped && (*letter == ' ' || *letter == '\t');
                is_escaped = !is_escaped && *letter == '\\';
                is_end
            });
            let end = end.map_or(rest.len(), |(at, _)| at);
            argument.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        arguments.push(plain_line(&argument));
        rest = rest.trim_start();
    }
    arguments
}
