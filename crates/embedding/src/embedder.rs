//! The embedder interface: what turns texts into vectors.

use async_trait::async_trait;

use crate::error::EmbedError;

/// A model that maps texts to vectors, so that texts of like meaning lie close together.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Identifies the model. Vectors of another fingerprint cannot be compared with its vectors:
    /// the caller makes them anew.
    fn fingerprint(&self) -> &str;

    /// How many numbers a vector has.
    fn dimensions(&self) -> usize;

    /// Embeds texts.
    ///
    /// - The result has one vector for each text, in the order of the texts.
    /// - Every vector has [`Embedder::dimensions`] finite numbers.
    /// - A text without any token becomes the zero vector.
    /// - The embedder cuts off a text that is too long for the model.
    async fn embed(&self, texts: &[String], kind: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// What a text is to the search. Some models treat questions and answers differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EmbedKind {
    /// A question.
    Query,
    /// A text that questions are answered from.
    Passage,
}

/// The start of `text` within `max_bytes`, cut between characters.
pub(crate) fn truncate(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

#[cfg(test)]
mod tests {
    use super::truncate;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(truncate("日本", 6), "日本");
        assert_eq!(truncate("日本", 5), "日");
        assert_eq!(truncate("日本", 2), "");
        assert_eq!(truncate("", 2), "");
    }
}
