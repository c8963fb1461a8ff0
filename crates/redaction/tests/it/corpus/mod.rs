//! The corpus: made-up secrets of many kinds and look-alikes, written in every format.
//!
//! Nothing here is real. Prefixes are put together from pieces, so that scanners of repository
//! hosts do not take this file for a leak.

pub(crate) mod look_alikes;
mod secrets;
mod writers;

pub(crate) use secrets::secrets;

/// A text of the corpus.
pub(crate) struct CorpusText {
    /// The kind of secret in it, or what it resembles one by.
    pub(crate) kind: String,
    /// A name that gives its syntax.
    pub(crate) file: &'static str,
    pub(crate) text: String,
    /// What must not be seen; for a look-alike, what must stay.
    pub(crate) values: Vec<String>,
}

/// Values that stand beside the secret and stay.
pub(crate) const NEIGHBOURS: [&str; 2] = ["inventory-service", "db.internal.example"];

/// Makes values that look generated, always the same ones.
pub(crate) struct Generator(u64);

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x1234_5678_9ABC_DEF1))
    }

    pub(crate) fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..length).map(|_| char::from(letters[self.number() % letters.len()])).collect()
    }

    fn number(&mut self) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit")
    }
}

pub(crate) const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub(crate) const HEX: &str = "0123456789abcdef";
pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(crate) const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
