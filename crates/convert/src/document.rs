//! Documents: what is converted, and what kind of document it is.

use std::borrow::Cow;
use std::sync::LazyLock;

use resource::SectionUnit;
use rustc_hash::FxHashMap;

use crate::form::Form;
use crate::man;
use crate::options::Options;
use crate::package;

/// The largest document that is converted, in bytes.
pub const MAX_DOCUMENT_BYTES: u64 = 256 << 20;

/// A document to convert.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Its kind.
    pub kind: DocumentKind,
    /// Its content.
    pub bytes: &'a [u8],
    /// Its file name, or an empty text. The language of source code is told by it.
    pub name: &'a str,
    /// What the conversion may do.
    pub options: &'a Options,
}

/// The kinds of document that converters read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DocumentKind {
    /// Portable Document Format.
    Pdf,
    /// Word document.
    Docx,
    /// OpenDocument text.
    Odt,
    /// Rich Text Format.
    Rtf,
    /// Excel workbook.
    Xlsx,
    /// OpenDocument spreadsheet.
    Ods,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// PowerPoint presentation.
    Pptx,
    /// OpenDocument presentation.
    Odp,
    /// HTML page.
    Html,
    /// Jupyter notebook.
    Notebook,
    /// Markdown.
    Markdown,
    /// AsciiDoc.
    AsciiDoc,
    /// Source code, JSON, YAML, TOML, a diff.
    Source,
    /// Raster image.
    Image,
    /// SVG image.
    Svg,
    /// Mail message.
    Email,
    /// Mailbox.
    Mbox,
    /// Electronic book.
    Epub,
    /// Manual page in roff.
    Man,
}

