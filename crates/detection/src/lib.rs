//! Content detection: MIME types by name and signature, text or binary, and charsets.
//!
//! Pure functions over names and bytes.

pub mod man;
pub mod mime;
pub mod package;
pub mod text;
