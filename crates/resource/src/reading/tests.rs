//! Tests of readings: windows, slices and their numbers.

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{Body, ByteSource, Content, Part, Reading, Slice, Window};
use crate::description::Resource;
use crate::error::ErrorKind;
use crate::page::Freshness;
use crate::uri::Uri;

fn window(offset: u64, length: u64) -> Window {
    Window::Part { offset, length, etag: None }
}

proptest! {
    #[test]
    fn windows_of_a_text_hold_whole_characters_and_join_to_the_whole(
        text in ".{0,20}", length in 0_u64..9,
    ) {
        let bytes = Bytes::from(text.clone());
        let (mut joined, mut offset) = (String::new(), 0);
        loop {
            let (part, slice) = window(offset, length).cut(&bytes, true);
            let part = std::str::from_utf8(&part).unwrap();
            prop_assert!(part.len() as u64 <= length || part.chars().count() == 1);
            joined.push_str(part);
            let Some(next) = slice.unwrap().next_offset() else { break };
            offset = next;
        }
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn an_offset_inside_a_character_moves_to_the_next(text in ".{0,20}", offset in 0_u64..90) {
        let bytes = Bytes::from(text.clone());
        let slice = window(offset, 4).cut(&bytes, true).1.unwrap();
        let start = text.ceil_char_boundary(text.len().min(offset as usize));
        prop_assert_eq!(slice.offset, start as u64);
    }

    #[test]
    fn a_blob_is_cut_anywhere(bytes in any::<Vec<u8>>(), offset: u64, length: u64) {
        let bytes = Bytes::from(bytes);
        let total = bytes.len();
        let start = usize::try_from(offset).map_or(total, |start| start.min(total));
        let length = usize::try_from(length).unwrap_or(total).max(1);
        let (part, slice) = window(offset, length as u64).cut(&bytes, false);
        prop_assert_eq!(&part[..], &bytes[start..start.saturating_add(length).min(total)]);
        prop_assert_eq!(slice.unwrap().length, part.len() as u64);
    }
}

#[test]
fn a_window_checks_its_version_and_its_limit() {
    let pinned = Window::Part { offset: 0, length: 1, etag: Some("a".to_owned()) };
    assert!(pinned.check(Some("a"), 9).is_ok());
    assert_eq!(pinned.check(Some("b"), 9).unwrap_err().kind, ErrorKind::Changed);
    assert_eq!(pinned.check(None, 9).unwrap_err().kind, ErrorKind::Changed);
    assert!(Window::Whole { limit: 9 }.check(None, 9).is_ok());
    let whole = Window::Whole { limit: 8 };
    assert_eq!(whole.check(None, 9).unwrap_err().kind, ErrorKind::TooLarge);
    assert_eq!(whole.cut(&Bytes::from("日本"), true), (Bytes::from("日本"), None));
}

fn reading(parts: usize) -> Reading {
    let part = |at: usize| Part {
        resource: Arc::new(Resource::new(Uri::parse(&format!("a:{at}")).unwrap(), "a")),
        body: Body::Text(ByteSource::Bytes(Bytes::new())),
        slice: None,
    };
    Reading::new(Content::Parts((0..parts).map(part).collect()), Freshness::default())
}

#[test]
fn parts_that_are_removed_are_counted_off_whatever_number_the_source_told() {
    for (told, left) in [(3, 1), (9, 7), (2, 1), (1, 1), (0, 1), (usize::MAX, usize::MAX - 2)] {
        let mut reading = reading(3);
        reading.total_parts = told;
        reading.retain_parts(|part| part.resource.uri.as_str() == "a:1");
        assert_eq!(reading.total_parts, left, "of {told}");
    }
    let mut none = reading(2);
    none.total_parts = 1;
    none.retain_parts(|_| false);
    assert_eq!(none.total_parts, 0);
}

#[test]
fn a_slice_with_the_largest_numbers_has_no_next() {
    let last = Slice::new(0, 1, 1).of_part(usize::MAX, usize::MAX);
    assert_eq!((last.next_part(), last.continuation()), (None, None));
    assert_eq!(Slice::new(u64::MAX, 1, u64::MAX).next_offset(), None);
}
