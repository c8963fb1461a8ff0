//! A secret that was found in a text.

use std::ops::Range;

/// A secret, by its place. It never holds the secret itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// The bytes that the mask replaces.
    pub range: Range<usize>,
    /// What it is.
    pub kind: SecretKind,
    /// The line it begins in, counted from 1.
    pub line: usize,
    /// The mask, quoted as the syntax needs it.
    pub mask: String,
}

/// What a secret is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretKind {
    /// A value whose key says that it is secret.
    Key,
}
