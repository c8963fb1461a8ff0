//! Tokenizer of the spelling field: the words of a text as they are written, sampled.
//!
//! Suggestions need each word and about how frequent it is, not every passage that has it: a list
//! of those would be a fifth of the index. Of a word that many passages have, fewer and fewer are
//! recorded, so that the count in the index grows with the logarithm of the real one.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};

use analysis::{Token, TokenKind};
use tantivy::tokenizer::Tokenizer;

use crate::index::fields::FieldTokens;

/// The most words that are counted, which takes about 5 MB. Further ones are always recorded.
const MAX_COUNTED: usize = 1 << 18;

/// The tokenizer. The index clones it for each segment that it writes, so that every segment has the
/// words of its passages.
#[derive(Clone, Default)]
pub(crate) struct SpellingTokenizer {
    /// How many passages of the segment have a word, by its hash.
    counts: HashMap<u64, u32>,
    hasher: RandomState,
}

impl SpellingTokenizer {
    /// Counts a word, and decides whether the passage is recorded for it.
    fn is_recorded(&mut self, word: &str) -> bool {
        let key = self.hasher.hash_one(word);
        if self.counts.len() >= MAX_COUNTED && !self.counts.contains_key(&key) {
            return true;
        }
        let count = self.counts.entry(key).or_default();
        *count = count.saturating_add(1);
        count.is_power_of_two()
    }
}

impl Tokenizer for SpellingTokenizer {
    type TokenStream<'a> = FieldTokens;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> FieldTokens {
        let words: BTreeSet<String> = analysis::spelling_words(text).collect();
        let recorded = words.into_iter().filter(|word| self.is_recorded(word));
        let token = |(position, text): (usize, String)| Token {
            text,
            position,
            range: 0..0,
            kind: TokenKind::Word,
        };
        FieldTokens::new(recorded.enumerate().map(token).collect())
    }
}

#[cfg(test)]
mod tests {
    use tantivy::tokenizer::{TokenStream as _, Tokenizer as _};

    use super::{MAX_COUNTED, SpellingTokenizer};

    fn recorded(tokenizer: &mut SpellingTokenizer, text: &str) -> Vec<String> {
        let (mut tokens, mut words) = (tokenizer.token_stream(text), Vec::new());
        tokens.process(&mut |token| words.push(token.text.clone()));
        words
    }

    #[test]
    fn few_passages_of_a_frequent_word_are_recorded_and_more_of_a_more_frequent_one() {
        let mut tokenizer = SpellingTokenizer::default();
        let [mut often, mut rarely] = [0, 0];
        for number in 0..10_000_u32 {
            let text = if number.is_multiple_of(10) { "often rarely" } else { "often often" };
            let words = recorded(&mut tokenizer, text);
            often += words.iter().filter(|word| *word == "often").count();
            rarely += words.iter().filter(|word| *word == "rarely").count();
        }
        assert_eq!((often, rarely), (14, 10));
        // Another segment begins anew.
        assert_eq!(
            recorded(&mut SpellingTokenizer::default(), "often rarely"),
            ["often", "rarely"]
        );
    }

    #[test]
    fn words_beyond_those_that_are_counted_are_always_recorded() {
        let counts = (0..MAX_COUNTED as u64).map(|key| (key, 1_000)).collect();
        let mut tokenizer = SpellingTokenizer { counts, ..SpellingTokenizer::default() };
        for _ in 0..100 {
            assert_eq!(recorded(&mut tokenizer, "further"), ["further"]);
        }
    }
}
