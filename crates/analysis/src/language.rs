//! Language detection by script and frequent words.

/// The language of a text as a BCP 47 tag, or `None` if the text does not tell.
pub fn detect_language(_text: &str) -> Option<&'static str> {
    None
}
