//! Text detection: UTF-8, another charset, or binary.

mod japanese;
mod utf_16;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    DecoderResult, EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1252,
};

use self::japanese::{detect_few_kanji, detect_half_width_kana};
use self::utf_16::detect_utf_16;
use crate::mime;

/// Bytes used to guess the charset, of the lines that are not ASCII.
pub const CHARSET_SAMPLE_BYTES: usize = 256 * 1024;

/// What the content of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentForm {
    /// UTF-8 text, returned as it is.
    Utf8,
    /// Text in another charset, decoded before it is returned.
    Charset(&'static Encoding),
    /// Binary.
    Blob,
}

/// Whether bytes are a whole file or only its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleExtent {
    Whole,
    /// The head, which may end inside a character.
    Head,
}

/// Detects what `bytes` are.
pub fn detect_form(bytes: &[u8], extent: SampleExtent) -> ContentForm {
    detect_without_decoding(bytes, extent).unwrap_or_else(|| detect_by_decoding(bytes, extent))
}

/// Detects what `bytes` are, as fast as they can be read; `None` if it takes decoding them.
pub fn detect_without_decoding(bytes: &[u8], extent: SampleExtent) -> Option<ContentForm> {
    let classes = ByteClasses::of(bytes);
    match marked_charset(bytes, classes) {
        Some(_) => None,
        None => detect_unmarked(bytes, extent, classes),
    }
}

/// Detects what `bytes` are where that takes decoding them.
pub fn detect_by_decoding(bytes: &[u8], extent: SampleExtent) -> ContentForm {
    let classes = ByteClasses::of(bytes);
    let form =
        detect_by_bom(bytes, extent, classes).or_else(|| detect_unmarked(bytes, extent, classes));
    form.unwrap_or_else(|| {
        guess_charset(bytes, extent)
            .filter(|charset| bytes_decode(charset, bytes, extent))
            .map_or(ContentForm::Blob, ContentForm::Charset)
    })
}

/// Detects UTF-8 and binary formats; `None` if `bytes` may be text in another charset.
fn detect_unmarked(
    bytes: &[u8],
    extent: SampleExtent,
    classes: ByteClasses,
) -> Option<ContentForm> {
    if classes.has(ByteClasses::NUL) {
        let charset = detect_utf_16(bytes, extent).filter(|_| mime::by_magic(bytes).is_none());
        return Some(charset.map_or(ContentForm::Blob, ContentForm::Charset));
    }
    if !classes.has(ByteClasses::NON_ASCII) || is_utf8(bytes, extent) {
        let is_binary = is_binary_format(bytes, classes);
        return Some(if is_binary { ContentForm::Blob } else { ContentForm::Utf8 });
    }
    mime::by_magic(bytes).is_some().then_some(ContentForm::Blob)
}

/// The classes of bytes that occur in a buffer, found in one pass.
#[derive(Clone, Copy)]
pub struct ByteClasses(u8);

impl ByteClasses {
    /// NUL, which no text contains.
    pub const NUL: u8 = 1;
    /// ESC, the first byte of escape sequences.
    pub const ESCAPE: u8 = 2;
    /// Control characters that do not occur in text.
    const CONTROL: u8 = 4;
    /// Bytes that are not ASCII.
    const NON_ASCII: u8 = 0x80;

    pub fn of(bytes: &[u8]) -> Self {
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

    pub fn has(self, sign: u8) -> bool {
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
pub fn guess_charset(bytes: &[u8], extent: SampleExtent) -> Option<&'static Encoding> {
    let telling = telling_lines(bytes);
    if let Some(charset) = detect_half_width_kana(&telling) {
        return Some(charset);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&telling, extent == SampleExtent::Whole && telling.len() < CHARSET_SAMPLE_BYTES);
    let guess = detector.guess(None, Utf8Detection::Deny);
    if [SHIFT_JIS, EUC_JP].contains(&guess) {
        return Some(guess);
    }
    let few = detect_few_kanji(&telling, !guess.is_single_byte());
    few.or((guess == WINDOWS_1252).then_some(guess))
}

/// The lines of `bytes` that are not ASCII, as many as the guess uses. A line feed is no part of a
/// longer character in any supported charset.
fn telling_lines(bytes: &[u8]) -> Cow<'_, [u8]> {
    let start = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len());
    // Include the letters just before: an accent is likelier inside a word.
    let rest = &bytes[start.saturating_sub(16)..];
    if rest.len() <= CHARSET_SAMPLE_BYTES {
        return Cow::Borrowed(rest);
    }
    let mut telling = Vec::new();
    for line in rest.split_inclusive(|byte| *byte == b'\n').filter(|line| !line.is_ascii()) {
        let room = CHARSET_SAMPLE_BYTES - telling.len();
        telling.extend_from_slice(&line[..line.len().min(room)]);
        if telling.len() == CHARSET_SAMPLE_BYTES {
            break;
        }
    }
    Cow::Owned(telling)
}

/// True if `bytes` contain an escape sequence by which ISO-2022-JP switches to Japanese.
///
/// ISO-2022-JP is pure ASCII and would otherwise pass for UTF-8.
pub fn has_iso_2022_jp_escapes(bytes: &[u8]) -> bool {
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
pub fn is_utf8(bytes: &[u8], extent: SampleExtent) -> bool {
    match extent {
        SampleExtent::Whole => simdutf8::basic::from_utf8(bytes).is_ok(),
        SampleExtent::Head => match simdutf8::compat::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none(),
        },
    }
}

/// True if decoded `text` contains no control characters that do not occur in text.
pub fn has_only_text_characters(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() && !matches!(c, '\u{8}'..='\r' | '\u{1a}' | '\u{1b}'))
}

/// Length of `bytes` without an incomplete UTF-8 character at the end.
pub fn complete_utf8_len(bytes: &[u8]) -> usize {
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

/// Returns the charset that a byte order mark or an ISO-2022-JP escape sequence announces.
fn marked_charset(bytes: &[u8], classes: ByteClasses) -> Option<&'static Encoding> {
    let may_switch = classes.has(ByteClasses::ESCAPE) && !classes.has(ByteClasses::NON_ASCII);
    match bytes {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        _ if may_switch && has_iso_2022_jp_escapes(bytes) => Some(ISO_2022_JP),
        _ => None,
    }
}

/// Detects by byte order mark or ISO-2022-JP escape sequence.
fn detect_by_bom(bytes: &[u8], extent: SampleExtent, classes: ByteClasses) -> Option<ContentForm> {
    let charset = marked_charset(bytes, classes)?;
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
mod tests;
