//! Paths of pages: which files are pages, and which language and page a path stands for.

use resource::{Uri, uri};

use super::docusaurus::translated_page;
use super::language::LanguageTag;

/// The deepest folder that is looked at for a language.
const MAX_LANGUAGE_DEPTH: usize = 8;

/// What kind of page a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Markdown,
    ReStructuredText,
    AsciiDoc,
    Html,
    PlainText,
    /// A manual page in roff, possibly compressed.
    Manual,
    /// A description of an HTTP interface, if its content says so.
    OpenApi,
}

impl PageKind {
    /// The kind of the file `name`; `None` if it is no page.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let (stem, ending) = lower.rsplit_once('.')?;
        Some(match ending {
            "md" | "markdown" | "mdx" | "mdown" | "qmd" => Self::Markdown,
            "rst" => Self::ReStructuredText,
            "adoc" | "asciidoc" | "asc" => Self::AsciiDoc,
            "html" | "htm" | "xhtml" => Self::Html,
            "txt" | "text" => Self::PlainText,
            "yaml" | "yml" | "json" if is_openapi_name(stem) => Self::OpenApi,
            "gz" => Self::of_name(stem).filter(|kind| *kind == Self::Manual)?,
            section if is_manual_section(section) && !stem.is_empty() => Self::Manual,
            _ => return None,
        })
    }

    /// Whether front matter may stand at its beginning.
    pub(super) fn has_front_matter(self) -> bool {
        matches!(self, Self::Markdown | Self::AsciiDoc | Self::Html | Self::ReStructuredText)
    }

    /// Whether its text is made of the file, not the file itself.
    pub(super) fn is_made(self) -> bool {
        self == Self::Manual
    }
}

/// Whether a file called so may describe an HTTP interface.
fn is_openapi_name(stem: &str) -> bool {
    ["openapi", "swagger"].iter().any(|word| stem.contains(word))
}

/// `1`, `3p`, `8`, `3perl`: one digit from 1 to 9, and letters.
fn is_manual_section(ending: &str) -> bool {
    let mut letters = ending.chars();
    letters.next().is_some_and(|first| ('1'..='9').contains(&first))
        && ending.len() <= 8
        && letters.all(|letter| letter.is_ascii_lowercase())
}

/// The path of a file below the root, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PagePath {
    /// The folders and the name, decoded.
    pub(super) segments: Vec<String>,
    /// The language that a folder says, and the folder's place among the segments.
    pub(super) folder: Option<(usize, LanguageTag)>,
    /// The language that stands before the ending of the name.
    pub(super) suffix: Option<LanguageTag>,
}

impl PagePath {
    /// Takes the path of a local URI apart; `None` if a name is not UTF-8, or there is none.
    pub(super) fn of_uri(file: &Uri, expected: &[LanguageTag]) -> Option<Self> {
        let path = file.as_str().strip_prefix("file:///")?.trim_end_matches('/');
        let segments = path
            .split('/')
            .map(|segment| String::from_utf8(uri::percent_decode(segment).into_owned()).ok());
        Some(Self::new(segments.collect::<Option<_>>()?, expected))
            .filter(|path| path.segments.last().is_some_and(|name| !name.is_empty()))
    }

    /// Takes a decoded path apart.
    pub(super) fn new(segments: Vec<String>, expected: &[LanguageTag]) -> Self {
        let folders =
            segments.iter().take(segments.len().saturating_sub(1).min(MAX_LANGUAGE_DEPTH));
        // The first one: in `ja/man1/it/x`, `ja` is the language of the tree.
        let folder = folders
            .enumerate()
            .find_map(|(at, name)| Some((at, LanguageTag::of_name(name, expected)?)));
        let suffix = segments.last().and_then(|name| {
            let (stem, _) = split_ending(name);
            let (before, tag) = stem.rsplit_once('.')?;
            LanguageTag::of_name(tag, expected).filter(|_| !before.is_empty())
        });
        Self { segments, folder, suffix }
    }

    /// The name of the file.
    pub(super) fn name(&self) -> &str {
        self.segments.last().map_or("", String::as_str)
    }

    /// The path as text, decoded.
    pub(super) fn text(&self) -> String {
        self.segments.join("/")
    }

    /// The language that the path says: that of the name before that of a folder.
    pub(super) fn language(&self) -> Option<&LanguageTag> {
        self.suffix.as_ref().or(self.folder.as_ref().map(|(_, tag)| tag))
    }

