//! Finds secrets in text and masks them.
//!
//! Pure functions over text: no I/O, no URIs, no wire format. Start reading in `redactor`.

mod judge;
mod key_words;
mod mask;
mod message;
mod policy;
mod redactor;
mod secret;
mod shapes;
mod syntax;
mod syntaxes;
mod text_masker;
mod values;
mod walk;

pub use policy::{Redaction, RedactionScope};
pub use redactor::{Redactor, RedactorOptions};
pub use secret::{FoundSecret, SecretKind};
pub use syntax::Syntax;
pub use text_masker::TextMasker;
