//! HTML inside of other documents: bodies of mails, chapters of books, outputs of notebooks.
//!
//! All of them pass here, so that one place decides which converter of HTML they use.

use std::borrow::Cow;

use crate::converted::Converted;
use crate::error::ConvertError;
use crate::options::Options;

/// All of a page or a fragment as Markdown, but for its head: what is around it has a title.
pub(crate) fn html_body(html: &str, options: &Options) -> Result<Converted, ConvertError> {
    let text = words(&without_head(html));
    if text.len() > options.max_output_bytes {
        return Err(ConvertError::over_limit("the result is over the limit of bytes"));
    }
    Ok(Converted::text(text))
}

/// A page without its head.
fn without_head(html: &str) -> Cow<'_, str> {
    let small = html.to_ascii_lowercase();
    let start = small.find("<head>").or_else(|| small.find("<head "));
    let end = small.find("</head>").map(|at| at + "</head>".len());
    let body = small.find("<body").unwrap_or(small.len());
    match (start, end) {
        (Some(start), Some(end)) if start < end && end <= body => {
            Cow::Owned(format!("{}{}", &html[..start], &html[end..]))
        }
        _ => Cow::Borrowed(html),
    }
}

fn words(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    // A table row ends its line; so do blocks.
    while let Some(at) = rest.find(['<', '&']) {
        push_words(&mut text, &rest[..at]);
        rest = &rest[at..];
        let (skip, piece) = if rest.starts_with('<') { tag(rest) } else { entity(rest) };
        text.push_str(&piece);
        rest = &rest[skip..];
    }
    push_words(&mut text, rest);
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let mut body = String::with_capacity(text.len());
    for line in lines {
        if !line.is_empty() || !body.ends_with("\n\n") {
            body.push_str(line);
            body.push('\n');
        }
    }
    body.trim().to_owned()
}

/// Appends text with its spaces and line ends as single spaces.
fn push_words(text: &mut String, piece: &str) {
    for letter in piece.chars() {
        let letter = if letter.is_ascii_whitespace() { ' ' } else { letter };
        if letter != ' ' || !text.ends_with([' ', '\n']) {
            text.push(letter);
        }
    }
}

/// The length of the tag at the beginning of `html`, and what it becomes.
fn tag(html: &str) -> (usize, String) {
    if let Some(comment) = html.strip_prefix("<!--") {
        return (comment.find("-->").map_or(html.len(), |end| end + 7), String::new());
    }
    // A tag without an end is text.
    let end = html[1..].find(['<', '>']).map(|at| at + 1);
    let Some(end) = end.filter(|end| html[*end..].starts_with('>')) else {
        return (1, "<".to_owned());
    };
    let inside = &html[1..end];
    let name = inside.trim_start_matches('/').split([' ', '\t', '\n', '\r', '/']).next();
    let name = name.unwrap_or_default().to_ascii_lowercase();
    let is_end = inside.starts_with('/');
    if !is_end && matches!(name.as_str(), "script" | "style" | "head" | "title" | "rp") {
        return (skipped(html, &name), String::new());
    }
    let level = name.strip_prefix('h').and_then(|level| level.parse::<usize>().ok());
    let piece = match (name.as_str(), is_end) {
        (_, false) if level.is_some_and(|level| level <= 6) => {
            format!("\n\n{} ", "#".repeat(level.unwrap_or(1)))
        }
        ("p" | "div" | "table" | "ul" | "ol" | "blockquote" | "section", _) => "\n\n".to_owned(),
        ("br" | "tr" | "hr", _) => "\n".to_owned(),
        ("li", false) => "\n- ".to_owned(),
        ("td" | "th", true) => " | ".to_owned(),
        ("rt", false) => "(".to_owned(),
        ("rt", true) => ")".to_owned(),
        ("img", _) => attribute(inside, "alt").unwrap_or_default().to_owned(),
        _ if level.is_some() => "\n\n".to_owned(),
        _ => String::new(),
    };
    (end + 1, piece)
}

/// Where the element with this name ends.
fn skipped(html: &str, name: &str) -> usize {
    let mut from = 0;
    while let Some(at) = html[from..].find("</") {
        let after = from + at + 2;
        let is_end = html.get(after..after + name.len());
        if is_end.is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return html[after..].find('>').map_or(html.len(), |end| after + end + 1);
        }
        from = after;
    }
    html.len()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let value = tag.split_once(&format!("{name}="))?.1;
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next()
}

/// The length of the entity at the beginning of `html`, and its character.
fn entity(html: &str) -> (usize, String) {
    let Some(end) = html.bytes().take(12).position(|byte| byte == b';') else {
        return (1, "&".to_owned());
    };
    let name = &html[1..end];
    let code = match name.strip_prefix("#x").or_else(|| name.strip_prefix("#X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => name.strip_prefix('#').and_then(|digits| digits.parse().ok()),
    };
    let letter = match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => code.and_then(char::from_u32),
    };
    match letter {
        Some(letter) => (end + 1, letter.to_string()),
        None => (1, "&".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{without_head, words};

    #[test]
    fn the_head_of_a_page_is_left_out() {
        assert_eq!(without_head("<html><HEAD><title>t</title></Head><body>b"), "<html><body>b");
        for whole in ["<p>a</p>", "<head><title>t", "<body></head>", "</head><head>", "<header>a"] {
            assert_eq!(without_head(whole), whole);
        }
    }

    #[test]
    fn the_words_of_html_come_out_in_order() {
        let html = "<html><head><title>t</title></head><body><h1>A &amp; B</h1><p>one\n two</p>\
                    <script>x</script><ul><li>item</li></ul><ruby>漢字<rt>かんじ</rt></ruby></body>";
        assert_eq!(words(html), "# A & B\n\none two\n\n- item\n\n漢字(かんじ)");
    }

    #[test]
    fn broken_html_ends() {
        for html in ["<", "<a", "&", "&#", "<!--", "<script>", "a<b", "&日本;", "<日本"] {
            words(html);
        }
    }
}
