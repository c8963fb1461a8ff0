//! Language detection by script and frequent words.

use crate::fold::{Script, script_of};

/// How many characters are looked at.
const SAMPLE: usize = 20_000;
/// The fewest characters of a script that tell a language.
const MIN_CHARS: usize = 10;
/// The fewest frequent words that tell a language.
const MIN_WORDS: usize = 3;

/// Frequent words of languages in the Latin script that few other languages have.
const FREQUENT: [(&str, &[&str]); 8] = [
    ("en", &["the", "of", "and", "to", "is", "that", "with", "for", "are", "this", "be", "from"]),
    (
        "de",
        &["der", "die", "und", "das", "ist", "nicht", "ein", "eine", "mit", "für", "auf", "wird"],
    ),
    ("fr", &["le", "les", "des", "est", "et", "une", "dans", "pour", "que", "pas", "sur", "avec"]),
    ("es", &["el", "los", "las", "y", "es", "una", "por", "para", "con", "que", "del", "se"]),
    ("it", &["il", "di", "che", "è", "gli", "una", "per", "con", "della", "non", "sono", "nel"]),
    ("pt", &["o", "os", "e", "uma", "para", "com", "não", "que", "do", "da", "em", "são"]),
    (
        "nl",
        &["het", "een", "en", "van", "niet", "dat", "zijn", "voor", "met", "op", "worden", "wordt"],
    ),
    ("pl", &["i", "w", "nie", "się", "na", "jest", "do", "że", "przez", "oraz", "dla", "są"]),
];

/// The letters of a text, counted by script.
#[derive(Debug, Default)]
struct ScriptCounts {
    latin: usize,
    kana: usize,
    han: usize,
    hangul: usize,
    thai: usize,
    cyrillic: usize,
    /// Letters of Ukrainian that Russian has not.
    ukrainian: usize,
    /// Letters of Russian that Ukrainian has not.
    russian: usize,
    greek: usize,
    arabic: usize,
    hebrew: usize,
    devanagari: usize,
}

/// The language of a text as a BCP 47 tag, or `None` if the text does not tell.
pub fn detect_language(text: &str) -> Option<&'static str> {
    let end = text.char_indices().nth(SAMPLE).map_or(text.len(), |(at, _)| at);
    let text = &text[..end];
    let counts = count_scripts(text);
    // A character of these scripts says more than a letter, and code among it is in Latin letters.
    let has_share = |count: usize| count >= MIN_CHARS && count * 8 >= counts.latin;
    let east_asian = counts.kana + counts.han + counts.hangul;
    if has_share(east_asian) {
        return east_asian_language(&counts);
    }
    let others = [
        (counts.thai, "th"),
        (counts.greek, "el"),
        (counts.arabic, "ar"),
        (counts.hebrew, "he"),
        (counts.devanagari, "hi"),
        (counts.cyrillic, if counts.ukrainian > counts.russian { "uk" } else { "ru" }),
    ];
    let (most, language) = others.into_iter().max_by_key(|(count, _)| *count)?;
    if has_share(most) && most * 2 >= counts.latin {
        let is_cyrillic_unclear = language == "ru" && counts.russian == 0;
        return (!is_cyrillic_unclear).then_some(language);
    }
    latin_language(text)
}

fn east_asian_language(counts: &ScriptCounts) -> Option<&'static str> {
    if counts.hangul > counts.kana + counts.han {
        Some("ko")
    } else if counts.kana * 10 >= counts.han {
        Some("ja")
    } else if counts.kana == 0 || counts.kana * 50 < counts.han {
        Some("zh")
    } else {
        None
    }
}

