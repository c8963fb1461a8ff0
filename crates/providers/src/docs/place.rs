//! Places: what a local URI names. Files, sections of pages, and pages by language.

use resource::{Uri, uri};

use super::language::LanguageTag;

/// The sign before the name of a section.
pub(super) const SECTION_SIGN: char = '§';
/// The scheme of pages by language.
const DOCS_PREFIX: &str = "docs:///";

/// A page by language: `docs:///ja/guide.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocsPlace {
    /// The language, if the URI says one.
    pub(super) language: Option<LanguageTag>,
    /// The path without language.
    pub(super) page: Vec<String>,
    /// The section, if the URI names one.
    pub(super) section: Option<String>,
}

impl DocsPlace {
    /// What a URI of the scheme `docs` names; `None` if it is malformed.
    pub(super) fn parse(text: &Uri, expected: &[LanguageTag]) -> Option<Self> {
        let path = text.as_str().strip_prefix(DOCS_PREFIX)?;
        let mut segments = decode_path(path)?;
        let section =
            segments.last().and_then(|last| last.strip_prefix(SECTION_SIGN)).map(str::to_owned);
        if section.is_some() {
            segments.pop();
        }
        let language = segments.first().and_then(|first| LanguageTag::of_name(first, expected));
        if language.is_some() {
            segments.remove(0);
        }
        (!segments.is_empty()).then_some(Self { language, page: segments, section })
    }
}

/// Whether a URI is one of the scheme `docs`.
pub(super) fn is_docs_uri(text: &Uri) -> bool {
    text.as_str().starts_with(DOCS_PREFIX)
}

/// The segments of a path; `None` if one is empty, leads elsewhere or is not UTF-8.
fn decode_path(path: &str) -> Option<Vec<String>> {
    let is_plain = |segment: &String| {
        !segment.is_empty() && segment != "." && segment != ".." && !segment.contains(['/', '\0'])
    };
    let decode = |segment: &str| String::from_utf8(uri::percent_decode(segment).into_owned()).ok();
    let is_path = !path.contains(['?', '#']);
    let segments = path.split('/').map(|segment| decode(segment).filter(is_plain));
    is_path.then(|| segments.collect()).flatten()
}

/// The page and the name of the section that a URI names; `None` if it names no section.
pub(super) fn split_section(text: &Uri) -> Option<(Uri, String)> {
    let (page, last) = text.as_str().rsplit_once('/')?;
    let name = String::from_utf8(uri::percent_decode(last).into_owned()).ok()?;
    let name = name.strip_prefix(SECTION_SIGN)?;
    Some((Uri::parse(page).ok()?, name.to_owned())).filter(|_| !name.is_empty())
}

/// The URI of a section of the page at `page`.
pub(super) fn section_uri(page: &Uri, name: &str) -> Option<Uri> {
    let mut text = page.as_str().trim_end_matches('/').to_owned();
    text.push('/');
    uri::encode_segment(format!("{SECTION_SIGN}{name}").as_bytes(), &mut text);
    Uri::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use resource::Uri;

    use super::{DocsPlace, section_uri, split_section};
    use crate::docs::language::LanguageTag;

    fn uri(text: &str) -> Uri {
        Uri::parse(text).unwrap()
    }

    #[test]
    fn a_section_is_named_by_its_heading() {
        let page = uri("file:///ja/guide.md");
        let section = section_uri(&page, "使い方").unwrap();
        let text = "file:///ja/guide.md/%C2%A7%E4%BD%BF%E3%81%84%E6%96%B9";
        assert_eq!(section.as_str(), text);
        assert_eq!(split_section(&section), Some((page.clone(), "使い方".to_owned())));
        let odd = section_uri(&page, "a/b? 100%").unwrap();
        assert_eq!(split_section(&odd), Some((page, "a/b? 100%".to_owned())));
        for text in ["file:///a.md", "file:///a.md/x", "file:///a.md/%C2%A7", "file:///%FF"] {
            assert_eq!(split_section(&uri(text)), None, "{text}");
        }
    }

    #[test]
    fn a_page_by_language_is_taken_apart() {
        let parse = |text: &str| DocsPlace::parse(&uri(text), &[]);
        let place = parse("docs:///ja/a/guide.md/%C2%A7%E4%BD%BF").unwrap();
        assert_eq!(place.language.as_ref().map(LanguageTag::as_str), Some("ja"));
        assert_eq!(
            (place.page.join("/").as_str(), place.section.as_deref()),
            ("a/guide.md", Some("使"))
        );
        assert_eq!(parse("docs:///guide.md").unwrap().language, None);
        for text in [
            "docs:///",
            "docs:///ja",
            "docs:///ja/",
            "docs:///ja/../x",
            "docs:///a//b",
            "docs:///a?x",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        for text in ["docs:///ja/%2E%2E/x", "docs:///a%2Fb", "docs:///%FF", "docs:///ja/a%00"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
