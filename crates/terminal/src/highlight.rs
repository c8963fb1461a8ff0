//! Highlighted source code for a terminal, from the HTML form that a refdesk gives.

use crate::output::visible;

/// The form of source code with spans of classes.
pub(crate) const HIGHLIGHTED: &str = "text/html;variant=highlighted";

/// The text of highlighted HTML in the colours of a terminal. Tags that are no spans are left out.
pub(crate) fn to_terminal(html: &str) -> String {
    let mut shown = String::with_capacity(html.len());
    let mut colors: Vec<Option<&str>> = Vec::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        push_text(&mut shown, &rest[..open], colors.iter().rev().find_map(|color| *color));
        let tag = &rest[open + 1..];
        let Some(close) = tag.find('>') else { return shown };
        let (tag, behind) = (&tag[..close], &tag[close + 1..]);
        if tag.starts_with("span") {
            colors.push(color_of(tag));
        } else if tag == "/span" {
            colors.pop();
        }
        rest = behind;
    }
    push_text(&mut shown, rest, colors.iter().rev().find_map(|color| *color));
    shown
}

/// The colour of a span by its class: those of the 16 that every theme has.
fn color_of(tag: &str) -> Option<&'static str> {
    let class = tag.split("class=\"hl-").nth(1)?.split('"').next()?;
    match class {
        "comment" => Some("2"),
        "keyword" => Some("35"),
        "string" => Some("32"),
        "number" | "constant" => Some("36"),
        "function" | "macro" => Some("34"),
        "type" | "tag" => Some("33"),
        "inserted" => Some("32"),
        "deleted" => Some("31"),
        "heading" | "attribute" => Some("1"),
        _ => None,
    }
}

/// Appends text, each line in its colour: a pager shows lines alone.
fn push_text(shown: &mut String, html: &str, color: Option<&str>) {
    let text = unescape(html);
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            shown.push('\n');
        }
        match color.filter(|_| !line.is_empty()) {
            Some(color) => shown.push_str(&format!("\x1b[{color}m{}\x1b[0m", visible(line))),
            None => shown.push_str(&visible(line)),
        }
    }
}

/// The text of HTML without tags.
fn unescape(html: &str) -> String {
    const ENTITIES: [(&str, &str); 6] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&amp;", "&"),
    ];
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        let found = ENTITIES.iter().find(|(entity, _)| rest[at..].starts_with(entity));
        let (entity, letter) = found.copied().unwrap_or(("&", "&"));
        text.push_str(letter);
        rest = &rest[at + entity.len()..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::to_terminal;

    #[test]
    fn spans_become_colours_and_nothing_else_gets_through() {
        let html = "<pre class=\"hl-code\"><code><span id=\"L1\" class=\"hl-line\">\
            <span class=\"hl-keyword\">let</span> a = &quot;&lt;b&amp;lt;\x1b[2J&quot;;\n</span>\
            <span class=\"hl-comment\">// one\n// two</span></code></pre>";
        assert_eq!(
            to_terminal(html),
            "\x1b[35mlet\x1b[0m a = \"<b&lt;^[[2J\";\n\x1b[2m// one\x1b[0m\n\x1b[2m// two\x1b[0m"
        );
        for broken in ["<", "</span></span>x", "<span", "&", "&am", ""] {
            assert!(to_terminal(broken).len() <= broken.len(), "{broken}");
        }
    }
}
