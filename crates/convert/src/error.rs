//! The error of a conversion.

use resource::{Error, ErrorKind};

use crate::document::DocumentKind;
use crate::form::Form;

/// Why a document is not converted: a kind, and a message that any reader may see.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConvertError {
    /// The kind of failure.
    pub kind: ConvertErrorKind,
    /// The message: lower case, no period, with what can be done about it.
    pub message: String,
}

/// The kinds of failure that a caller handles differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvertErrorKind {
    /// No converter makes this form of this kind of document.
    Unsupported,
    /// The document is protected by a password.
    Protected,
    /// The document is broken, or not what its name says.
    Damaged,
    /// The document is over a limit.
    OverLimit,
}

impl ConvertError {
    /// An error of this kind.
    pub fn new(kind: ConvertErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The document is broken: what was found.
    pub fn damaged(found: impl Into<String>) -> Self {
        Self::new(ConvertErrorKind::Damaged, found)
    }

    /// The document is protected by a password.
    pub fn protected() -> Self {
        let message = "the document is protected by a password; save it without one to convert it";
        Self::new(ConvertErrorKind::Protected, message)
    }

    /// The document is over a limit.
    pub fn over_limit(found: impl Into<String>) -> Self {
        Self::new(ConvertErrorKind::OverLimit, found)
    }

    /// There is no such form of such a document.
    pub fn no_form(kind: DocumentKind, form: Form) -> Self {
        let forms: Vec<_> = kind.forms().iter().map(|form| form.mime()).collect();
        let message = format!(
            "there is no {} of {}; there are {}",
            form.mime(),
            kind.word(),
            forms.join(", ")
        );
        Self::new(ConvertErrorKind::Unsupported, message)
    }
}

impl From<ConvertError> for Error {
    fn from(error: ConvertError) -> Self {
        let kind = match error.kind {
            ConvertErrorKind::OverLimit => ErrorKind::TooLarge,
            ConvertErrorKind::Unsupported
            | ConvertErrorKind::Protected
            | ConvertErrorKind::Damaged => ErrorKind::Unsupported,
        };
        Self::new(kind, error.message)
    }
}
