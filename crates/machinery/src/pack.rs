//! Packing of integers and optional byte strings into few bytes, for cursors.
//!
//! An integer is a LEB128 varint. A byte string has its length plus one in front; zero stands for
//! a missing one, so that an empty string and none differ.

/// Writes packed values.
#[derive(Debug, Default)]
pub struct Packer(Vec<u8>);

impl Packer {
    /// Appends an integer.
    #[must_use]
    pub fn integer(mut self, mut number: u64) -> Self {
        while number > 0x7f {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
        self
    }

    /// Appends an integer that may be missing.
    #[must_use]
    pub fn optional_integer(self, number: Option<u64>) -> Self {
        let packer = self.integer(u64::from(number.is_some()));
        match number {
            Some(number) => packer.integer(number),
            None => packer,
        }
    }

    /// Appends a byte string that may be missing.
    #[must_use]
    pub fn bytes<B: AsRef<[u8]>>(self, bytes: Option<B>) -> Self {
        let Some(bytes) = bytes else { return self.integer(0) };
        let bytes = bytes.as_ref();
        let mut packer = self.integer(bytes.len() as u64 + 1);
        packer.0.extend_from_slice(bytes);
        packer
    }

    /// The packed bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads packed values in the order in which they were written. Every method returns `None` if the
/// bytes were not written that way.
#[derive(Debug)]
pub struct Unpacker<'a>(&'a [u8]);

impl<'a> Unpacker<'a> {
    /// Reads from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next integer.
    pub fn integer(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                // One number has one form: no zeros behind it.
                return (*byte != 0 || shift == 0).then_some(number);
            }
        }
        None
    }

    /// The next integer that may be missing.
    pub fn optional_integer(&mut self) -> Option<Option<u64>> {
        match self.integer()? {
            0 => Some(None),
            1 => Some(Some(self.integer()?)),
            _ => None,
        }
    }

    /// The next byte string.
    pub fn bytes(&mut self) -> Option<Option<&'a [u8]>> {
        let Some(length) = self.integer()?.checked_sub(1) else { return Some(None) };
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(Some(bytes))
    }

    /// The next byte string, as UTF-8.
    pub fn text(&mut self) -> Option<Option<&'a str>> {
        Some(match self.bytes()? {
            Some(bytes) => Some(std::str::from_utf8(bytes).ok()?),
            None => None,
        })
    }

    /// Whether all bytes are read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `Some` if all bytes are read.
    pub fn end(&self) -> Option<()> {
        self.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{Packer, Unpacker};

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked(
            number in any::<u64>(), one in any::<Option<Vec<u8>>>(), maybe in any::<Option<u64>>(),
            text in any::<Option<String>>(),
        ) {
            let packed = Packer::default().integer(number).bytes(one.as_ref());
            let packed = packed.optional_integer(maybe).bytes(text.as_ref()).finish();
            let mut rest = Unpacker::new(&packed);
            prop_assert_eq!(rest.integer(), Some(number));
            prop_assert_eq!(rest.bytes(), Some(one.as_deref()));
            prop_assert_eq!(rest.optional_integer(), Some(maybe));
            prop_assert_eq!(rest.text(), Some(text.as_deref()));
            prop_assert_eq!(rest.end(), Some(()));
        }

        #[test]
        fn a_value_has_one_form(bytes in any::<Vec<u8>>()) {
            let mut rest = Unpacker::new(&bytes);
            if let Some(number) = rest.integer() {
                let packed = Packer::default().integer(number).finish();
                prop_assert_eq!(&packed[..], &bytes[..bytes.len() - rest.0.len()]);
            }
        }

        #[test]
        fn an_end_that_is_missing_is_noticed(number in any::<u64>(), text in ".{1,9}") {
            let packed = Packer::default().integer(number).bytes(Some(&text)).finish();
            let mut rest = Unpacker::new(&packed[..packed.len() - 1]);
            prop_assert_eq!(rest.integer().and_then(|_| rest.bytes()), None);
        }
    }

    #[test]
    fn a_small_cursor_is_small() {
        assert_eq!(Packer::default().integer(5).bytes(Some("ab")).finish(), b"\x05\x03ab");
        assert_eq!(Packer::default().bytes(None::<&[u8]>).finish(), [0]);
        assert_eq!(Unpacker::new(&[0xff; 9]).integer(), None);
        assert_eq!(Unpacker::new(&[0xff; 11]).integer(), None);
    }
}
