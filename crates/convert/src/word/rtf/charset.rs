//! Charsets of RTF: the encodings of code pages and fonts.

use encoding_rs::{
    BIG5, EUC_KR, Encoding, GBK, MACINTOSH, SHIFT_JIS, UTF_8, WINDOWS_874, WINDOWS_1250,
    WINDOWS_1251, WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256,
    WINDOWS_1257, WINDOWS_1258,
};

/// The charset of fonts whose letters are symbols.
const SYMBOL: i32 = 2;

/// A font of the font table.
#[derive(Default, Clone)]
pub(super) struct RtfFont {
    pub(super) name: String,
    pub(super) charset: Option<i32>,
    /// The code page, if the font has one of its own.
    pub(super) page: Option<i32>,
}

impl RtfFont {
    /// Whether its letters are symbols.
    pub(super) fn is_symbol(&self) -> bool {
        self.charset == Some(SYMBOL)
    }

    /// The encoding of its text, if it has its own.
    pub(super) fn encoding(&self) -> Option<&'static Encoding> {
        self.page.and_then(of_page).or_else(|| self.charset.and_then(of_charset))
    }
}

/// The encoding of a code page.
pub(super) fn of_page(page: i32) -> Option<&'static Encoding> {
    Some(match page {
        874 => WINDOWS_874,
        932 => SHIFT_JIS,
        936 => GBK,
        949 => EUC_KR,
        950 => BIG5,
        1250 => WINDOWS_1250,
        1251 => WINDOWS_1251,
        1252 | 437 | 850 | 819 => WINDOWS_1252,
        1253 => WINDOWS_1253,
        1254 => WINDOWS_1254,
        1255 => WINDOWS_1255,
        1256 => WINDOWS_1256,
        1257 => WINDOWS_1257,
        1258 => WINDOWS_1258,
        10000 => MACINTOSH,
        65001 => UTF_8,
        _ => return None,
    })
}

/// The encoding of a charset of Windows; that of Western fonts is the document's.
fn of_charset(charset: i32) -> Option<&'static Encoding> {
    Some(match charset {
        77 => MACINTOSH,
        128 => SHIFT_JIS,
        129 => EUC_KR,
        134 => GBK,
        136 => BIG5,
        161 => WINDOWS_1253,
        162 => WINDOWS_1254,
        163 => WINDOWS_1258,
        177 => WINDOWS_1255,
        178 => WINDOWS_1256,
        186 => WINDOWS_1257,
        204 => WINDOWS_1251,
        222 => WINDOWS_874,
        238 => WINDOWS_1250,
        _ => return None,
    })
}

/// The text of bytes: in the encoding of their font, else in that of the document. Western text in
/// a document of another code page is often marked no further.
pub(super) fn decode_bytes(
    bytes: &[u8],
    font: Option<&'static Encoding>,
    document: &'static Encoding,
) -> String {
    let encoding = font.unwrap_or(document);
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    if had_errors {
        let (other, had_errors) = document.decode_without_bom_handling(bytes);
        if !had_errors {
            return other.into_owned();
        }
        if font.is_none() {
            return WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned();
        }
    }
    text.into_owned()
}
