//! Detection of Japanese in text with too little of it for statistics.

use encoding_rs::{EUC_JP, Encoding, SHIFT_JIS};

/// Up to this many characters are few, so that the statistics of the detector are not reliable.
const FEW_CHARACTERS: usize = 64;

/// The same where the detector takes them for Chinese or Korean.
const FEW_AMONG_EAST_ASIAN: usize = 8;

/// Returns the charset if the few characters in `bytes` that are not ASCII are common in Japanese.
///
/// In western text they stand alone between letters. Taken in pairs, as EUC-JP is, they leave one
/// over; taken together with the next letter, as Shift_JIS is, they follow a letter.
pub(super) fn detect_few_kanji(bytes: &[u8], is_east_asian: bool) -> Option<&'static Encoding> {
    let most = if is_east_asian { FEW_AMONG_EAST_ASIAN } else { FEW_CHARACTERS };
    let is_likely = |rule| PairCounts::of(bytes, rule).is_some_and(|counts| counts.are_few(most));
    match () {
        () if is_likely(euc_jp_pair) => Some(EUC_JP),
        () if is_likely(shift_jis_pair) => Some(SHIFT_JIS),
        () => None,
    }
}

/// What two bytes are, the first of which is not ASCII.
#[derive(Clone, Copy)]
enum PairKind {
    /// A character of everyday Japanese.
    Common,
    Rare,
    /// The first byte is a character by itself.
    Single,
    Invalid,
}

type PairRule = fn(u8, u8) -> PairKind;

/// How many characters of each kind a text has.
#[derive(Default)]
struct PairCounts {
    pairs: usize,
    common: usize,
    /// Pairs that do not follow an ASCII letter.
    apart: usize,
    singles: usize,
}

impl PairCounts {
    /// Counts the characters; `None` if one is invalid.
    fn of(bytes: &[u8], rule: PairRule) -> Option<Self> {
        let mut counts = Self::default();
        let (mut at, mut last) = (0, b' ');
        while let Some(first) = bytes.get(at).copied() {
            if first.is_ascii() {
                (at, last) = (at + 1, first);
                continue;
            }
            // A sample may end inside a character.
            let Some(second) = bytes.get(at + 1).copied() else { break };
            let kind = rule(first, second);
            let width = match kind {
                PairKind::Invalid => return None,
                PairKind::Single => 1,
                PairKind::Common | PairKind::Rare => 2,
            };
            counts.singles += usize::from(width == 1);
            counts.pairs += usize::from(width == 2);
            counts.common += usize::from(matches!(kind, PairKind::Common));
            counts.apart += usize::from(width == 2 && !last.is_ascii_alphabetic());
            (at, last) = (at + width, first);
        }
        Some(counts)
    }

    /// True if there are at most `most` pairs, nearly all common and most of them apart.
    fn are_few(&self, most: usize) -> bool {
        (2..=most).contains(&self.pairs)
            && self.common * 10 >= (self.pairs + self.singles) * 9
            && self.apart * 2 >= self.pairs
    }
}

/// Rows of punctuation, kana and the kanji of level 1 are common.
fn euc_jp_pair(first: u8, second: u8) -> PairKind {
    match (first, second) {
        (0x8e, 0xa1..=0xdf) => PairKind::Rare,
        (0xa1 | 0xa3..=0xa5 | 0xb0..=0xcf, 0xa1..=0xfe) => PairKind::Common,
        (0xa2 | 0xa6..=0xa8 | 0xad | 0xd0..=0xf4, 0xa1..=0xfe) => PairKind::Rare,
        _ => PairKind::Invalid,
    }
}

fn shift_jis_pair(first: u8, second: u8) -> PairKind {
    match (first, second) {
        (0xa1..=0xdf, _) => PairKind::Single,
        (_, 0..=0x3f | 0x7f | 0xfd..) => PairKind::Invalid,
        (0x81 | 0x83 | 0x89..=0x97, _) | (0x82, 0x4f..) | (0x88, 0x9f..) | (0x98, ..=0x72) => {
            PairKind::Common
        }
        (0x81..=0x9f | 0xe0..=0xfc, _) => PairKind::Rare,
        _ => PairKind::Invalid,
    }
}

/// Returns the charset if `bytes` can only be half-width kana.
///
/// The detector takes them for western letters or for rare kanji. As western letters they would be
/// long runs of capitals and symbols; as kanji, all from one corner of the table.
pub(super) fn detect_half_width_kana(bytes: &[u8]) -> Option<&'static Encoding> {
    let (mut run, mut longest, mut high, mut signs, mut shifts) = (0, 0, 0, 0, 0);
    let mut last = 0;
    for byte in bytes {
        match byte {
            0..=0x7f => run = 0,
            0x8e if last != 0x8e => shifts += 1,
            0xa1..=0xdf => {
                run += 1;
                high += 1;
                longest = longest.max(run);
                signs += usize::from(*byte < 0xc0);
            }
            _ => return None,
        }
        last = *byte;
    }
    match shifts {
        // An even number of kana may also be half as many kanji, which are likelier.
        0 if detect_few_kanji(bytes, false) == Some(EUC_JP) => Some(EUC_JP),
        0 if longest >= 4 && 4 * signs >= high => Some(SHIFT_JIS),
        _ if shifts >= 4 && shifts == high => Some(EUC_JP),
        _ => None,
    }
}