fn count_scripts(text: &str) -> ScriptCounts {
    let mut counts = ScriptCounts::default();
    for c in text.chars() {
        let count = match script_of(c) {
            Some(Script::Han) => &mut counts.han,
            Some(Script::Hiragana | Script::Katakana) => &mut counts.kana,
            Some(Script::Hangul) => &mut counts.hangul,
            Some(Script::SouthEastAsian) => match c {
                '\u{E00}'..='\u{E7F}' => &mut counts.thai,
                _ => continue,
            },
            None => match c {
                'a'..='z' | 'A'..='Z' | 'À'..='ɏ' => &mut counts.latin,
                '\u{370}'..='\u{3FF}' => &mut counts.greek,
                'і' | 'ї' | 'є' | 'ґ' | 'І' | 'Ї' | 'Є' => {
                    counts.ukrainian += 1;
                    &mut counts.cyrillic
                }
                'ы' | 'э' | 'ё' | 'ъ' | 'Э' => {
                    counts.russian += 1;
                    &mut counts.cyrillic
                }
                '\u{400}'..='\u{4FF}' => &mut counts.cyrillic,
                '\u{590}'..='\u{5FF}' => &mut counts.hebrew,
                '\u{600}'..='\u{6FF}' => &mut counts.arabic,
                '\u{900}'..='\u{97F}' => &mut counts.devanagari,
                _ => continue,
            },
        };
        *count += 1;
    }
    counts
}

fn latin_language(text: &str) -> Option<&'static str> {
    let mut found = [0_usize; FREQUENT.len()];
    let mut words = 0;
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
        words += 1;
        if word.len() > 8 {
            continue;
        }
        let word = word.to_lowercase();
        for (count, (_, frequent)) in found.iter_mut().zip(FREQUENT) {
            *count += usize::from(frequent.contains(&word.as_str()));
        }
    }
    let best = (0..found.len()).max_by_key(|at| found[*at])?;
    let rivals = || (0..found.len()).filter(|at| *at != best).map(|at| found[at]);
    let has_lead = rivals().all(|rival| found[best] * 2 >= rival * 3);
    (found[best] >= MIN_WORDS && found[best] * 20 >= words && has_lead).then_some(FREQUENT[best].0)
}

#[cfg(test)]
mod tests {
    use super::detect_language;

    #[test]
    fn languages_are_told_by_script() {
        for (text, language) in [
            ("このマニュアルは GNU 版 chmod の使用法に関するものである。", "ja"),
            ("本手册页记录 chmod 命令的用法，它改变文件的权限。", "zh"),
            ("이 문서는 파일의 권한을 변경하는 방법을 설명합니다.", "ko"),
            ("เอกสารนี้อธิบายวิธีเปลี่ยนสิทธิ์ของไฟล์", "th"),
            ("Эта страница описывает, как изменить права доступа к файлу, и это всё.", "ru"),
            ("Ця сторінка описує, як змінити права доступу до файлу.", "uk"),
            ("Αυτή η σελίδα περιγράφει πώς αλλάζουν τα δικαιώματα.", "el"),
        ] {
            assert_eq!(detect_language(text), Some(language), "{text}");
        }
    }

    #[test]
    fn languages_in_latin_letters_are_told_by_frequent_words() {
        for (text, language) in [
            (
                "This page describes the use of the command and is for users that change files.",
                "en",
            ),
            (
                "Diese Seite beschreibt die Datei und das Verzeichnis; der Pfad ist nicht nötig.",
                "de",
            ),
            (
                "Cette page décrit les droits des fichiers dans une arborescence, et pour le reste.",
                "fr",
            ),
            (
                "Esta página describe los permisos y las opciones para el archivo, que se usan con una orden.",
                "es",
            ),
        ] {
            assert_eq!(detect_language(text), Some(language), "{text}");
        }
    }

    #[test]
    fn a_text_that_does_not_tell_has_no_language() {
        for text in [
            "",
            "chmod",
            "fn main() { let x = 1; }",
            "1234 5678",
            "漢字",
            "🚀🚀🚀",
            "foo bar baz qux quux",
        ] {
            assert_eq!(detect_language(text), None, "{text}");
        }
    }
}
