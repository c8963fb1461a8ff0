//! Text detection: UTF-8, another charset, or binary.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    DecoderResult, EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1252,
};

use super::mime;

/// Bytes used to guess the charset, from the first non-ASCII character on.
const CHARSET_SAMPLE_BYTES: usize = 256 * 1024;

/// What the content of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentForm {
    /// UTF-8 text, returned as it is.
    Utf8,
    /// Text in another charset, decoded before it is returned.
    Charset(&'static Encoding),
    /// Binary.
    Blob,
}

/// Whether bytes are a whole file or only its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleExtent {
    Whole,
    /// The head, which may end inside a character.
    Head,
}

/// Detects what `bytes` are.
pub(super) fn detect_form(bytes: &[u8], extent: SampleExtent) -> ContentForm {
    let signs = ByteClasses::of(bytes);
    if let Some(form) = detect_by_bom(bytes, extent, signs) {
        return form;
    }
    if signs.has(ByteClasses::NUL) {
        return ContentForm::Blob;
    }
    if !signs.has(ByteClasses::NON_ASCII) || is_utf8(bytes, extent) {
        return if is_binary_format(bytes, signs) { ContentForm::Blob } else { ContentForm::Utf8 };
    }
    if mime::by_magic(bytes).is_some() {
        return ContentForm::Blob;
    }
    guess_charset(bytes, extent)
        .filter(|charset| bytes_decode(charset, bytes, extent))
        .map_or(ContentForm::Blob, ContentForm::Charset)
}

/// The classes of bytes that occur in a buffer, found in one pass.
#[derive(Clone, Copy)]
pub(super) struct ByteClasses(u8);

impl ByteClasses {
    /// NUL, which no text contains.
    pub(super) const NUL: u8 = 1;
    /// ESC, the first byte of escape sequences.
    pub(super) const ESCAPE: u8 = 2;
    /// Control characters that do not occur in text.
    const CONTROL: u8 = 4;
    /// Bytes that are not ASCII.
    const NON_ASCII: u8 = 0x80;

    pub(super) fn of(bytes: &[u8]) -> Self {
        // Without branches or comparisons, so that the compiler vectorises the loop well: with
        // wrapping, 0x0..=0x8 become the highest values and 0xe..=0x1f the lowest.
        let (mut any, mut highest, mut lowest) = (0, 0, u8::MAX);
        for byte in bytes {
            any |= byte;
            highest = highest.max(byte.wrapping_sub(0x9));
            lowest = lowest.min(byte.wrapping_sub(0xe));
        }
        let controls = if highest >= 0xf7 || lowest < 0x12 {
            bytes.iter().fold(0, |signs, byte| signs | control_class(*byte))
        } else {
            0
        };
        Self(any & Self::NON_ASCII | controls)
    }

    pub(super) fn has(self, sign: u8) -> bool {
        self.0 & sign != 0
    }
}

/// Returns the class of a control character.
fn control_class(byte: u8) -> u8 {
    match byte {
        0 => ByteClasses::NUL | ByteClasses::CONTROL,
        0x1b => ByteClasses::ESCAPE,
        0x8..=0xd | 0x1a | 0x20.. => 0,
        _ => ByteClasses::CONTROL,
    }
}

/// Guesses the charset of `bytes`, which are not UTF-8; `None` if it is not a supported one.
pub(super) fn guess_charset(bytes: &[u8], extent: SampleExtent) -> Option<&'static Encoding> {
    // Include the letters just before: an accent is likelier inside a word.
    let start = bytes.iter().position(|byte| !byte.is_ascii())?.saturating_sub(16);
    let telling = &bytes[start..bytes.len().min(start + CHARSET_SAMPLE_BYTES)];
    if let Some(charset) = detect_half_width_kana(telling) {
        return Some(charset);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(telling, extent == SampleExtent::Whole && start + telling.len() == bytes.len());
    let charset = detector.guess(None, Utf8Detection::Deny);
    [SHIFT_JIS, EUC_JP, WINDOWS_1252].contains(&charset).then_some(charset)
}

/// Returns the charset if `bytes` can only be half-width kana.
///
/// The detector takes them for western letters or for rare kanji. As western letters they would be
/// long runs of capitals and symbols; as kanji, all from one corner of the table.
fn detect_half_width_kana(bytes: &[u8]) -> Option<&'static Encoding> {
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
        0 if longest >= 4 && 4 * signs >= high => Some(SHIFT_JIS),
        _ if shifts >= 4 && shifts == high => Some(EUC_JP),
        _ => None,
    }
}

