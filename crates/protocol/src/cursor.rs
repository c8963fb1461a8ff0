//! Sealed cursors: a position in a list with a keyed BLAKE3 MAC, so that clients cannot forge it.
//!
//! A cursor is self-contained and bound to its list. Any process with the same key accepts it, on
//! any connection. The content is authenticated, not encrypted.

use bytes::Bytes;
use resource::{Cursor, Error, Result};

/// Length of the MAC in bytes.
const MAC_LENGTH: usize = 16;

/// Seals and opens cursors with one key.
#[derive(Clone)]
pub struct CursorSeal {
    key: [u8; 32],
}

impl CursorSeal {
    /// Creates a seal from `key`. Processes that share a key accept each other's cursors.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// Encodes a cursor of `list` as text: base64url of MAC and position.
    pub fn seal(&self, list: &str, cursor: &Cursor) -> String {
        let mut sealed = Vec::with_capacity(MAC_LENGTH + cursor.0.len());
        sealed.extend_from_slice(&self.mac(list, &cursor.0));
        sealed.extend_from_slice(&cursor.0);
        base64_simd::URL_SAFE_NO_PAD.encode_to_string(sealed)
    }

    /// Undoes [`CursorSeal::seal`]. Refuses text that was not sealed with this key for this list.
    pub fn unseal(&self, list: &str, text: &str) -> Result<Cursor> {
        let bytes = base64_simd::URL_SAFE_NO_PAD
            .decode_to_vec(text.as_bytes())
            .map_err(|_| Error::bad_cursor())?;
        let (seal, place) = bytes.split_at_checked(MAC_LENGTH).ok_or_else(Error::bad_cursor)?;
        // `blake3::Hash` compares in constant time.
        let mut padded = [0; 32];
        padded[..MAC_LENGTH].copy_from_slice(seal);
        let mut right = [0; 32];
        right[..MAC_LENGTH].copy_from_slice(&self.mac(list, place));
        if blake3::Hash::from_bytes(padded) != blake3::Hash::from_bytes(right) {
            return Err(Error::bad_cursor());
        }
        Ok(Cursor(Bytes::copy_from_slice(place)))
    }

    fn mac(&self, list: &str, place: &[u8]) -> [u8; MAC_LENGTH] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(&(list.len() as u64).to_le_bytes());
        hasher.update(list.as_bytes());
        hasher.update(place);
        let mut seal = [0; MAC_LENGTH];
        seal.copy_from_slice(&hasher.finalize().as_bytes()[..MAC_LENGTH]);
        seal
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::{any, proptest};
    use resource::Cursor;

    use super::CursorSeal;

    proptest! {
        #[test]
        fn opening_undoes_closing_and_nothing_else_opens(
            place in any::<Vec<u8>>(), list in ".*", other in ".*", flip in any::<usize>(),
        ) {
            let seal = CursorSeal::new([7; 32]);
            let cursor = Cursor(Bytes::from(place));
            let text = seal.seal(&list, &cursor);
            assert_eq!(seal.unseal(&list, &text).unwrap(), cursor);
            assert_eq!(CursorSeal::new([7; 32]).unseal(&list, &text).unwrap(), cursor);
            assert!(CursorSeal::new([8; 32]).unseal(&list, &text).is_err());
            assert!(list == other || seal.unseal(&other, &text).is_err());
            assert!(seal.unseal(&list, &text[..text.len() - 1]).is_err());
            let mut forged = text.into_bytes();
            let at = flip % forged.len();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            // The last letter may hold unused bits; the decoder refuses these unless zero.
            assert!(seal.unseal(&list, std::str::from_utf8(&forged).unwrap()).is_err());
        }
    }

    #[test]
    fn garbage_is_refused() {
        let seal = CursorSeal::new([0; 32]);
        for text in ["", "A", "!!!!", "日本", "AAAA", &"A".repeat(10_000)] {
            assert!(seal.unseal("list", text).is_err(), "{text:?} was opened");
        }
    }
}
