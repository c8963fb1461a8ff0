//! Head of an HTML page: its title, description and language.

use super::super::language::LanguageTag;
use super::inline::plain_text;

/// What an HTML page says of itself.
#[derive(Debug, Default, PartialEq)]
pub(super) struct HtmlHead {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) language: Option<LanguageTag>,
}

/// Reads the tags that describe a page, each once.
pub(super) fn read_head(text: &str) -> HtmlHead {
    let mut head = HtmlHead::default();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let tag = &rest[start + 1..];
        let Some(end) = tag.find('>') else { break };
        let (inside, after) = (&tag[..end], &tag[end + 1..]);
        let name = inside.split([' ', '\t', '\n', '/']).next().unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "html" => {
                let tag = attribute(inside, "lang").and_then(|tag| LanguageTag::parse(&tag).ok());
                head.language = tag;
            }
            "meta"
                if attribute(inside, "name")
                    .is_some_and(|name| name.eq_ignore_ascii_case("description")) =>
            {
                head.description = attribute(inside, "content").map(|text| unescape(&text));
            }
            name @ ("title" | "h1") if head.title.is_none() => {
                head.title = text_until(after, name).filter(|text| !text.is_empty());
            }
            "p" if head.description.is_none() => {
                head.description = text_until(after, "p").filter(|text| !text.is_empty());
            }
            _ => {}
        }
        rest = after;
    }
    head
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    loop {
        let (before, after) = rest.split_once('=')?;
        let own =
            before.rsplit([' ', '\t', '\n']).find(|word| !word.is_empty()).unwrap_or_default();
        let after = after.trim_start();
        let (value, next) = match after.chars().next()? {
            quote @ ('"' | '\'') => after[1..].split_once(quote)?,
            _ => after.split_once([' ', '\t', '\n']).unwrap_or((after, "")),
        };
        if own.eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = next;
    }
}

/// The text before the end tag of `name`.
fn text_until(text: &str, name: &str) -> Option<String> {
    let close = format!("</{name}");
    // An end tag is rarely in capitals, and then the text is read without one.
    let end = text.find(&close).or_else(|| text.find(&close.to_ascii_uppercase()))?;
    Some(unescape(&plain_text(&text[..end])))
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&nbsp;", " ")
        .replace("&amp;", "&")
}
