//! Integration tests of the redaction crate.

mod formats;
