//! Integration tests of the redaction crate.

mod formats;
mod hostile;
mod other_formats;
mod properties;
