//! Sealed cursors: a position in a list with a keyed BLAKE3 MAC, so that clients cannot forge it.
//!
//! A cursor is bound to its list. A short position is in the cursor, and any process with the same
//! key accepts it, on any connection. A long one stays with the server, under its MAC. The content
//! is authenticated, not encrypted.

use bytes::Bytes;
use resource::{Cursor, Error, Result};

/// The most characters of a cursor. Models copy cursors, and pay for each token twice.
pub const MAX_CURSOR_CHARS: usize = 96;

/// Length of the MAC in bytes.
const MAC_LENGTH: usize = 16;
/// The byte between the MAC and a position.
const INLINE: u8 = 0;
/// The longest position that fits into a cursor.
const MAX_INLINE_BYTES: usize = MAX_CURSOR_CHARS / 4 * 3 - MAC_LENGTH - 1;

/// The MAC of a position in a list.
pub type CursorMac = [u8; MAC_LENGTH];

/// A cursor as text.
#[derive(Debug)]
pub struct SealedCursor {
    /// The text, at most [`MAX_CURSOR_CHARS`] long.
    pub text: String,
    /// The MAC under which the server has to keep the position, if it is too long for the text.
    pub stored: Option<CursorMac>,
}

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

    /// Encodes a cursor of `list` as text: base64url of MAC and position. A position that makes
    /// it longer than [`MAX_CURSOR_CHARS`] is not in it: the text names the position by its MAC.
    pub fn seal(&self, list: &str, cursor: &Cursor) -> SealedCursor {
        let mac = self.mac(list, &cursor.0);
        let mut sealed = mac.to_vec();
        let is_inline = cursor.0.len() <= MAX_INLINE_BYTES;
        if is_inline {
            sealed.push(INLINE);
            sealed.extend_from_slice(&cursor.0);
        }
        let text = base64_simd::URL_SAFE_NO_PAD.encode_to_string(sealed);
        SealedCursor { text, stored: (!is_inline).then_some(mac) }
    }

    /// Undoes [`CursorSeal::seal`]. Refuses text that was not sealed with this key for this list.
    /// `stored` finds a position by its MAC; the error is its own if it has none.
    pub fn unseal(
        &self,
        list: &str,
        text: &str,
        stored: impl FnOnce(&CursorMac) -> Result<Bytes>,
    ) -> Result<Cursor> {
        let bytes = base64_simd::URL_SAFE_NO_PAD
            .decode_to_vec(text.as_bytes())
            .map_err(|_| Error::bad_cursor())?;
        let (mac, rest) = bytes.split_first_chunk().ok_or_else(Error::bad_cursor)?;
        let position = match rest.split_first() {
            None => stored(mac)?,
            Some((&INLINE, position)) => Bytes::copy_from_slice(position),
            Some(_) => return Err(Error::bad_cursor()),
        };
        // `blake3::Hash` compares in constant time.
        let padded = |mac: &CursorMac| {
            let mut bytes = [0; 32];
            bytes[..MAC_LENGTH].copy_from_slice(mac);
            blake3::Hash::from_bytes(bytes)
        };
        if padded(mac) != padded(&self.mac(list, &position)) {
            return Err(Error::bad_cursor());
        }
        Ok(Cursor(position))
    }

    fn mac(&self, list: &str, place: &[u8]) -> CursorMac {
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
    use proptest::collection::vec;
    use proptest::prelude::{any, proptest};
    use resource::{Cursor, Error, Result};

    use super::{CursorMac, CursorSeal, MAX_CURSOR_CHARS, SealedCursor};

    fn unseal(seal: &CursorSeal, list: &str, text: &str) -> Result<Cursor> {
        seal.unseal(list, text, |_| Err(Error::bad_cursor()))
    }

    proptest! {
        #[test]
        fn opening_undoes_closing_and_nothing_else_opens(
            place in vec(any::<u8>(), 0..=55), list in ".*", other in ".*", flip in any::<usize>(),
        ) {
            let seal = CursorSeal::new([7; 32]);
            let cursor = Cursor(Bytes::from(place));
            let SealedCursor { text, stored } = seal.seal(&list, &cursor);
            assert!(stored.is_none() && text.len() <= MAX_CURSOR_CHARS);
            assert_eq!(unseal(&seal, &list, &text).unwrap(), cursor);
            assert_eq!(unseal(&CursorSeal::new([7; 32]), &list, &text).unwrap(), cursor);
            assert!(unseal(&CursorSeal::new([8; 32]), &list, &text).is_err());
            assert!(list == other || unseal(&seal, &other, &text).is_err());
            assert!(unseal(&seal, &list, &text[..text.len() - 1]).is_err());
            let mut forged = text.into_bytes();
            let at = flip % forged.len();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            // The last letter may hold unused bits; the decoder refuses these unless zero.
            assert!(unseal(&seal, &list, std::str::from_utf8(&forged).unwrap()).is_err());
        }

        #[test]
        fn a_long_position_is_named_by_its_mac(place in vec(any::<u8>(), 56..2000)) {
            let seal = CursorSeal::new([7; 32]);
            let cursor = Cursor(Bytes::from(place));
            let SealedCursor { text, stored } = seal.seal("list", &cursor);
            assert!(text.len() <= MAX_CURSOR_CHARS);
            let keep = |mac: &CursorMac| {
                assert_eq!(Some(*mac), stored);
                Ok(cursor.0.clone())
            };
            assert_eq!(seal.unseal("list", &text, keep).unwrap(), cursor);
            assert!(seal.unseal("other", &text, keep).is_err(), "it is bound to its list");
            let wrong = |_: &CursorMac| Ok(Bytes::from_static(b"elsewhere"));
            assert!(seal.unseal("list", &text, wrong).is_err(), "and to its position");
            assert!(unseal(&seal, "list", &text).is_err());
        }
    }

    #[test]
    fn garbage_is_refused() {
        let seal = CursorSeal::new([0; 32]);
        for text in ["", "A", "!!!!", "日本", "AAAA", &"A".repeat(10_000)] {
            assert!(unseal(&seal, "list", text).is_err(), "{text:?} was opened");
        }
    }
}
