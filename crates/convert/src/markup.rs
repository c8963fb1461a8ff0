//! Converter of Markdown: HTML that loads and runs nothing, with anchors and highlighted code.

use std::collections::HashMap;

use pulldown_cmark::{CodeBlockKind, Event, Options as Extensions, Parser, Tag, TagEnd, html};

use crate::conversion::Conversion;
use crate::decode::decode;
use crate::document::Document;
use crate::error::ConvertError;
use crate::form::Form;
use crate::html::{over_output_limit, sanitise};
use crate::options::Options;
use crate::source::{HighlightBudget, Highlighter, push_code};

/// The longest anchor of a heading, in bytes.
const MAX_ANCHOR_BYTES: usize = 200;

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    match form {
        Form::Html => html_of_markdown(&decode(document.bytes, None), document.options),
        _ => Err(ConvertError::no_form(document.kind, form)),
    }
}

/// CommonMark, with the extensions that GitHub made usual, and front matter.
fn extensions() -> Extensions {
    Extensions::ENABLE_TABLES
        | Extensions::ENABLE_FOOTNOTES
        | Extensions::ENABLE_STRIKETHROUGH
        | Extensions::ENABLE_TASKLISTS
        | Extensions::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Extensions::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
}

pub(crate) fn html_of_markdown(text: &str, options: &Options) -> Result<Conversion, ConvertError> {
    let mut rewriter = MarkdownRewriter {
        events: Parser::new_ext(text, extensions()),
        pending: Vec::new().into_iter(),
        anchors: HashMap::new(),
        budget: HighlightBudget::new(),
    };
    let mut page = String::with_capacity(text.len() * 2);
    html::push_html(&mut page, &mut rewriter);
    if page.len() > options.max_output_bytes {
        return Err(over_output_limit(options));
    }
    let mut converted = sanitise(&page, options)?;
    converted.losses.extend(rewriter.budget.losses());
    Ok(converted)
}

/// The events of a text, with anchors in headings, code highlighted and front matter as a table.
struct MarkdownRewriter<'a> {
    events: Parser<'a>,
    /// Events that were read ahead.
    pending: std::vec::IntoIter<Event<'a>>,
    /// How often each anchor was given.
    anchors: HashMap<String, usize>,
    budget: HighlightBudget,
}

impl<'a> Iterator for MarkdownRewriter<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        if let Some(event) = self.pending.next() {
            return Some(event);
        }
        match self.events.next()? {
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let events = self.read_to(&TagEnd::Heading(level));
                let id = Some(self.anchor(&text_of(&events)).into());
                self.pending = events.into_iter();
                Some(Event::Start(Tag::Heading { level, id, classes, attrs }))
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let code = text_of(&self.read_to(&TagEnd::CodeBlock));
                Some(Event::Html(self.code_block(&kind, &code).into()))
            }
            Event::Start(Tag::MetadataBlock(kind)) => {
                let matter = text_of(&self.read_to(&TagEnd::MetadataBlock(kind)));
                Some(Event::Html(front_matter(&matter).into()))
            }
            event => Some(event),
        }
    }
}

impl<'a> MarkdownRewriter<'a> {
    /// The events up to `end` and with it.
    fn read_to(&mut self, end: &TagEnd) -> Vec<Event<'a>> {
        let mut events = Vec::new();
        for event in self.events.by_ref() {
            let is_end = matches!(&event, Event::End(tag) if tag == end);
            events.push(event);
            if is_end {
                break;
            }
        }
        events
    }

    /// An anchor of the words of a heading, as GitHub makes it.
    fn anchor(&mut self, heading: &str) -> String {
        let mut anchor = String::new();
        for letter in heading.trim().chars().flat_map(char::to_lowercase) {
            match letter {
                ' ' => anchor.push('-'),
                letter if letter.is_alphanumeric() || matches!(letter, '-' | '_') => {
                    anchor.push(letter)
                }
                _ => {}
            }
        }
        anchor.truncate(anchor.floor_char_boundary(MAX_ANCHOR_BYTES));
        let count = self.anchors.entry(anchor.clone()).or_default();
        *count += 1;
        if *count > 1 { format!("{anchor}-{}", *count - 1) } else { anchor }
    }

    fn code_block(&mut self, kind: &CodeBlockKind<'_>, code: &str) -> String {
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().unwrap_or(""),
            CodeBlockKind::Indented => "",
        };
        let mut out = "<pre><code".to_owned();
        if !language.is_empty() {
            out.push_str(" class=\"language-");
            crate::html::push_text(&mut out, language);
            out.push('"');
        }
        out.push('>');
        match Highlighter::for_language(language) {
            Some(mut highlighter) => {
                for line in code.split_inclusive('\n') {
                    highlighter.push_line(&mut out, line, &mut self.budget);
                }
            }
            None => push_code(&mut out, code),
        }
        out.push_str("</code></pre>\n");
        out
    }
}

