//! Detection of UTF-16 without a byte order mark.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::SampleExtent;

/// Fewest characters that tell UTF-16 from other bytes.
const MIN_UNITS: usize = 4;

/// Fewest of them that are neither kanji nor hangul.
const MIN_TELLING: usize = 2;

/// Most units that are looked at.
const MAX_UNITS: usize = 128 * 1024;

/// Returns the charset if `bytes`, which contain NUL, are UTF-16: in one byte order nearly all
/// units are common characters, and a quarter of them are letters of an alphabet or kana: any
/// bytes make kanji.
///
/// ASCII decides about the order: in the other one, its letters are rare kanji.
pub(super) fn detect_utf_16(bytes: &[u8], extent: SampleExtent) -> Option<&'static Encoding> {
    if extent == SampleExtent::Whole && !bytes.len().is_multiple_of(2) {
        return None;
    }
    let little = UnitCounts::of(bytes, u16::from_le_bytes);
    let big = UnitCounts::of(bytes, u16::from_be_bytes);
    let (counts, charset) =
        if little.ascii >= big.ascii { (little, UTF_16LE) } else { (big, UTF_16BE) };
    let is_text = counts.ascii > 0
        && counts.all >= MIN_UNITS
        && !counts.has_control
        && counts.telling >= MIN_TELLING.max(counts.all / 4)
        && counts.common * 20 >= counts.all * 19;
    is_text.then_some(charset)
}

#[derive(Default)]
struct UnitCounts {
    all: usize,
    ascii: usize,
    /// Letters of alphabets, kana, and the symbols among them.
    telling: usize,
    /// Letters and symbols of Europe and East Asia, and halves of pairs.
    common: usize,
    has_control: bool,
}

impl UnitCounts {
    fn of(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Self {
        let mut counts = Self::default();
        for pair in bytes.as_chunks::<2>().0.iter().take(MAX_UNITS) {
            counts.all += 1;
            match unit(*pair) {
                0x9 | 0xa | 0xd | 0x20..=0x7e => {
                    counts.ascii += 1;
                    counts.telling += 1;
                    counts.common += 1;
                }
                0x8 | 0xb | 0xc | 0x1a | 0x1b => {}
                0..=0x1f | 0x7f..=0x9f | 0xfffe..=0xffff => counts.has_control = true,
                0xa0..=0x52f | 0x3000..=0x30ff => {
                    counts.telling += 1;
                    counts.common += 1;
                }
                0x2010..=0x27ff | 0x4e00..=0x9fff | 0xac00..=0xdfff | 0xff00..=0xffef => {
                    counts.common += 1;
                }
                _ => {}
            }
        }
        counts
    }
}
