//! Cache of escaped texts, so that a text that a source keeps in memory is escaped once.
//!
//! An entry is found by the address of its text and holds the text, so that no other one can get
//! this address. A text that is read for the first time is escaped while it is sent, without a copy
//! of the whole: most texts are read once.

use bytes::Bytes;
use machinery::{Cache, CacheBounds};

use crate::json::outgoing::escape;

/// Maximum total size of texts and their JSON in bytes.
const MAX_BYTES: usize = 8 << 20;

/// The shortest text that is cached. The lookup takes as long as escaping one much shorter.
const MIN_TEXT: usize = 8 << 10;

/// The longest text that is cached: escaping it takes no longer than a request may keep its thread.
const MAX_TEXT: usize = 1 << 20;

/// Maximum number of texts of which is known that they were read.
const MAX_SEEN: usize = 1 << 10;

/// Where a text is in memory, and its length.
type TextAddress = (usize, usize);

/// Texts as the inside of JSON strings, by the address of the text.
pub(crate) struct EscapedTexts {
    entries: Cache<TextAddress, EscapedText>,
    /// Texts that were read once. Another text may have got the address of one of them since.
    seen: Cache<TextAddress, ()>,
}

#[derive(Clone)]
struct EscapedText {
    _text: Bytes,
    json: Bytes,
}

impl EscapedTexts {
    pub(crate) fn new() -> Self {
        let entries = Cache::new(CacheBounds::weight(MAX_BYTES));
        Self { entries, seen: Cache::new(CacheBounds::entries(MAX_SEEN)) }
    }

    /// The inside of the JSON string for a text that its source keeps, from the second time on.
    pub(crate) fn json_of(&self, text: &Bytes) -> Option<Bytes> {
        // A text that nobody else holds was made for this request.
        if !(MIN_TEXT..=MAX_TEXT).contains(&text.len()) || text.is_unique() {
            return None;
        }
        let address = (text.as_ptr().addr(), text.len());
        if let Some(escaped) = self.entries.get(&address) {
            return Some(escaped.json);
        }
        if self.seen.get(&address).is_none() {
            self.seen.insert(address, (), 1);
            return None;
        }
        let mut json = Vec::with_capacity(text.len());
        escape(text, &mut json);
        json.shrink_to_fit();
        let weight = text.len() + json.len();
        let escaped = EscapedText { _text: text.clone(), json: json.into() };
        self.entries.insert(address, escaped.clone(), weight);
        self.seen.remove(&address);
        Some(escaped.json)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{EscapedTexts, MAX_BYTES, MAX_SEEN, MAX_TEXT, MIN_TEXT};

    fn text(length: usize) -> Bytes {
        "日本 \"語\"\n".repeat(length).into_bytes()[..length].to_vec().into()
    }

    fn shared(length: usize) -> (Bytes, Bytes) {
        let text = text(length);
        (text.clone(), text)
    }

    #[test]
    fn a_kept_text_is_escaped_once_from_the_second_time_on() {
        let texts = EscapedTexts::new();
        let (kept, asked) = shared(MIN_TEXT);
        assert_eq!(texts.json_of(&asked), None);
        let json = texts.json_of(&asked).unwrap();
        assert_eq!(json.as_ptr(), texts.json_of(&kept).unwrap().as_ptr());
        let quoted = [&b"\""[..], &json, &b"\""[..]].concat();
        let whole: String = serde_json::from_slice(&quoted).unwrap();
        assert_eq!(whole, String::from_utf8_lossy(&kept));
    }

    #[test]
    fn texts_that_pass_or_are_short_or_long_are_not_kept() {
        let texts = EscapedTexts::new();
        let passing = text(MIN_TEXT);
        let (_short_kept, short) = shared(MIN_TEXT - 1);
        let (_long_kept, long) = shared(MAX_TEXT + 1);
        for _ in 0..3 {
            assert!([&passing, &short, &long].iter().all(|text| texts.json_of(text).is_none()));
        }
        assert!(texts.entries.is_empty() && texts.seen.is_empty());
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let texts = EscapedTexts::new();
        let kept: Vec<Bytes> = (0..64).map(|_| text(MAX_TEXT)).collect();
        for asked in kept.iter().chain(&kept) {
            texts.json_of(&asked.clone());
            assert!(texts.entries.weight() <= MAX_BYTES);
        }
        assert!(texts.entries.len() > 1 && texts.entries.len() <= 4);
        let many = text(MIN_TEXT + 2 * MAX_SEEN);
        for from in 0..2 * MAX_SEEN {
            texts.json_of(&many.slice(from..from + MIN_TEXT));
        }
        assert!(texts.seen.len() <= MAX_SEEN);
    }
}
