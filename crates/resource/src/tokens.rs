//! How many tokens does a text have?

/// About how many tokens of o200k a text has.
pub fn estimate(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

/// How long the longest beginning of a text is, in bytes, that has about `most` tokens.
pub fn prefix(text: &str, most: u64) -> usize {
    text.floor_char_boundary(usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(4))
}
