//! Syntaxes of texts that hold secrets, by file name.

/// How keys and values are written in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Any other text: only shapes are masked.
    Text,
    /// JSON, also with comments.
    Json,
}

impl Syntax {
    /// The syntax of the file at `path`, by its name.
    pub fn of_path(_path: &str) -> Self {
        Self::Text
    }

    /// The syntax of a text of this MIME type.
    pub fn of_mime(mime: &str) -> Self {
        let essence = mime.split(';').next().unwrap_or(mime).trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" => Self::Json,
            essence if essence.ends_with("+json") => Self::Json,
            _ => Self::Text,
        }
    }

    /// Whether the name of the file at `path` says that it holds configuration, keys or
    /// credentials.
    pub fn is_sensitive(_path: &str) -> bool {
        false
    }

    /// Whether keys are read, so that the text must be masked as a whole. A text of any other
    /// syntax can be masked as a stream.
    pub fn has_keys(self) -> bool {
        self != Self::Text
    }
}