/// True if `bytes` contain an escape sequence by which ISO-2022-JP switches to Japanese.
///
/// ISO-2022-JP is pure ASCII and would otherwise pass for UTF-8.
pub(super) fn has_iso_2022_jp_escapes(bytes: &[u8]) -> bool {
    let sequences: [&[u8]; 4] = [b"$B", b"$@", b"(J", b"(I"];
    let mut rest = bytes;
    while let Some(escape) = rest.iter().position(|byte| *byte == 0x1b) {
        rest = &rest[escape + 1..];
        if sequences.iter().any(|sequence| rest.starts_with(sequence)) {
            return true;
        }
    }
    false
}

/// True if `bytes` are UTF-8.
pub(super) fn is_utf8(bytes: &[u8], extent: SampleExtent) -> bool {
    match extent {
        SampleExtent::Whole => simdutf8::basic::from_utf8(bytes).is_ok(),
        SampleExtent::Head => match simdutf8::compat::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none(),
        },
    }
}

/// True if decoded `text` contains no control characters that do not occur in text.
pub(super) fn has_only_text_characters(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() && !matches!(c, '\u{8}'..='\r' | '\u{1a}' | '\u{1b}'))
}

/// Length of `bytes` without an incomplete UTF-8 character at the end.
pub(super) fn complete_utf8_len(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let width = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => 1,
        };
        return if width > back { bytes.len() - back } else { bytes.len() };
    }
    bytes.len()
}

/// Detects by byte order mark or ISO-2022-JP escape sequence.
fn detect_by_bom(bytes: &[u8], extent: SampleExtent, classes: ByteClasses) -> Option<ContentForm> {
    let may_switch = classes.has(ByteClasses::ESCAPE) && !classes.has(ByteClasses::NON_ASCII);
    let charset = match bytes {
        [0xff, 0xfe, ..] => UTF_16LE,
        [0xfe, 0xff, ..] => UTF_16BE,
        _ if may_switch && has_iso_2022_jp_escapes(bytes) => ISO_2022_JP,
        _ => return None,
    };
    match bytes_decode(charset, bytes, extent) {
        true => Some(ContentForm::Charset(charset)),
        false if charset == ISO_2022_JP => None,
        false => Some(ContentForm::Blob),
    }
}

fn bytes_decode(charset: &'static Encoding, bytes: &[u8], extent: SampleExtent) -> bool {
    let mut decoder = charset.new_decoder_with_bom_removal();
    let mut text = String::with_capacity(4 * 1024);
    let mut rest = bytes;
    loop {
        text.clear();
        let last = extent == SampleExtent::Whole;
        let (result, read) = decoder.decode_to_string_without_replacement(rest, &mut text, last);
        rest = &rest[read..];
        match result {
            DecoderResult::Malformed(..) => return false,
            _ if !has_only_text_characters(&text) => return false,
            DecoderResult::InputEmpty => return true,
            DecoderResult::OutputFull => {}
        }
    }
}

/// True if valid UTF-8 is nevertheless a binary format.
///
/// Many signatures are two letters that may begin a sentence, so they count only if control
/// characters occur too. A PDF may consist of letters only, but its signature is long enough.
fn is_binary_format(bytes: &[u8], classes: ByteClasses) -> bool {
    bytes.starts_with(b"%PDF-")
        || classes.has(ByteClasses::CONTROL) && mime::by_magic(bytes).is_some()
}

#[cfg(test)]
mod tests {
    use encoding_rs::{EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1252};
    use proptest::prelude::{any, proptest};

    use super::{ByteClasses, ContentForm, SampleExtent, complete_utf8_len, detect_form};

    const SENTENCES: [&str; 4] = [
        "日本語の文章。",
        "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\r\n",
        "表計算ソフトの予定表を能登で申請する。\nABC 123\n",
        "第一章 はじめに\n\tこの文書は、資源の一覧と読み出しについて述べる。\n",
    ];

    fn form(bytes: &[u8]) -> ContentForm {
        detect_form(bytes, SampleExtent::Whole)
    }

    #[test]
    fn japanese_is_recognised_in_every_charset_it_is_kept_in() {
        for text in SENTENCES.into_iter().chain(["設定ファイル", "こんにちは。"]) {
            assert_eq!(form(text.as_bytes()), ContentForm::Utf8);
            for charset in [SHIFT_JIS, EUC_JP, ISO_2022_JP] {
                let (bytes, _, lossy) = charset.encode(text);
                assert!(!lossy);
                assert_eq!(
                    form(&bytes),
                    ContentForm::Charset(charset),
                    "{text} in {}",
                    charset.name()
                );
            }
        }
    }

