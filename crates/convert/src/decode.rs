//! Charsets: text of documents whose charset is not known.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// The text of `bytes`: by its byte order mark, then by the charset that the document or its
/// carrier `declared`, then as UTF-8, then by detection. Bytes that are no characters become U+FFFD.
pub(crate) fn decode<'a>(bytes: &'a [u8], declared: Option<&str>) -> Cow<'a, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0;
    }
    let declared = declared.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    let declared = declared.filter(|encoding| *encoding != UTF_8);
    // ISO-2022-JP is ASCII with escape sequences, so that it passes as UTF-8.
    let has_escapes = || memchr::memmem::find(bytes, b"\x1b$").is_some();
    if let Some(encoding) = declared.or_else(|| has_escapes().then(|| detect(bytes))) {
        let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
        if !had_errors {
            return text;
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    detect(bytes).decode_without_bom_handling(bytes).0
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn a_text_is_decoded_by_mark_by_label_and_by_detection() {
        let (shift_jis, _, _) = encoding_rs::SHIFT_JIS.encode("日本語の文書です。読めますか。");
        assert_eq!(decode(&shift_jis, Some("Shift_JIS")), "日本語の文書です。読めますか。");
        assert_eq!(decode(&shift_jis, None), "日本語の文書です。読めますか。");
        assert_eq!(decode(b"\xef\xbb\xbfa", Some("utf-16")), "a");
        assert_eq!(decode("é".as_bytes(), Some("nonsense")), "é");
        let (iso_2022_jp, _, _) = encoding_rs::ISO_2022_JP.encode("日本語の文書です。");
        assert_eq!(decode(&iso_2022_jp, None), "日本語の文書です。");
    }
}