/// A kind, what it is called, its MIME types (its own first) and the endings of its file names.
type KindRow = (DocumentKind, &'static str, &'static [&'static str], &'static [&'static str]);

const OFFICE: &str = "application/vnd.openxmlformats-officedocument.";

/// The table of kinds. Source code is known by [`crate::source`].
const KINDS: &[KindRow] = &[
    (DocumentKind::Pdf, "a PDF", &["application/pdf"], &["pdf"]),
    (
        DocumentKind::Docx,
        "a Word document",
        &["application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
        &["docx", "docm", "dotx", "dotm"],
    ),
    (
        DocumentKind::Odt,
        "an OpenDocument text",
        &[
            "application/vnd.oasis.opendocument.text",
            "application/vnd.oasis.opendocument.text-template",
        ],
        &["odt", "ott"],
    ),
    (DocumentKind::Rtf, "an RTF document", &["application/rtf", "text/rtf"], &["rtf"]),
    (
        DocumentKind::Xlsx,
        "an Excel workbook",
        &["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
        &["xlsx", "xlsm", "xltx", "xltm"],
    ),
    (
        DocumentKind::Ods,
        "an OpenDocument spreadsheet",
        &["application/vnd.oasis.opendocument.spreadsheet"],
        &["ods", "ots"],
    ),
    (DocumentKind::Csv, "comma-separated values", &["text/csv"], &["csv"]),
    (DocumentKind::Tsv, "tab-separated values", &["text/tab-separated-values"], &["tsv", "tab"]),
    (
        DocumentKind::Pptx,
        "a PowerPoint presentation",
        &["application/vnd.openxmlformats-officedocument.presentationml.presentation"],
        &["pptx", "pptm", "potx", "ppsx"],
    ),
    (
        DocumentKind::Odp,
        "an OpenDocument presentation",
        &["application/vnd.oasis.opendocument.presentation"],
        &["odp", "otp"],
    ),
    (
        DocumentKind::Html,
        "an HTML page",
        &["text/html", "application/xhtml+xml"],
        &["html", "htm", "xhtml"],
    ),
    (DocumentKind::Notebook, "a notebook", &["application/x-ipynb+json"], &["ipynb"]),
    (
        DocumentKind::Markdown,
        "Markdown",
        &["text/markdown", "text/x-markdown"],
        &["md", "markdown", "mdown", "mkd"],
    ),
    (
        DocumentKind::AsciiDoc,
        "AsciiDoc",
        &["text/asciidoc", "text/x-asciidoc"],
        &["adoc", "asciidoc"],
    ),
    (
        DocumentKind::Image,
        "an image",
        &[
            "image/png",
            "image/jpeg",
            "image/gif",
            "image/webp",
            "image/tiff",
            "image/bmp",
            "image/vnd.microsoft.icon",
            "image/x-icon",
        ],
        &["png", "jpg", "jpeg", "gif", "webp", "tif", "tiff", "bmp", "ico"],
    ),
    (DocumentKind::Svg, "an SVG image", &["image/svg+xml"], &["svg"]),
    (DocumentKind::Email, "a mail message", &["message/rfc822"], &["eml"]),
    (DocumentKind::Mbox, "a mailbox", &["application/mbox"], &["mbox"]),
    (DocumentKind::Epub, "an electronic book", &["application/epub+zip"], &["epub"]),
    (
        DocumentKind::Man,
        "a manual page",
        &["text/troff", "text/x-troff", "application/x-troff", "application/x-troff-man"],
        &["man", "mdoc", "roff"],
    ),
];

/// The kinds by MIME type and by ending: each file that is read or listed is looked up. Nobody can
/// choose the keys, so that a fast hash is safe.
static BY_MIME: LazyLock<FxHashMap<&str, DocumentKind>> =
    LazyLock::new(|| index_kinds(|row| row.2));
static BY_ENDING: LazyLock<FxHashMap<&str, DocumentKind>> =
    LazyLock::new(|| index_kinds(|row| row.3));

fn index_kinds(
    words: fn(&KindRow) -> &'static [&'static str],
) -> FxHashMap<&'static str, DocumentKind> {
    let mut index = FxHashMap::default();
    for row in KINDS {
        for word in words(row) {
            index.entry(*word).or_insert(row.0);
        }
    }
    index
}

fn ascii_lowercase(text: &str) -> Cow<'_, str> {
    match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(text.to_ascii_lowercase()),
        false => Cow::Borrowed(text),
    }
}

impl DocumentKind {
    /// The kind of a document with this file name and MIME type, without a look at its content. The
    /// MIME type decides where it names a kind: a log of changes to a PDF is no PDF.
    pub fn of_name(name: &str, mime: Option<&str>) -> Option<Self> {
        let essence = mime.map(|mime| mime.split(';').next().unwrap_or(mime).trim());
        if let Some(kind) = essence.and_then(|essence| BY_MIME.get(&*ascii_lowercase(essence))) {
            return Some(*kind);
        }
        let is_text = essence.is_some_and(|essence| essence.starts_with("text/"));
        // The content of a text told that it is none.
        if !is_text && detection::man::is_page_name(name) {
            return Some(Self::Man);
        }
        let ending = name.rsplit_once('.').map(|(_, ending)| ascii_lowercase(ending));
        let by_ending = ending.and_then(|ending| {
            let kind = BY_ENDING.get(&*ending).copied();
            kind.filter(|kind| !is_text || !kind.is_binary())
        });
        by_ending.or_else(|| crate::source::is_source(name).then_some(Self::Source))
    }

    /// The kind of a document by its content, or its beginning; its name and MIME type decide where
    /// the content tells nothing, as with text.
    pub fn of_content(bytes: &[u8], name: &str, mime: Option<&str>) -> Option<Self> {
        let named = Self::of_name(name, mime);
        let found = match infer::get(bytes).map(|found| found.mime_type()) {
            Some("application/zip") | None => package::kind_of_package(bytes),
            Some(mime) => KINDS.iter().find(|row| row.2.contains(&mime)).map(|row| row.0),
        };
        match (found, named) {
            (Some(Self::Html), Some(text)) if !text.is_binary() => Some(text),
            (Some(found), _) => Some(found),
            (None, None) if man::is_page(bytes) => Some(Self::Man),
            // A name that says binary, over bytes that are none, is wrong; the converter says so.
            (None, named) => named,
        }
    }

    /// All kinds.
    pub fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().map(|row| row.0).chain(std::iter::once(Self::Source))
    }

    /// What a document of this kind is called, with an article where it takes one.
    pub fn word(self) -> &'static str {
        KINDS.iter().find(|row| row.0 == self).map_or("source code", |row| row.1)
    }

    /// Its MIME type.
    pub fn mime(self) -> &'static str {
        let row = KINDS.iter().find(|row| row.0 == self);
        row.and_then(|row| row.2.first()).copied().unwrap_or("text/plain")
    }

    /// The forms that a document of this kind can be converted to, the most useful first.
    pub fn forms(self) -> &'static [Form] {
        match self {
            Self::Pdf => &[Form::Markdown, Form::Plain],
            Self::Docx | Self::Odt | Self::Rtf => &[Form::Markdown, Form::Html],
            Self::Xlsx | Self::Ods | Self::Tsv => &[Form::Markdown, Form::Csv, Form::Json],
            Self::Csv => &[Form::Markdown, Form::Json],
            Self::Pptx | Self::Odp | Self::Epub | Self::Email | Self::Mbox => &[Form::Markdown],
            Self::Html => &[Form::Markdown, Form::Plain, Form::SanitisedHtml],
            Self::Notebook => &[Form::Markdown, Form::Plain],
            Self::Man => &[Form::Markdown, Form::Plain, Form::Html],
            Self::Markdown => &[Form::Html],
            Self::AsciiDoc => &[Form::Html, Form::HighlightedHtml, Form::Outline],
            Self::Source => &[Form::HighlightedHtml, Form::Outline],
            Self::Image => &[Form::Plain, Form::Thumbnail],
            Self::Svg => &[Form::SanitisedSvg],
        }
    }

    /// What the sections of such a document are, if it has sections.
    pub fn section_unit(self) -> Option<SectionUnit> {
        match self {
            Self::Pdf => Some(SectionUnit::Page),
            Self::Xlsx | Self::Ods => Some(SectionUnit::Sheet),
            Self::Pptx | Self::Odp => Some(SectionUnit::Slide),
            Self::Epub | Self::Mbox => Some(SectionUnit::Chapter),
            _ => None,
        }
    }

    /// Whether the original is bytes that are no text.
    fn is_binary(self) -> bool {
        (self.is_document() && !matches!(self, Self::Rtf | Self::Man)) || self == Self::Image
    }

    /// Whether people read such a document with a program of its own, so that a reading gives its
    /// text beside it.
    pub fn is_document(self) -> bool {
        matches!(
            self,
            Self::Pdf
                | Self::Docx
                | Self::Odt
                | Self::Rtf
                | Self::Xlsx
                | Self::Ods
                | Self::Pptx
                | Self::Odp
                | Self::Epub
                | Self::Man
        )
    }
}

/// The kind of an Office package by the MIME type of its main part.
pub(crate) fn kind_of_office_type(content_types: &str) -> Option<DocumentKind> {
    let has = |family: &str| content_types.contains(&format!("{OFFICE}{family}"));
    let macro_type = |word: &str| content_types.contains(word);
    if has("wordprocessingml.document.main") || macro_type("ms-word.document.macroEnabled") {
        Some(DocumentKind::Docx)
    } else if has("spreadsheetml.sheet.main") || macro_type("ms-excel.sheet.macroEnabled") {
        Some(DocumentKind::Xlsx)
    } else if has("presentationml.presentation.main")
        || has("presentationml.slideshow.main")
        || macro_type("ms-powerpoint.presentation.macroEnabled")
    {
        Some(DocumentKind::Pptx)
    } else {
        None
    }
}

/// The kind of a package that names its own MIME type, as OpenDocument and EPUB do.
pub(crate) fn kind_of_package_mime(mime: &str) -> Option<DocumentKind> {
    KINDS.iter().find(|row| row.2.contains(&mime.trim())).map(|row| row.0)
}
