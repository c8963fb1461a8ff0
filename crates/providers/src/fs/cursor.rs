//! Keyset cursor of a file listing: where the last page ended.
//!
//! Encoded as one letter for the mode and the path of the last entry seen. A further slash after a
//! folder means that no entry of that folder was seen yet.

use bytes::Bytes;
use resource::{Cursor, Error, Result};

use super::path::LocalPath;

/// What a listing walks through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkMode {
    /// The direct children of one folder.
    Tree,
    /// Every file, depth first.
    Flat,
}

/// A position in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FsCursor {
    pub(super) mode: WalkMode,
    /// The last entry seen.
    pub(super) path: LocalPath,
    /// True if `path` is a folder of which no entry was seen yet.
    pub(super) at_start: bool,
}

impl FsCursor {
    /// Encodes this position.
    pub(super) fn encode(&self) -> Cursor {
        let mode = match self.mode {
            WalkMode::Tree => b't',
            WalkMode::Flat => b'f',
        };
        let mut text = vec![mode];
        text.extend_from_slice(self.path.as_bytes());
        if self.at_start {
            text.push(b'/');
        }
        Cursor(Bytes::from(text))
    }

    /// Decodes `cursor`; an error if its form is wrong.
    pub(super) fn decode(cursor: &Cursor) -> Result<Self> {
        let (mode, path) = match &cursor.0[..] {
            [b't', path @ ..] => (WalkMode::Tree, path),
            [b'f', path @ ..] => (WalkMode::Flat, path),
            _ => return Err(Error::bad_cursor()),
        };
        let (path, at_start) = match path {
            [path @ .., b'/'] => (path, true),
            path => (path, false),
        };
        match LocalPath::from_bytes(path) {
            Some(path) if path.name().is_some() && !(at_start && mode == WalkMode::Tree) => {
                Ok(Self { mode, path, at_start })
            }
            _ => Err(Error::bad_cursor()),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::{any, proptest};
    use resource::{Cursor, ErrorKind};

    use super::{FsCursor, WalkMode};
    use crate::fs::path::LocalPath;

    #[test]
    fn any_cursor_that_is_taken_is_written_as_it_was() {
        let examples: &[&[u8]] = &[b"tsrc", b"fsrc/", b"fsrc/a b/c.rs", b"t\xc3\xa9"];
        let check = |input: &[u8]| {
            let cursor = Cursor(Bytes::copy_from_slice(input));
            if let Ok(decoded) = FsCursor::decode(&cursor) {
                assert_eq!(decoded.encode(), cursor);
            }
        };
        testkit::FuzzTarget { name: "fs cursor", examples, check }.test();
    }

    #[test]
    fn a_malformed_cursor_is_refused() {
        let bad: [&[u8]; 12] = [
            b"", b"t", b"f", b"x/a", b"ta/", b"f/", b"fa//", b"f/a", b"fa//b", b"f..", b"fa/../b",
            b"fa\0",
        ];
        for bytes in bad {
            let error = FsCursor::decode(&Cursor(Bytes::from_static(bytes))).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Invalid, "{bytes:?}");
        }
        assert!(FsCursor::decode(&Cursor(Bytes::from(vec![b'f'; 100_000]))).is_err());
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding(bytes in any::<Vec<u8>>(), at_start in any::<bool>()) {
            if let Some(path) = LocalPath::from_bytes(&bytes).filter(|path| path.name().is_some()) {
                let place = FsCursor { mode: WalkMode::Flat, path, at_start };
                assert_eq!(FsCursor::decode(&place.encode()).unwrap(), place);
            }
        }

        #[test]
        fn whatever_is_taken_is_given_back(bytes in any::<Vec<u8>>()) {
            let cursor = Cursor(Bytes::from(bytes));
            if let Ok(place) = FsCursor::decode(&cursor) {
                assert_eq!(place.encode(), cursor);
            }
        }
    }
}
