//! Highlighted source code for a terminal, from the HTML form that a refdesk gives.

use crate::output::visible;

/// The form of source code with spans of classes.
pub(crate) const HIGHLIGHTED: &str = "text/html;variant=highlighted";

/// The longest tag. A `<` without an end within so many bytes is text.
const MAX_TAG_BYTES: usize = 1_024;
/// How deep spans nest. Those below have the colour of the last.
const MAX_DEPTH: usize = 64;

/// What stands for a character that is a mark in HTML.
const ENTITIES: [(&str, &str); 6] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&amp;", "&"),
];

/// Converts highlighted HTML, chunk by chunk, to text in the colours of a terminal.
///
/// A chunk may end anywhere: the converter holds back a tag or an entity that has only begun.
/// Tags that are no spans are left out.
#[derive(Debug, Default)]
pub(crate) struct HighlightConverter {
    /// The colours of the open spans.
    colors: Vec<Option<&'static str>>,
    /// How many spans are open below those.
    deeper: usize,
    held: String,
    /// Whether the next character is the newline behind `</pre>`, which is none of the file.
    is_behind_pre: bool,
}

impl HighlightConverter {
    /// The text of the next chunk.
    pub(crate) fn convert(&mut self, html: &str) -> String {
        let mut html = std::mem::take(&mut self.held) + html;
        let held = html.split_off(complete_len(&html));
        let shown = self.convert_complete(&html);
        self.held = held;
        shown
    }

    /// The text of what the converter holds back at the end.
    pub(crate) fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        // A tag without an end is no text of the file.
        if held.starts_with('<') { String::new() } else { self.convert_complete(&held) }
    }

    fn convert_complete(&mut self, html: &str) -> String {
        let mut shown = String::with_capacity(html.len());
        let mut rest = html;
        while let Some(open) = rest.find('<') {
            self.push_text(&mut shown, &rest[..open]);
            rest = &rest[open..];
            match tag_len(rest) {
                Some(length) => {
                    self.read_tag(&rest[1..length - 1]);
                    rest = &rest[length..];
                }
                None => {
                    self.push_text(&mut shown, "<");
                    rest = &rest[1..];
                }
            }
        }
        self.push_text(&mut shown, rest);
        shown
    }

    fn read_tag(&mut self, tag: &str) {
        self.is_behind_pre = tag == "/pre";
        if tag.starts_with("span") {
            match self.colors.len() < MAX_DEPTH {
                true => self.colors.push(color_of(tag)),
                false => self.deeper = self.deeper.saturating_add(1),
            }
        } else if tag == "/span" {
            match self.deeper {
                0 => drop(self.colors.pop()),
                _ => self.deeper -= 1,
            }
        }
    }

    /// Appends text, each line in its colour: a pager shows lines alone.
    fn push_text(&mut self, shown: &mut String, html: &str) {
        if html.is_empty() {
            return;
        }
        let is_behind_pre = std::mem::take(&mut self.is_behind_pre);
        let html = html.strip_prefix('\n').filter(|_| is_behind_pre).unwrap_or(html);
        let color = self.colors.iter().rev().find_map(|color| *color);
        for (at, line) in unescape(html).split('\n').enumerate() {
            if at > 0 {
                shown.push('\n');
            }
            match color.filter(|_| !line.is_empty()) {
                Some(color) => shown.push_str(&format!("\x1b[{color}m{}\x1b[0m", visible(line))),
                None => shown.push_str(&visible(line)),
            }
        }
    }
}

/// The length of the tag that `html` begins with; `None` if it has no end.
fn tag_len(html: &str) -> Option<usize> {
    let end =
        html.bytes().take(MAX_TAG_BYTES).skip(1).position(|byte| matches!(byte, b'<' | b'>'))?;
    (html.as_bytes()[end + 1] == b'>').then_some(end + 2)
}

/// How much of `html` can be converted before the next chunk is there.
fn complete_len(html: &str) -> usize {
    if let Some(open) = html.rfind('<')
        && html.len() - open < MAX_TAG_BYTES
        && tag_len(&html[open..]).is_none()
    {
        return open;
    }
    let begins_entity = |at: &usize| {
        ENTITIES
            .iter()
            .any(|(entity, _)| entity.len() > html.len() - at && entity.starts_with(&html[*at..]))
    };
    html.rfind('&').filter(begins_entity).unwrap_or(html.len())
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

/// The text of HTML without tags.
fn unescape(html: &str) -> String {
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
    use super::{HighlightConverter, MAX_TAG_BYTES};

    const HTML: &str = "<pre class=\"hl-code\"><code><span id=\"L1\" class=\"hl-line\">\
        <span class=\"hl-keyword\">let</span> a = &quot;&lt;b&amp;lt;\x1b[2J&quot;;\n</span>\
        <span class=\"hl-comment\">// 資料 &\n// two\n</span></code></pre>\n";
    const SHOWN: &str = "\x1b[35mlet\x1b[0m a = \"<b&lt;^[[2J\";\n\
        \x1b[2m// 資料 &\x1b[0m\n\x1b[2m// two\x1b[0m\n";

    fn converted<'a>(chunks: impl IntoIterator<Item = &'a str>) -> String {
        let mut converter = HighlightConverter::default();
        let shown: String = chunks.into_iter().map(|chunk| converter.convert(chunk)).collect();
        shown + &converter.finish()
    }

    /// The text without colours.
    fn plain(shown: &str) -> String {
        let mut pieces = shown.split("\x1b[");
        let first = pieces.next().unwrap_or_default().to_owned();
        let others = pieces.map(|piece| piece.split_once('m').map_or(piece, |(_, text)| text));
        first + &others.collect::<String>()
    }

    #[test]
    fn spans_become_colours_and_nothing_else_gets_through() {
        assert_eq!(converted([HTML]), SHOWN);
        for broken in ["<", "</span></span>x", "<span", "&", "&am", ""] {
            assert!(converted([broken]).len() <= broken.len(), "{broken}");
        }
    }

    #[test]
    fn a_chunk_may_end_inside_a_tag_or_an_entity() {
        for size in 1..HTML.len() {
            let mut chunks = vec![""];
            let (mut from, mut to) = (0, 0);
            while to < HTML.len() {
                to = HTML.floor_char_boundary(to + size).max(HTML.ceil_char_boundary(to + 1));
                chunks.push(&HTML[from..to]);
                from = to;
            }
            assert_eq!(plain(&converted(chunks)), plain(SHOWN), "chunks of {size} bytes");
        }
    }

    #[test]
    fn a_tag_without_end_is_text_and_is_not_held_forever() {
        let mut converter = HighlightConverter::default();
        converter.convert("<");
        for _ in 0..MAX_TAG_BYTES {
            converter.convert("xx");
        }
        assert!(converter.held.len() <= MAX_TAG_BYTES, "{}", converter.held.len());
        for _ in 0..100_000 {
            converter.convert("<span>");
        }
        assert_eq!(converter.colors.len(), super::MAX_DEPTH);
        assert_eq!(plain(&converted(["<".repeat(3).as_str(), "x>y"])), "<<y");
    }

    #[test]
    fn only_the_newline_behind_the_code_is_left_out() {
        assert_eq!(converted(["<pre><code>a\n\n</code></pre>\n"]), "a\n\n");
        assert_eq!(converted(["<pre><code>a</code></pre>", "\n"]), "a");
    }
}
