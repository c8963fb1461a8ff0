//! Generated documents for the index: words as rare and as frequent as those of a language, and as
//! often repeated within a document. 1,400 words of prose have about 540 different ones.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::fixture;

/// Words that the documents use.
const WORDS: usize = 60_000;
/// Words of one document: 10,000 bytes, in paragraphs under headings.
const WORDS_PER_DOCUMENT: usize = 1_750;
/// The share of words that repeat one of the document.
const REPEATED: f64 = 0.4;
const WORDS_PER_PARAGRAPH: usize = 60;
const WORDS_PER_SECTION: usize = 350;
const FILES_PER_FOLDER: usize = 1_000;

const SYLLABLES: [&str; 40] = [
    "ba", "be", "co", "da", "de", "fi", "ga", "he", "in", "ka", "la", "le", "ma", "mo", "na", "no",
    "or", "pa", "po", "ra", "re", "ri", "sa", "se", "si", "so", "ta", "te", "ti", "to", "un", "va",
    "ve", "vo", "wa", "we", "yo", "za", "ze", "zo",
];

/// The document with this number: its words are the same in every run.
struct Document {
    number: usize,
    state: u64,
    /// The ranks of its words so far.
    ranks: Vec<usize>,
}

impl Document {
    fn new(number: usize) -> Self {
        let state = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { number, state, ranks: Vec::new() }
    }

    fn random(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// The rank of the next word: one of the words so far, or any, whose probability falls with the
    /// rank, as in a language.
    fn next_rank(&mut self) -> usize {
        let rank = if !self.ranks.is_empty() && self.random_share() < REPEATED {
            let at = self.random() as usize % self.ranks.len();
            self.ranks[at]
        } else {
            // The inverse of a distribution by 1/rank.
            ((WORDS as f64).powf(self.random_share()) as usize).min(WORDS - 1)
        };
        self.ranks.push(rank);
        rank
    }

    fn random_share(&mut self) -> f64 {
        (self.random() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn write(mut self) -> anyhow::Result<String> {
        let mut text = String::with_capacity(11_000);
        let number = self.number;
        writeln!(text, "# Document {number}: {} {}\n", word(number % WORDS), self.next_word())?;
        for at in 0..WORDS_PER_DOCUMENT {
            if at > 0 && at % WORDS_PER_SECTION == 0 {
                writeln!(text, "\n\n## {} {}\n", self.next_word(), self.next_word())?;
            } else if at > 0 && at % WORDS_PER_PARAGRAPH == 0 {
                text.push_str(".\n\n");
            }
            text.push_str(&self.next_word());
            text.push(if at % 12 == 11 { '\n' } else { ' ' });
        }
        Ok(text)
    }

    fn next_word(&mut self) -> String {
        word(self.next_rank())
    }
}

/// The word of a rank. Frequent ones are short.
fn word(rank: usize) -> String {
    let (mut word, mut rest) = (String::new(), rank + SYLLABLES.len());
    while rest > 0 {
        word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
        rest /= SYLLABLES.len();
    }
    word
}

fn document_name(number: usize) -> String {
    format!("document_{number:05}.md")
}

/// A folder of `documents` documents, made once.
pub(crate) fn make_folder(scratch: &Path, documents: usize) -> anyhow::Result<PathBuf> {
    fixture::create_once(scratch, &format!("prose-{documents}"), |root| {
        for number in 0..documents {
            let folder = root.join(format!("folder-{:03}", number / FILES_PER_FOLDER));
            fs::create_dir_all(&folder).context("make a folder")?;
            let text = Document::new(number).write()?;
            fs::write(folder.join(document_name(number)), text).context("make a file")?;
        }
        Ok(())
    })
}

/// Two rare words and a frequent one that stand in a document, and its name.
pub(crate) fn query(number: usize, documents: usize) -> (String, String) {
    let number = number * 7_919 % documents;
    let mut document = Document::new(number);
    let mut ranks: Vec<usize> = (0..200).map(|_| document.next_rank()).collect();
    ranks.sort_unstable();
    let words = [word(ranks[199]), word(ranks[190]), word(ranks[100])];
    (words.join(" "), document_name(number))
}

#[cfg(test)]
mod tests {
    use super::{Document, query, word};

    #[test]
    fn a_document_holds_the_words_of_its_query() {
        let text = Document::new(7_919 % 1_000).write().unwrap();
        let (words, name) = query(1, 1_000);
        assert_eq!(name, "document_00919.md");
        for one in words.split(' ') {
            assert!(text.split_whitespace().any(|other| other == one), "{one}");
        }
        assert!((9_000..12_000).contains(&text.len()), "{}", text.len());
        let different: std::collections::BTreeSet<&str> = text.split_whitespace().collect();
        assert!((560..760).contains(&different.len()), "{}", different.len());
    }

    #[test]
    fn words_differ_and_frequent_ones_are_short() {
        let words: std::collections::BTreeSet<String> = (0..10_000).map(word).collect();
        assert_eq!(words.len(), 10_000);
        assert!(word(0).len() < word(50_000).len());
    }
}
