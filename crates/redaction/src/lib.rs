//! Finds secrets in text and masks them.
//!
//! Pure functions over text: no I/O, no URIs, no wire format.

mod policy;
mod redactor;
mod secret;
mod syntax;
mod text_masker;

pub use policy::{Redaction, RedactionScope};
pub use redactor::{Redactor, RedactorOptions};
pub use secret::{FoundSecret, SecretKind};
pub use syntax::Syntax;
pub use text_masker::TextMasker;
