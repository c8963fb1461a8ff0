//! Names that are not marked as UTF-8: Japanese ones by detection, others by the code page.

use std::borrow::Cow;

use detection::text::{SampleExtent, guess_charset};
use encoding_rs::{EUC_JP, Encoding, SHIFT_JIS, WINDOWS_1252};

/// How many bytes of names tell the charset.
const MAX_SAMPLE_BYTES: usize = 64 << 10;

/// The upper half of code page 437, which old zip files use.
const CODE_PAGE_437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼\
                             ╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// The charset of names that are not Japanese.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameFallback {
    /// Code page 437, of zip.
    CodePage437,
    /// Windows-1252, of tar.
    Windows1252,
}

/// Finds the one charset of all names of an archive that are not UTF-8.
pub(crate) struct LegacyNames {
    sample: Vec<u8>,
    fallback: NameFallback,
}

impl LegacyNames {
    pub(crate) fn new(fallback: NameFallback) -> Self {
        Self { sample: Vec::new(), fallback }
    }

    /// Looks at a name.
    pub(crate) fn see(&mut self, name: &[u8]) {
        if std::str::from_utf8(name).is_err() && self.sample.len() < MAX_SAMPLE_BYTES {
            self.sample.extend_from_slice(&name[..name.len().min(MAX_SAMPLE_BYTES)]);
            self.sample.push(b'\n');
        }
    }

    /// How the names that were seen are decoded.
    pub(crate) fn charset(self) -> NameCharset {
        let guess = (!self.sample.is_empty()).then(|| {
            let guess = guess_charset(&self.sample, SampleExtent::Whole);
            guess.filter(|guess| {
                let decodes = || !guess.decode_without_bom_handling(&self.sample).1;
                [SHIFT_JIS, EUC_JP].contains(guess) && decodes()
            })
        });
        NameCharset { japanese: guess.flatten(), fallback: self.fallback }
    }
}

/// How names that are not UTF-8 are decoded.
pub(crate) struct NameCharset {
    japanese: Option<&'static Encoding>,
    fallback: NameFallback,
}

impl NameCharset {
    pub(crate) fn decode<'a>(&self, name: &'a [u8]) -> Cow<'a, str> {
        if let Ok(name) = std::str::from_utf8(name) {
            return Cow::Borrowed(name);
        }
        match (self.japanese, self.fallback) {
            (Some(charset), _) => charset.decode_without_bom_handling(name).0,
            (None, NameFallback::Windows1252) => WINDOWS_1252.decode_without_bom_handling(name).0,
            (None, NameFallback::CodePage437) => {
                let letter = |byte: &u8| match byte.checked_sub(128) {
                    None => char::from(*byte),
                    Some(at) => CODE_PAGE_437.chars().nth(at.into()).unwrap_or('\u{fffd}'),
                };
                Cow::Owned(name.iter().map(letter).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{EUC_JP, SHIFT_JIS};

    use super::{LegacyNames, NameFallback};

    fn decoded(names: &[&[u8]], fallback: NameFallback) -> Vec<String> {
        let mut legacy = LegacyNames::new(fallback);
        names.iter().for_each(|name| legacy.see(name));
        let charset = legacy.charset();
        names.iter().map(|name| charset.decode(name).into_owned()).collect()
    }

    #[test]
    fn japanese_names_of_old_windows_are_read_as_what_they_are() {
        for name in
            ["日本語.txt", "資料/議事録.docx", "ソース表.xlsx", "テスト.txt", "見積書2024.pdf"]
        {
            let bytes = SHIFT_JIS.encode(name).0;
            assert_eq!(decoded(&[&bytes], NameFallback::CodePage437), [name]);
        }
        let names = ["お知らせ/はじめに.txt", "お知らせ/まとめ.txt"];
        let bytes = names.map(|name| EUC_JP.encode(name).0.into_owned());
        assert_eq!(decoded(&[&bytes[0], &bytes[1]], NameFallback::Windows1252), names);
    }

    #[test]
    fn other_names_are_of_the_code_page() {
        let names: [&[u8]; 3] = [b"\x9abung.txt", b"caf\x82.txt", "é.txt".as_bytes()];
        assert_eq!(decoded(&names, NameFallback::CodePage437), ["Übung.txt", "café.txt", "é.txt"]);
        assert_eq!(decoded(&[b"caf\xe9.txt"], NameFallback::Windows1252), ["café.txt"]);
        assert_eq!(super::CODE_PAGE_437.chars().count(), 128);
    }
}
