//! Diagnostics for settings files: message, location with excerpt, and hint.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use super::mount::SharedSettings;
use crate::token::redact_tokens;

/// A key that only one kind of mount has, of each kind.
const MOUNT_KEYS: [&str; 3] = ["path", "resources", "command"];

/// The path and text of a settings file.
#[derive(Debug, Clone)]
pub(crate) struct SettingsText {
    pub(crate) file: PathBuf,
    pub(crate) content: String,
}

/// One error in the settings, with its location and a hint.
#[derive(Debug)]
pub(crate) struct Diagnostic {
    location: Option<SourceLocation>,
    message: String,
    hint: Option<String>,
}

#[derive(Debug)]
struct SourceLocation {
    file: PathBuf,
    line: usize,
    column: usize,
    excerpt: String,
    width: usize,
}

impl SettingsText {
    /// A diagnostic at `span`. It repeats no token that stands there by mistake.
    pub(crate) fn diagnostic(
        &self,
        span: Option<Range<usize>>,
        message: String,
        hint: Option<String>,
    ) -> Diagnostic {
        let place = span.map(|span| {
            let start = span.start.min(self.content.len());
            let before = &self.content[..start];
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            let excerpt = self.content[line_start..].lines().next().unwrap_or_default();
            let column = before[line_start..].chars().count() + 1;
            let inside = self.content.get(span).unwrap_or_default();
            let width = inside.lines().next().map_or(1, |line| line.chars().count().max(1));
            let line = before.matches('\n').count() + 1;
            let excerpt = redact_tokens(excerpt.to_owned());
            SourceLocation { file: self.file.clone(), line, column, excerpt, width }
        });
        Diagnostic { location: place, message: redact_tokens(message), hint }
    }

    /// A diagnostic for a TOML error; an unknown key or value gets a suggestion.
    pub(crate) fn toml_diagnostic(&self, error: &toml::de::Error) -> Diagnostic {
        let message = error.message();
        let mut quoted = message.split('`').skip(1).step_by(2);
        if message.starts_with("unknown field") || message.starts_with("unknown variant") {
            let unknown = quoted.next().unwrap_or_default().to_owned();
            let mut known: Vec<&str> = quoted.collect();
            let is_key = message.starts_with("unknown field");
            if is_key && MOUNT_KEYS.iter().any(|key| known.contains(key)) {
                known.extend(SharedSettings::KEYS);
            }
            let what = if is_key { "key" } else { "value" };
            let hint = did_you_mean(&unknown, known.iter().copied())
                .or_else(|| Some(format!("expected one of: {}", known.join(", "))));
            return self.diagnostic(error.span(), format!("unknown {what} `{unknown}`"), hint);
        }
        self.diagnostic(error.span(), message.to_owned(), None)
    }
}

impl Diagnostic {
    /// A diagnostic without a location.
    pub(crate) fn without_location(message: String, hint: Option<String>) -> Self {
        Self { location: None, message, hint }
    }

    /// The same without the line of the file.
    pub(super) fn without_excerpt(mut self) -> Self {
        if let Some(location) = &mut self.location {
            location.excerpt.clear();
        }
        self
    }

    fn write_hint(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }

    /// The diagnostic as one line, for the log.
    pub(crate) fn one_line(&self) -> String {
        let mut line = String::new();
        if let Some(SourceLocation { file, line: number, column, .. }) = &self.location {
            line = format!("{}:{number}:{column}: ", file.display());
        }
        line.push_str(&self.message);
        if let Some(hint) = &self.hint {
            line.push_str("; ");
            line.push_str(hint);
        }
        line
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            None => write!(f, "error: {}", self.message)?,
            Some(SourceLocation { file, line, column, excerpt, width }) => {
                write!(f, "{}:{line}:{column}: {}", file.display(), self.message)?;
                if excerpt.is_empty() {
                    return self.write_hint(f);
                }
                let margin = " ".repeat(line.to_string().len());
                let indent = " ".repeat(column - 1);
                let mark = "^".repeat(*width);
                write!(f, "\n  {line} | {excerpt}\n  {margin} | {indent}{mark}")?;
            }
        }
        self.write_hint(f)
    }
}

impl std::error::Error for Diagnostic {}

/// A "did you mean" hint with the most similar known word.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let near = known.into_iter().map(|known| (strsim::damerau_levenshtein(word, known), known));
    let (distance, known) = near.min()?;
    (distance <= 1 + word.chars().count() / 3).then(|| format!("did you mean `{known}`?"))
}
