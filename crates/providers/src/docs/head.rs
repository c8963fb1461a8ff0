//! Heads of pages: title, description and language from the first bytes of a text.

mod html;
mod inline;
mod lines;

use resource::words_on_one_line;

use super::front_matter::{FrontMatter, FrontMatterExtent, find_front_matter};
use super::language::{self, LanguageTag};
use super::manual;
use super::page_path::PageKind;

pub(super) use inline::plain_text;
pub(super) use lines::{RST_MARKS, atx_heading, is_rule, is_underline};

/// The longest title and description, in characters.
const MAX_TITLE_CHARS: usize = 160;
const MAX_DESCRIPTION_CHARS: usize = 240;

/// What the first bytes of a page say of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PageHead {
    pub(super) front: FrontMatter,
    /// The first heading.
    pub(super) heading: Option<String>,
    /// The first paragraph.
    pub(super) paragraph: Option<String>,
    /// The language that the text itself says or is written in.
    pub(super) language: Option<LanguageTag>,
}

impl PageHead {
    /// Reads the first bytes of a page of `kind`. `is_whole` says that there are no more.
    pub(super) fn read(kind: PageKind, text: &str, is_whole: bool) -> Self {
        let mut head = Self::default();
        let mut body = text.trim_start_matches('\u{feff}');
        if kind.has_front_matter() {
            match find_front_matter(text) {
                FrontMatterExtent::Absent => {}
                FrontMatterExtent::Open if is_whole => {
                    // A page may begin with a rule: one line of dashes is no mistake.
                    let looks_like_keys = text.lines().nth(1).is_some_and(|line| {
                        line.split_once([':', '=']).is_some_and(|(key, _)| {
                            !key.is_empty()
                                && key.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c))
                        })
                    });
                    if looks_like_keys {
                        head.front.faults.push("front matter: it does not end".to_owned());
                    }
                }
                FrontMatterExtent::Open => {
                    head.front.faults.push("front matter: it is longer than 64 KiB".to_owned());
                }
                FrontMatterExtent::Closed { syntax, text: inner, end } => {
                    head.front = FrontMatter::parse(syntax, inner);
                    body = &text[end..];
                }
            }
        }
        head.language = language::of_text(body);
        let (heading, paragraph) = match kind {
            PageKind::Markdown => lines::of_markdown(body),
            PageKind::AsciiDoc => lines::of_asciidoc(body),
            PageKind::ReStructuredText => lines::of_restructured(body),
            PageKind::PlainText => lines::of_plain(body),
            PageKind::Html => {
                let page = html::read_head(body);
                head.language = page.language.or(head.language);
                (page.title, page.description)
            }
            PageKind::Manual => manual::read_head(body),
            PageKind::OpenApi => (None, None),
        };
        head.heading = heading.and_then(|text| shortened(&text, MAX_TITLE_CHARS));
        head.paragraph = paragraph.and_then(|text| shortened(&text, MAX_DESCRIPTION_CHARS));
        head
    }

    /// The title: that of the front matter, or the first heading.
    pub(super) fn title(&self) -> Option<String> {
        let own = self.front.title.as_deref().and_then(|text| shortened(text, MAX_TITLE_CHARS));
        own.or_else(|| self.heading.clone())
    }

    /// The description: that of the front matter, or the first paragraph.
    pub(super) fn description(&self) -> Option<String> {
        let own = self.front.description.as_deref();
        own.and_then(|text| shortened(text, MAX_DESCRIPTION_CHARS))
            .or_else(|| self.paragraph.clone())
    }
}

/// The text in one line of at most `most` characters; `None` if nothing is left.
pub(super) fn shortened(text: &str, most: usize) -> Option<String> {
    let line = words_on_one_line(text);
    let cut = line.char_indices().nth(most);
    let line = match cut {
        Some((at, _)) => {
            let start = &line[..at];
            // Between words where there are some; Japanese has none.
            let end = start.rfind(' ').filter(|end| end * 3 > at * 2).unwrap_or(at);
            format!("{}…", start[..end].trim_end())
        }
        None => line,
    };
    Some(line).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests;
