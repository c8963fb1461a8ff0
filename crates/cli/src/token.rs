//! New access tokens: 32 random bytes as text, and the hash that the settings keep.

use std::fmt;

use anyhow::Context;

/// What every token begins with, so that people and secret scanners recognise one.
pub(crate) const PREFIX: &str = "rdk_";

/// What the hash of a token begins with in the settings.
pub(crate) const HASH_PREFIX: &str = "blake3:";

/// A token in clear. It is shown once and never stored.
pub(crate) struct NewToken(String);

impl fmt::Debug for NewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl NewToken {
    /// Makes a token from random bytes of the operating system.
    pub(crate) fn generate() -> anyhow::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).context("the operating system returned no random bytes")?;
        let encoded = base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes);
        Ok(Self(format!("{PREFIX}{encoded}")))
    }

    /// The token itself, to show it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash that the server keeps.
    pub(crate) fn hash(&self) -> [u8; 32] {
        *blake3::hash(self.0.as_bytes()).as_bytes()
    }
}

/// `text` with every token in it made unreadable.
pub(crate) fn redact_tokens(text: String) -> String {
    if !text.contains(PREFIX) {
        return text;
    }
    let mut pieces = text.split(PREFIX);
    let mut redacted = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_token = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        redacted.push_str(PREFIX);
        redacted.push('…');
        redacted.push_str(piece.trim_start_matches(is_token));
    }
    redacted
}

#[cfg(test)]
mod tests {
    use super::{NewToken, PREFIX, redact_tokens};

    #[test]
    fn a_token_is_new_each_time_and_shown_only_on_purpose() {
        let (one, other) = (NewToken::generate().unwrap(), NewToken::generate().unwrap());
        assert!(one.reveal().starts_with(PREFIX) && one.reveal().len() == PREFIX.len() + 43);
        assert_ne!(one.reveal(), other.reveal());
        assert_ne!(one.hash(), other.hash());
        assert_eq!(format!("{one:?}"), "…");
    }

    #[test]
    fn text_is_shown_without_the_tokens_in_it() {
        let redact = |text: &str| redact_tokens(text.to_owned());
        assert_eq!(redact("hash = \"rdk_aB-_9\" # rdk_x"), "hash = \"rdk_…\" # rdk_…");
        assert_eq!(redact("no token"), "no token");
    }
}
