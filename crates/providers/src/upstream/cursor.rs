//! Keyset cursor over a paged upstream list, with cycle detection.
//!
//! It holds the server's own cursor for the page and the last key returned from that page. No
//! state is kept between two requests, so the data for cycle detection travels in the cursor.

use machinery::{Packer, Unpacker};
use resource::{Cursor, Error, Result};

/// How many pages a list may have.
pub(super) const PAGES: u32 = 1_000;
/// How many bytes of descriptions one walk of a list may pass.
const MAX_WALK_BYTES: u64 = 128 << 20;

/// A place in a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct UpstreamCursor {
    /// The server's cursor of the page; none for the first. An empty one is a cursor.
    pub(super) cursor: Option<String>,
    /// The key of the last entry returned from that page.
    pub(super) last: Option<String>,
    /// The number of pages before it.
    depth: u32,
    /// The weight of the pages before it, in bytes.
    walked: u64,
    /// The hash of an earlier page's cursor; meeting it again proves a cycle (Brent's algorithm).
    tortoise: u64,
}

impl UpstreamCursor {
    /// The position after `last` on the same page.
    pub(super) fn after(&self, last: &str) -> Self {
        Self { last: Some(last.to_owned()), ..self.clone() }
    }

    /// Whether the walk ends after this page, which weighs `weight` bytes, because it would use too
    /// much memory.
    pub(super) fn is_exhausted(&self, weight: usize) -> bool {
        self.walked.saturating_add(weight as u64) > MAX_WALK_BYTES
    }

    /// The start of the next page, which the server calls `cursor`; this page weighs `weight`
    /// bytes. Fails on a cycle, and beyond [`PAGES`] pages.
    pub(super) fn next_page(&self, cursor: String, weight: usize) -> Result<Self> {
        let depth = self.depth + 1;
        let mark = cursor_hash(&cursor);
        if self.cursor.as_ref() == Some(&cursor) || (self.depth > 0 && mark == self.tortoise) {
            return Err(Error::unavailable("the list of the server behind this mount repeats"));
        }
        if depth >= PAGES {
            let words = format!("the server behind this mount lists more than {PAGES} pages");
            return Err(Error::unavailable(words));
        }
        let tortoise = if depth.is_power_of_two() { mark } else { self.tortoise };
        let walked = self.walked.saturating_add(weight as u64);
        Ok(Self { cursor: Some(cursor), last: None, depth, walked, tortoise })
    }

    pub(super) fn encode(&self) -> Cursor {
        let packed = Packer::default()
            .integer(u64::from(self.depth))
            .integer(self.walked)
            .integer(self.tortoise);
        Cursor(packed.bytes(self.cursor.as_ref()).bytes(self.last.as_ref()).finish().into())
    }

    /// Decodes one of our cursors; without one, the start of the list.
    pub(super) fn decode(cursor: Option<&Cursor>) -> Result<Self> {
        match cursor {
            None => Ok(Self::default()),
            Some(Cursor(bytes)) => decode_bytes(bytes).ok_or_else(Error::bad_cursor),
        }
    }
}

fn decode_bytes(bytes: &[u8]) -> Option<UpstreamCursor> {
    let mut parts = Unpacker::new(bytes);
    let depth = u32::try_from(parts.integer()?).ok()?;
    let walked = parts.integer()?;
    let tortoise = parts.integer()?;
    let cursor = parts.text()?.map(str::to_owned);
    let last = parts.text()?.map(str::to_owned);
    let is_first = cursor.is_none() == (depth == 0);
    (parts.is_empty() && is_first && depth < PAGES).then_some(UpstreamCursor {
        cursor,
        last,
        depth,
        walked,
        tortoise,
    })
}

fn cursor_hash(cursor: &str) -> u64 {
    let hash = blake3::hash(cursor.as_bytes());
    hash.as_bytes().first_chunk().copied().map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::{any, prop_assert_eq, proptest};
    use resource::Cursor;

    use super::{PAGES, UpstreamCursor};

    #[test]
    fn any_cursor_that_is_taken_is_written_as_it_was() {
        let examples: &[&[u8]] = &[b"\0\0\0\0", b"\x01\x05\x02a\x03bc", b"\x07\xff\x01\x01\0"];
        let check = |input: &[u8]| {
            let cursor = Cursor(Bytes::copy_from_slice(input));
            let Ok(decoded) = UpstreamCursor::decode(Some(&cursor)) else { return };
            assert_eq!(decoded.encode(), cursor);
            if let Ok(next) = decoded.next_page("next".to_owned(), 1) {
                assert_eq!(UpstreamCursor::decode(Some(&next.encode())).ok(), Some(next));
            }
        };
        testkit::FuzzTarget { name: "upstream cursor", examples, check }.test();
    }

    #[test]
    fn a_circle_of_any_length_is_noticed_without_being_remembered() {
        for (lead, length) in [(0, 1), (0, 2), (3, 1), (5, 7), (40, 100)] {
            let mut place = UpstreamCursor::default();
            let mut at = 0;
            let steps = (0..PAGES).take_while(|_| {
                let next = place.next_page(at.to_string(), 1);
                at = if at + 1 < lead + length { at + 1 } else { lead };
                next.map(|next| place = UpstreamCursor::decode(Some(&next.encode())).unwrap())
                    .is_ok()
            });
            let steps = steps.count();
            assert!(steps <= 4 * (lead + length) + 4, "{lead} {length}: {steps}");
        }
    }

    #[test]
    fn a_list_without_end_ends() {
        let mut place = UpstreamCursor::default();
        let turns = (0..).take_while(|at: &u32| match place.next_page(at.to_string(), 1) {
            Ok(next) => {
                place = next;
                true
            }
            Err(_) => false,
        });
        assert_eq!(turns.count() as u32, PAGES - 1);
    }

    proptest! {
        #[test]
        fn a_place_is_read_as_it_was_written(cursors in proptest::collection::vec(".{0,9}", 0..5),
                                             last in any::<Option<String>>()) {
            let mut place = UpstreamCursor::default();
            for cursor in cursors {
                place = place.next_page(cursor, 300).unwrap_or(place);
            }
            let place = UpstreamCursor { last, ..place };
            prop_assert_eq!(UpstreamCursor::decode(Some(&place.encode())).unwrap(), place);
        }

        #[test]
        fn what_was_not_written_here_is_refused_or_harmless(bytes: Vec<u8>) {
            let _ = UpstreamCursor::decode(Some(&resource::Cursor(bytes.into())));
        }
    }
}
