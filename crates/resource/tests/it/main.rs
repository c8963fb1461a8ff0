//! What the vocabulary promises, held against what it speaks of.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod tokens;
