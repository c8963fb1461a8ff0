//! Dictionary words of scripts without spaces.

use crate::Token;

/// The dictionary words of the second field.
pub fn dictionary_words(_text: &str) -> Vec<Token> {
    Vec::new()
}
