//! Masks: what stands in the place of a secret.
//!
//! `[redacted <kind> <length class>]`, or with a key `[redacted <kind> <length class> <hmac>]`. A
//! hash without a key would let anybody test guesses, so there is none.

use aws_lc_rs::hmac;

use crate::secret::SecretKind;

/// How a mask begins.
const OPENING: &str = "[redacted ";
/// The hexadecimal digits of an HMAC that are shown.
const HMAC_DIGITS: usize = 16;
/// The length classes, each with the number of characters that is too many for it.
const LENGTH_CLASSES: [(&str, usize); 5] =
    [("tiny", 8), ("short", 16), ("medium", 32), ("long", 128), ("huge", usize::MAX)];
/// The longest mask, in bytes.
const MAX_MASK_BYTES: usize = 96;

/// Writes masks.
#[derive(Default)]
pub(crate) struct MaskWriter {
    key: Option<hmac::Key>,
}

/// Counts and hashes a secret piece by piece.
#[derive(Clone)]
pub(crate) struct SecretDigest {
    characters: usize,
    hmac: Option<hmac::Context>,
}

impl MaskWriter {
    pub(crate) fn new(hmac_key: Option<&[u8]>) -> Self {
        Self { key: hmac_key.map(|key| hmac::Key::new(hmac::HMAC_SHA256, key)) }
    }

    /// Whether masks have an HMAC.
    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The digest of no text yet.
    pub(crate) fn digest(&self) -> SecretDigest {
        SecretDigest { characters: 0, hmac: self.key.as_ref().map(hmac::Context::with_key) }
    }

    /// The mask of `secret`.
    pub(crate) fn mask(&self, kind: SecretKind, secret: &str) -> String {
        let mut digest = self.digest();
        digest.update(secret);
        digest.into_mask(kind)
    }
}

impl SecretDigest {
    /// Adds the next piece of the secret.
    pub(crate) fn update(&mut self, piece: &str) {
        self.characters += piece.chars().count();
        if let Some(hmac) = &mut self.hmac {
            hmac.update(piece.as_bytes());
        }
    }

    /// The mask of what was added.
    pub(crate) fn into_mask(self, kind: SecretKind) -> String {
        let class = length_class(self.characters);
        let Some(hmac) = self.hmac else { return format!("{OPENING}{kind} {class}]") };
        let tag = hmac.sign();
        let bytes = tag.as_ref().iter().take(HMAC_DIGITS / 2);
        let digits: String = bytes.map(|byte| format!("{byte:02x}")).collect();
        format!("{OPENING}{kind} {class} {digits}]")
    }
}

/// Whether `text` is a mask and nothing else.
pub(crate) fn is_mask(text: &str) -> bool {
    mask_length(text) == Some(text.len())
}

/// The length of the mask that `text` begins with, if it begins with one.
pub(crate) fn mask_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(OPENING)?;
    let limit = rest.len().min(MAX_MASK_BYTES);
    let end = rest.as_bytes()[..limit].iter().position(|byte| *byte == b']')?;
    let mut words = rest[..end].split(' ');
    let (kind, class, hmac) = (words.next()?, words.next()?, words.next());
    let is_kind = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_hmac = |digits: &str| {
        digits.len() == HMAC_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_valid = !kind.is_empty()
        && kind.bytes().all(is_kind)
        && LENGTH_CLASSES.iter().any(|(name, _)| *name == class)
        && hmac.is_none_or(is_hmac)
        && words.next().is_none();
    is_valid.then_some(OPENING.len() + end + 1)
}

fn length_class(characters: usize) -> &'static str {
    let class = LENGTH_CLASSES.iter().find(|(_, limit)| characters < *limit);
    class.map_or("huge", |(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::{MaskWriter, is_mask, mask_length};
    use crate::secret::SecretKind;

    const KIND: SecretKind = SecretKind::Key("password");

    #[test]
    fn a_mask_has_a_kind_and_a_length_class_and_no_hash_without_a_key() {
        let writer = MaskWriter::default();
        assert_eq!(writer.mask(KIND, "hunter2"), "[redacted password tiny]");
        assert_eq!(writer.mask(KIND, "hunter22"), "[redacted password short]");
        assert_eq!(writer.mask(KIND, &"x".repeat(16)), "[redacted password medium]");
        assert_eq!(writer.mask(KIND, &"x".repeat(32)), "[redacted password long]");
        assert_eq!(writer.mask(KIND, &"x".repeat(128)), "[redacted password huge]");
    }

    #[test]
    fn with_a_key_equal_secrets_have_equal_masks_and_another_key_gives_others() {
        let writer = MaskWriter::new(Some(b"first"));
        let mask = writer.mask(KIND, "hunter2");
        assert_eq!(mask, writer.mask(KIND, "hunter2"));
        assert_ne!(mask, writer.mask(KIND, "hunter3"));
        assert_ne!(mask, MaskWriter::new(Some(b"second")).mask(KIND, "hunter2"));
        assert!(is_mask(&mask), "{mask}");
        assert_eq!(mask.len(), "[redacted password tiny ]".len() + 16);
    }

    #[test]
    fn what_only_resembles_a_mask_is_none() {
        assert!(is_mask("[redacted password tiny]"));
        assert_eq!(mask_length("[redacted aws-key long] and more"), Some(23));
        let others = [
            "[redacted]",
            "[redacted password]",
            "[redacted hunter2 is it]",
            "[redacted x tiny] y",
        ];
        for other in others {
            assert!(!is_mask(other), "{other}");
        }
    }
}