    /// The path without its language, which all translations of a page share.
    pub(super) fn page(&self) -> Vec<String> {
        let mut segments = self.segments.clone();
        if self.suffix.is_some()
            && let Some(name) = segments.last_mut()
        {
            let (stem, ending) = split_ending(name);
            let stem = stem.rsplit_once('.').map_or(stem, |(before, _)| before);
            *name = format!("{stem}{ending}");
        }
        let Some((at, _)) = &self.folder else { return segments };
        translated_page(&segments, *at).unwrap_or_else(|| {
            segments.remove(*at);
            segments
        })
    }

    /// Where the folder of a language stands in the paths of all translations of the page.
    pub(super) fn language_place(&self) -> Option<usize> {
        let (at, _) = self.folder.as_ref()?;
        translated_page(&self.segments, *at).is_none().then_some(*at)
    }
}

/// A name with a language before its ending.
pub(super) fn with_suffix(name: &str, language: &str) -> String {
    let (stem, ending) = split_ending(name);
    format!("{stem}.{language}{ending}")
}

/// The name before its ending, and the ending with its dot. `.gz` counts with the one before it.
fn split_ending(name: &str) -> (&str, &str) {
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let dot = plain.rfind('.').filter(|dot| *dot > 0).unwrap_or(plain.len());
    name.split_at(dot)
}

/// The local URI of a decoded path.
pub(super) fn file_uri(segments: &[String]) -> Option<Uri> {
    let mut text = String::from("file://");
    for segment in segments {
        text.push('/');
        uri::encode_segment(segment.as_bytes(), &mut text);
    }
    if segments.is_empty() {
        text.push('/');
    }
    Uri::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::{PageKind, PagePath, file_uri, with_suffix};
    use crate::docs::language::LanguageTag;
    use resource::Uri;

    fn path(text: &str) -> PagePath {
        PagePath::of_uri(&Uri::parse(&format!("file:///{text}")).unwrap(), &[]).unwrap()
    }

    #[test]
    fn a_path_says_its_language_and_its_page() {
        for (text, language, page) in [
            ("guide.md", None, "guide.md"),
            ("guide.ja.md", Some("ja"), "guide.md"),
            ("ja/guide.md", Some("ja"), "guide.md"),
            ("docs/pt-BR/a/guide.md", Some("pt-BR"), "docs/a/guide.md"),
            ("ja/man1/ls.1.gz", Some("ja"), "man1/ls.1.gz"),
            ("man1/ls.ja.1.gz", Some("ja"), "man1/ls.1.gz"),
            ("src/lib/mod.md", None, "src/lib/mod.md"),
            ("i18n/ja/docusaurus-plugin-content-docs/current/a.md", Some("ja"), "docs/a.md"),
            (".ja.md", None, ".ja.md"),
            ("ja", None, "ja"),
            ("%E6%96%87/%E4%BD%BF.ja.md", Some("ja"), "文/使.md"),
        ] {
            let path = path(text);
            assert_eq!(path.language().map(LanguageTag::as_str), language, "{text}");
            assert_eq!(path.page().join("/"), page, "{text}");
        }
        assert_eq!(with_suffix("guide.md", "ja"), "guide.ja.md");
        assert_eq!(with_suffix("ls.1.gz", "ja"), "ls.ja.1.gz");
        let uri = Uri::parse("file:///%E6%96%87/a.md").unwrap();
        assert_eq!(file_uri(&["文".to_owned(), "a.md".to_owned()]), Some(uri));
        assert!(PagePath::of_uri(&Uri::parse("file:///%FF.md").unwrap(), &[]).is_none());
    }

    #[test]
    fn pages_are_known_by_their_names() {
        for (name, kind) in [
            ("a.md", Some(PageKind::Markdown)),
            ("A.MD", Some(PageKind::Markdown)),
            ("index.rst", Some(PageKind::ReStructuredText)),
            ("ls.1", Some(PageKind::Manual)),
            ("perl.3perl.gz", Some(PageKind::Manual)),
            ("a.gz", None),
            ("a.md.gz", None),
            ("openapi.yaml", Some(PageKind::OpenApi)),
            ("values.yaml", None),
            ("v1.10", None),
            ("Makefile", None),
            (".1", None),
        ] {
            assert_eq!(PageKind::of_name(name), kind, "{name}");
        }
    }
}
