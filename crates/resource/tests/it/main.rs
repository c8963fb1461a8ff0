//! Integration tests of crate `resource`.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod tokens;
