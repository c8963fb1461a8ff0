//! Test of the size of the index beside the text.

use std::sync::Arc;

use resource::{Resource, Uri};
use tokio::sync::Semaphore;

use crate::index::document::PassageDocument;
use crate::index::entry::IndexEntry;
use crate::index::store::{IndexStore, WriterParts};
use crate::spelling::similar_words;

const DOCUMENTS: usize = 200;
const WORDS: usize = 4_000;
const WORDS_PER_DOCUMENT: usize = 1_750;
/// The share of words that repeat one of the document.
const REPEATED: f64 = 0.4;
/// What the index may take of the text.
const MAX_SHARE: f64 = 0.56;

/// Makes texts whose words are as frequent as those of a language; the same in every run.
struct TextMaker(u64);

impl TextMaker {
    fn random(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A text of 1,750 words, with a heading for every 350.
    fn text(&mut self) -> String {
        let (mut text, mut ranks) = (String::new(), Vec::new());
        for number in 0..WORDS_PER_DOCUMENT {
            let rank = match ranks.len() {
                // The probability of a word falls with its rank.
                0 => self.new_rank(),
                _ if self.random() > REPEATED => self.new_rank(),
                length => ranks[(self.random() * length as f64) as usize],
            };
            ranks.push(rank);
            match number {
                _ if number % 350 == 0 => text.push_str("\n\n## "),
                _ if number % 60 == 0 => text.push_str(".\n\n"),
                _ => text.push(' '),
            }
            text.push_str(&word(rank));
        }
        text
    }

    fn new_rank(&mut self) -> usize {
        (WORDS as f64).powf(self.random()) as usize
    }
}

/// The word of a rank. Frequent ones are short.
fn word(rank: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "co", "de", "fi", "ga", "he", "ka", "lo", "mu", "na", "po", "re", "si", "to", "va",
        "ze",
    ];
    let (mut word, mut rest) = (String::new(), rank + SYLLABLES.len());
    while rest > 0 {
        word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
        rest /= SYLLABLES.len();
    }
    word
}

#[tokio::test]
async fn the_index_is_much_smaller_than_the_text_and_still_has_its_spellings() {
    // One segment, so that the size is the same in every run.
    let (store, parts) = IndexStore::in_memory("a test".to_owned(), 256 << 20).unwrap();
    let WriterParts { mut writer, .. } = parts.unwrap();
    let permits = Arc::new(Semaphore::new(DOCUMENTS));
    let (mut maker, mut text_bytes) = (TextMaker(7), 0);
    for number in 0..DOCUMENTS {
        let uri = Uri::parse(&format!("a:/folder/document-{number}.md")).unwrap();
        let entry = IndexEntry {
            mount: "m".to_owned(),
            resource: Arc::new(Resource::new(uri, format!("document-{number}.md"))),
            version: 1,
            mime: "text/markdown".to_owned(),
            text: maker.text(),
            has_vectors: false,
        };
        text_bytes += entry.text.len();
        let permit = Arc::clone(&permits).acquire_owned().await.unwrap();
        for document in PassageDocument::all_of(entry, store.fields, permit) {
            writer.add_document(document).unwrap();
        }
    }
    writer.commit().unwrap();
    store.reader.reload().unwrap();
    let searcher = store.reader.searcher();
    assert_eq!(searcher.segment_readers().len(), 1);
    let index_bytes = searcher.space_usage().unwrap().total().get_bytes();
    let share = index_bytes as f64 / text_bytes as f64;
    assert!(share < MAX_SHARE, "{share:.3} of {text_bytes} bytes");
    // Of a frequent word few passages are recorded, and yet it is known.
    for rank in [50, 500, 1_234] {
        let misspelt = format!("{}x", word(rank));
        assert!(similar_words(&store, &misspelt).unwrap().contains(&word(rank)), "{misspelt}");
    }
}
