//! JSON escaping of long texts: SIMD finds the characters to escape, then all between them is copied.
//!
//! A loop that stops at each such character mispredicts a branch there, which takes longer than all
//! other work on a text with quotes and line breaks. Here few branches depend on where they are.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};

/// Bytes that are looked at, and copied, in one go.
const BLOCK: usize = 64;

/// Bytes in which characters are found before the first of them is escaped.
const STEP: usize = 16 * BLOCK;

/// How many characters of a block are noted without a look at how many it has.
const COMMON: usize = 4;

/// How far a copy or an escape may write behind its end.
const SLACK: usize = BLOCK + 8;

/// The longest escape of one byte.
const MAX_ESCAPE: usize = 6;

/// Places of characters to escape in a step, in ascending order.
type Places = [u16; STEP + COMMON];

/// The escape of a byte, and its length.
#[derive(Clone, Copy)]
struct Escape {
    bytes: [u8; 8],
    length: u8,
}

/// The escapes of all bytes that need one. The others have an empty entry.
static ESCAPES: [Escape; 256] = {
    let mut table = [Escape { bytes: [0; 8], length: 0 }; 256];
    let hex = b"0123456789abcdef";
    let mut byte = 0;
    while byte < 0x20 {
        let bytes = [b'\\', b'u', b'0', b'0', hex[byte >> 4], hex[byte & 15], 0, 0];
        table[byte] = Escape { bytes, length: 6 };
        byte += 1;
    }
    let short = [
        (8, b'b'),
        (b'\t', b't'),
        (b'\n', b'n'),
        (12, b'f'),
        (b'\r', b'r'),
        (b'"', b'"'),
        (b'\\', b'\\'),
    ];
    let mut at = 0;
    while at < short.len() {
        let (byte, letter) = short[at];
        table[byte as usize] = Escape { bytes: [b'\\', letter, 0, 0, 0, 0, 0, 0], length: 2 };
        at += 1;
    }
    table
};

/// Appends `text` as the inside of a JSON string.
pub(super) fn escape_long(text: &str, into: &mut Vec<u8>) {
    escape_at(Level::new(), text.as_bytes(), into);
}

fn escape_at(level: Level, text: &[u8], into: &mut Vec<u8>) {
    dispatch!(level, simd => escape_bytes(simd, text, into));
}

#[inline(always)]
fn escape_bytes<S: Simd>(simd: S, text: &[u8], into: &mut Vec<u8>) {
    let mut places: Places = [0; STEP + COMMON];
    let mut end = into.len();
    into.resize(end + text.len() + text.len() / 8 + SLACK, 0);
    let mut start = 0;
    while start < text.len() {
        let step = &text[start..text.len().min(start + STEP)];
        let found = find_places(simd, step, &mut places);
        let length = step.len() + (MAX_ESCAPE - 1) * found;
        if into.len() < end + length + SLACK {
            into.resize(end + length + (text.len() - start) / 4 + SLACK, 0);
        }
        let mut from = start;
        for place in &places[..found] {
            let place = start + usize::from(*place);
            end = copy(text, from, place, into, end);
            let escape = ESCAPES[usize::from(text[place])];
            into[end..end + 8].copy_from_slice(&escape.bytes);
            end += usize::from(escape.length);
            from = place + 1;
        }
        start += step.len();
        end = copy(text, from, start, into, end);
    }
    into.truncate(end);
}

/// Copies `text` in `from..to` to `at`, and returns where the copy ends. A short one takes a whole
/// block, which the next one overwrites: no branch depends on its length.
#[inline(always)]
fn copy(text: &[u8], from: usize, to: usize, into: &mut [u8], at: usize) -> usize {
    let length = to - from;
    match (text.get(from..from + BLOCK), into.get_mut(at..at + BLOCK)) {
        (Some(block), Some(space)) if length <= BLOCK => space.copy_from_slice(block),
        _ => into[at..at + length].copy_from_slice(&text[from..to]),
    }
    at + length
}

/// Writes where `step` has characters to escape, and returns how many there are.
#[inline(always)]
fn find_places<S: Simd>(simd: S, step: &[u8], places: &mut Places) -> usize {
    let (blocks, rest) = step.as_chunks::<BLOCK>();
    let (mut found, mut start) = (0, 0);
    for block in blocks {
        found += note_places(mark(simd, block), start, &mut places[found..]);
        start += BLOCK as u16;
    }
    if !rest.is_empty() {
        let mut block = [b' '; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        found += note_places(mark(simd, &block), start, &mut places[found..]);
    }
    found
}

/// The bytes of `block` that need an escape, each as a bit.
#[inline(always)]
fn mark<S: Simd>(simd: S, block: &[u8; BLOCK]) -> u64 {
    let bytes = u8x64::from_slice(simd, block);
    let special = bytes.simd_lt(b' ') | bytes.simd_eq(b'"') | bytes.simd_eq(b'\\');
    special.to_bitmask()
}

/// Writes the places of the bits in `marks`, and returns how many there are.
#[inline(always)]
fn note_places(mut marks: u64, start: u16, places: &mut [u16]) -> usize {
    let found = marks.count_ones() as usize;
    // Most blocks have few: noting too many is cheaper than a branch on how many.
    let noted = if found <= COMMON { COMMON } else { found };
    for place in &mut places[..noted] {
        *place = start + marks.trailing_zeros() as u16;
        marks &= marks.wrapping_sub(1);
    }
    found
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, Simd};
    use proptest::prelude::*;

    use super::{BLOCK, STEP, escape_at};

    /// All levels of this machine.
    fn levels() -> Vec<Level> {
        let level = Level::new();
        #[cfg(target_arch = "x86_64")]
        let older = [
            level.as_avx2().map(|simd| simd.level()),
            level.as_sse4_2().map(|simd| simd.level()),
            level.as_sse2().map(|simd| simd.level()),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let older = [None];
        older.into_iter().flatten().chain([level]).collect()
    }

    fn assert_escaped(text: &str) {
        let mut expected = serde_json::to_vec(text).unwrap();
        expected.pop();
        for level in levels() {
            let mut json = b"\"".to_vec();
            escape_at(level, text.as_bytes(), &mut json);
            assert!(json == expected, "{level:?}: {text:?}");
        }
    }

    #[test]
    fn each_character_is_escaped_as_serde_json_does_wherever_it_stands() {
        for character in ('\0'..='\u{ff}').chain(['日', '\u{2028}', '\u{1f600}']) {
            for before in [0, 1, BLOCK - 1, BLOCK, STEP - 2, STEP - 1, STEP, STEP + BLOCK] {
                let text = format!("{}{character}", "a".repeat(before));
                assert_escaped(&text);
                assert_escaped(&format!("{text}{}", "b".repeat(BLOCK + 1)));
            }
        }
    }

    #[test]
    fn texts_of_nothing_but_escapes_are_escaped() {
        for length in [1, BLOCK, STEP - 1, STEP, 3 * STEP + 7, 100 * STEP] {
            assert_escaped(&"\u{1}".repeat(length));
            assert_escaped(&"\"\n".repeat(length));
            assert_escaped(&format!("{}{}", "a".repeat(100 * STEP), "\u{1}".repeat(length)));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_escaped_as_serde_json_does(
            parts in prop::collection::vec(("[ -~日é]{0,90}", "[\0-\u{1f}\"\\\\]{0,9}"), 0..60),
        ) {
            assert_escaped(&parts.iter().map(|(plain, special)| format!("{plain}{special}")).collect::<String>());
        }
    }
}
