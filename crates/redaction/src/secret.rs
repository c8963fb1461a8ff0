//! A secret that was found in a text, and what it is.

use std::fmt;
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
    /// The mask, quoted as the syntax needs it. Where a value must be written anew to hold a mask,
    /// it also has the parts of the value that are no secret.
    pub mask: String,
}

/// What a secret is, and what gave it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretKind {
    /// A value whose key says that it is secret.
    Key(&'static str),
    /// A text whose shape says that it is secret.
    Shape(&'static str),
}

impl SecretKind {
    /// The name that masks show: lower-case letters, digits and dashes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Key(name) | Self::Shape(name) => name,
        }
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