fn text_of(events: &[Event<'_>]) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    text
}

/// Front matter as a table of its keys; what is indented belongs to the key above.
fn front_matter(matter: &str) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    for line in matter.lines().filter(|line| !line.trim().is_empty()) {
        let is_inner = line.starts_with([' ', '\t', '-', '#', ']', '}', '[']);
        match (line.split_once([':', '=']), rows.last_mut()) {
            (Some((key, value)), _) if !is_inner => {
                rows.push((key.trim(), value.trim().to_owned()))
            }
            (_, Some((_, value))) => {
                value.push('\n');
                value.push_str(line);
            }
            (_, None) => rows.push(("", line.to_owned())),
        }
    }
    let mut out = "<table><tbody>".to_owned();
    for (key, value) in rows {
        out.push_str("<tr><th>");
        push_code(&mut out, key);
        out.push_str("</th><td>");
        for (at, line) in value.trim_start_matches('\n').split('\n').enumerate() {
            out.push_str(if at > 0 { "<br>" } else { "" });
            push_code(&mut out, line);
        }
        out.push_str("</td></tr>");
    }
    out.push_str("</tbody></table>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::html_of_markdown;
    use crate::options::Options;

    fn html(text: &str) -> String {
        String::from_utf8(html_of_markdown(text, &Options::default()).unwrap().body).unwrap()
    }

    #[test]
    fn the_usual_extensions_are_read() {
        let text = "| a | b |\n|---|--:|\n| 1 | 2 |\n\n~~no~~\n\n- [x] done\n- [ ] open\n\nx[^1]\n\n[^1]: note\n";
        let html = html(text);
        for part in [
            "<td>1</td><td align=\"right\">2</td>",
            "<del>no</del>",
            "<li>☑ \ndone</li>",
            "☐ \nopen",
            "<a href=\"#user-content-1\" rel=\"noreferrer noopener\">1</a>",
            "<div id=\"user-content-1\">",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn headings_have_anchors_that_links_reach() {
        let html = html("# A *b* `c`, d!\n## 日本 語\n## x\n## x\n[up](#a-b-c-d)");
        for part in [
            "<h1 id=\"user-content-a-b-c-d\">A <em>b</em> <code>c</code>, d!</h1>",
            "<h2 id=\"user-content-日本-語\">",
            "<h2 id=\"user-content-x-1\">",
            "<a href=\"#user-content-a-b-c-d\"",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn code_is_highlighted_and_escaped() {
        let html =
            html("```rust,ignore\nfn a() { \"<b>\" }\n```\n\n    <i>\n\n```x\"><script>\n&\n```");
        assert!(
            html.contains("<code class=\"language-rust\"><span class=\"hl-keyword\">fn</span>"),
            "{html}"
        );
        assert!(
            html.contains("&lt;b&gt;") && html.contains("&lt;i&gt;") && !html.contains("<script")
        );
    }

    #[test]
    fn raw_html_is_sanitised() {
        let html = html(
            "a <b onclick=x>b</b> <script>steal()</script>\n\n<div style=x><img src=x onerror=y></div>\n\n\
             [l](javascript:steal()) ![i](https://e.test/i.png) <javascript:steal()> [d](<data:text/html,x>)",
        );
        assert!(!html.contains("<script") && !html.contains("=\"javascript"), "{html}");
        assert!(!html.contains("onerror") && !html.contains("onclick"), "{html}");
        assert!(html.contains("<b>b</b>") && !html.contains("<img"), "{html}");
        assert!(
            html.contains("<a href=\"https://e.test/i.png\" rel=\"noreferrer noopener\">i</a>")
        );
    }

    #[test]
    fn front_matter_is_a_table() {
        let html = html("---\ntitle: A & b\ntags:\n  - x\n---\n# T\n");
        let table = "<table><tbody><tr><th>title</th><td>A &amp; b</td></tr>\
                     <tr><th>tags</th><td>  - x</td></tr></tbody></table>";
        assert!(html.starts_with(table), "{html}");
    }

    #[test]
    fn texts_that_are_hard_to_parse_end_in_time() {
        for piece in [
            "[",
            "![",
            "*",
            "_a",
            "`a``",
            "<!--",
            "<a ",
            "> ",
            "- ",
            "[a](",
            "[^1]: ",
            "|a",
            "~~",
            "&#",
            "<![CDATA[",
            "<?",
            "\\`",
            "[a][b",
            "*a **",
            "1. ",
            "#",
            "    ",
            "a\n=\n",
            "[a]: b\n",
            "|a|\n|-|\n",
        ] {
            html(&piece.repeat(20_000));
        }
        html(&"[a](<b".repeat(10_000));
        html(&format!("{}a{}", "*".repeat(20_000), "*".repeat(20_000)));
    }
}