    #[test]
    fn half_width_kana_are_recognised() {
        let text = "ﾊﾝｶｸｶﾅﾉﾌﾞﾝｼｮｳﾃﾞｽ｡";
        for charset in [SHIFT_JIS, EUC_JP] {
            assert_eq!(
                form(&charset.encode(text).0),
                ContentForm::Charset(charset),
                "{}",
                charset.name()
            );
        }
        // ESC ( I switches to 7-bit half-width kana.
        assert_eq!(form(b"\x1b(I6@6E\x1b(B"), ContentForm::Charset(ISO_2022_JP));
    }

    #[test]
    fn utf_16_is_recognised_by_its_mark_only() {
        let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        for text in SENTENCES {
            let text = format!("\u{feff}{text}😀");
            assert_eq!(form(&wide(&text, u16::to_le_bytes)), ContentForm::Charset(UTF_16LE));
            assert_eq!(form(&wide(&text, u16::to_be_bytes)), ContentForm::Charset(UTF_16BE));
        }
        assert_eq!(form(&wide("abc", u16::to_le_bytes)), ContentForm::Blob);
        assert_eq!(form(b"\xff\xfe\x00\x00a\x00\x00\x00"), ContentForm::Blob);
    }

    #[test]
    fn western_text_is_recognised() {
        let text = "Der Bär läuft über die Straße, «très élégant», 50 € kostet es.";
        assert_eq!(form(&WINDOWS_1252.encode(text).0), ContentForm::Charset(WINDOWS_1252));
        assert_eq!(form(text.as_bytes()), ContentForm::Utf8);
    }

    #[test]
    fn utf_8_is_text_with_or_without_a_mark_whatever_it_begins_with() {
        for text in ["", "a", "\u{feff}a", "BM25 ranks", "MZ", "\x1b[31mred\x1b[0m", "😀"] {
            assert_eq!(form(text.as_bytes()), ContentForm::Utf8, "{text:?}");
        }
    }

    #[test]
    fn what_is_not_text_is_a_blob() {
        let bad: [&[u8]; 8] = [
            b"a\0b",
            b"%PDF-1.4\nall letters",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            b"\xff\xd8\xff\xe0\x01\x02JFIF",
            b"\x1f\x8b\x08\x01\x02\x03\x04",
            b"\x80\x81\x01\x02\x03",
            b"\xe9\x01\x02",
            b"BM\x01\x02\x03\x04\x05\x06\x07\x02\x03\x04\x05\x06\x07",
        ];
        for bytes in bad {
            assert_eq!(form(bytes), ContentForm::Blob, "{bytes:?}");
        }
    }

    #[test]
    fn a_head_may_end_inside_a_character() {
        let utf8 = "日本語".as_bytes();
        assert_eq!(detect_form(&utf8[..utf8.len() - 1], SampleExtent::Head), ContentForm::Utf8);
        assert_ne!(detect_form(&utf8[..utf8.len() - 1], SampleExtent::Whole), ContentForm::Utf8);
        let long: String = SENTENCES.concat().repeat(20);
        let bytes = SHIFT_JIS.encode(&long).0;
        for cut in 1_000..1_010 {
            assert_eq!(
                detect_form(&bytes[..cut], SampleExtent::Head),
                ContentForm::Charset(SHIFT_JIS)
            );
        }
    }

    #[test]
    fn charsets_beyond_ours_are_blobs() {
        let text = "Все счастливые семьи похожи друг на друга";
        let cyrillic = Encoding::for_label(b"windows-1251").unwrap();
        assert_eq!(form(&cyrillic.encode(text).0), ContentForm::Blob);
    }

    #[test]
    fn every_byte_gives_its_sign_wherever_it_stands() {
        for byte in 0..=255_u8 {
            let mut bytes = [b'a'; 67];
            bytes[usize::from(byte) % 67] = byte;
            let signs = ByteClasses::of(&bytes);
            let is_odd = byte < 0x20 && !matches!(byte, 0x8..=0xd | 0x1a | 0x1b);
            assert_eq!(signs.has(ByteClasses::NUL), byte == 0);
            assert_eq!(signs.has(ByteClasses::ESCAPE), byte == 0x1b);
            assert_eq!(signs.has(ByteClasses::CONTROL), is_odd, "{byte}");
            assert_eq!(signs.has(ByteClasses::NON_ASCII), byte >= 0x80);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in any::<Vec<u8>>()) {
            form(&bytes);
            detect_form(&bytes, SampleExtent::Head);
            assert!(complete_utf8_len(&bytes) <= bytes.len());
        }

        #[test]
        fn whole_characters_leave_less_than_one(text in "\\PC{0,12}", cut in 0..48_usize) {
            let bytes = &text.as_bytes()[..cut.min(text.len())];
            let whole = complete_utf8_len(bytes);
            assert!(std::str::from_utf8(&bytes[..whole]).is_ok() && bytes.len() - whole < 4);
        }
    }
}
