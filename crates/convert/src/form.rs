//! Forms: what documents are converted to, each with a MIME type of its own.

/// What a document is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// Markdown, with the structure of the document.
    Markdown,
    /// Text without marks.
    Plain,
    /// HTML that loads and runs nothing.
    Html,
    /// The same, made of HTML.
    SanitisedHtml,
    /// Source code as HTML, with highlighting and line anchors.
    HighlightedHtml,
    /// One sheet as comma-separated values.
    Csv,
    /// Sheets with values and formulas as JSON.
    Json,
    /// The symbols of source code, with their lines, as JSON.
    Outline,
    /// A small image.
    Thumbnail,
    /// SVG that loads and runs nothing.
    SanitisedSvg,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 10] = [
        Self::Markdown,
        Self::Plain,
        Self::Html,
        Self::SanitisedHtml,
        Self::HighlightedHtml,
        Self::Csv,
        Self::Json,
        Self::Outline,
        Self::Thumbnail,
        Self::SanitisedSvg,
    ];

    /// Its MIME type, which no other form and no original of a document with this form has.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::Plain => "text/plain",
            Self::Html => "text/html",
            Self::SanitisedHtml => "text/html;variant=sanitised",
            Self::HighlightedHtml => "text/html;variant=highlighted",
            Self::Csv => "text/csv",
            Self::Json => "application/json",
            Self::Outline => "application/json;variant=outline",
            Self::Thumbnail => "image/png;variant=thumbnail",
            Self::SanitisedSvg => "image/svg+xml;variant=sanitised",
        }
    }

    /// The form with this MIME type.
    pub fn of_mime(mime: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.mime() == mime)
    }

    /// Whether the content is text.
    pub fn is_text(self) -> bool {
        self != Self::Thumbnail
    }
}
