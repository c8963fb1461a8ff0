//! Light stemming of English words: plurals, -ing, -ed, -ion, -ly and the silent e.
//!
//! Better too little than too much: a suffix goes only where the rest is likely the same word.

/// Words that the rules would shorten to another word.
const KEPT: &[&str] = &[
    "across",
    "alias",
    "always",
    "analysis",
    "anything",
    "apis",
    "as",
    "atlas",
    "bias",
    "bring",
    "canvas",
    "chaos",
    "class",
    "does",
    "during",
    "embed",
    "evening",
    "everything",
    "gas",
    "hundred",
    "its",
    "king",
    "kubernetes",
    "lens",
    "less",
    "macos",
    "mongodb",
    "morning",
    "naked",
    "news",
    "nothing",
    "pandas",
    "perhaps",
    "plus",
    "postgres",
    "red",
    "redis",
    "series",
    "sibling",
    "something",
    "species",
    "spring",
    "string",
    "swing",
];

/// The stem of a folded word. Words with other letters than a to z stay as they are.
pub(crate) fn stem(word: String) -> String {
    let is_english = word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_english || KEPT.binary_search(&word.as_str()).is_ok() {
        return word;
    }
    let mut word = word;
    strip_plural(&mut word);
    strip_past_and_gerund(&mut word);
    strip_ion_and_ly(&mut word);
    strip_final(&mut word);
    word
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

fn has_vowel(text: &str) -> bool {
    text.bytes().any(is_vowel)
}

fn shorten(word: &mut String, by: usize) {
    word.truncate(word.len() - by);
}

fn strip_plural(word: &mut String) {
    if word.ends_with("sses") {
        shorten(word, 2);
    } else if word.ends_with("ies") && word.len() > 4 {
        shorten(word, 3);
        word.push('y');
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        let before = &word[..word.len() - 2];
        if has_vowel(before) || word.ends_with("ees") {
            shorten(word, 1);
        }
    }
}

fn strip_past_and_gerund(word: &mut String) {
    if word.ends_with("ied") && word.len() > 4 {
        shorten(word, 3);
        word.push('y');
        return;
    }
    let suffix = match word.as_str() {
        word if word.ends_with("eed") => return,
        word if word.ends_with("ing") => 3,
        word if word.ends_with("ed") => 2,
        _ => return,
    };
    let rest = &word[..word.len() - suffix];
    if rest.len() < 2 || !has_vowel(rest) || KEPT.binary_search(&word.as_str()).is_ok() {
        return;
    }
    shorten(word, suffix);
    let bytes = word.as_bytes();
    let last = bytes[bytes.len() - 1];
    let is_double = bytes.len() > 2 && bytes[bytes.len() - 2] == last && !is_vowel(last);
    if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
        word.push('e');
    } else if is_double && !matches!(last, b'l' | b's' | b'z') {
        shorten(word, 1);
    } else if is_short(bytes) {
        word.push('e');
    }
}

fn strip_ion_and_ly(word: &mut String) {
    if (word.ends_with("tion") || word.ends_with("sion")) && word.len() >= 8 {
        shorten(word, 3);
    } else if word.ends_with("ly") && word.len() >= 8 {
        shorten(word, 2);
    }
}

fn strip_final(word: &mut String) {
    let bytes = word.as_bytes();
    let Some((last, rest)) = bytes.split_last() else { return };
    let is_silent = *last == b'e'
        && (region(bytes, 2) < bytes.len()
            || (region(bytes, 1) < bytes.len() && !ends_in_short_syllable(rest)));
    let is_doubled = *last == b'l' && rest.last() == Some(&b'l') && region(bytes, 2) < bytes.len();
    if is_silent || is_doubled {
        shorten(word, 1);
    }
}

/// The start of the rest after `count` pairs of a vowel and a consonant; the length if none.
fn region(word: &[u8], count: usize) -> usize {
    let mut start = 0;
    for _ in 0..count {
        let pair =
            word[start..].windows(2).position(|pair| is_vowel(pair[0]) && !is_vowel(pair[1]));
        let Some(at) = pair else { return word.len() };
        start += at + 2;
    }
    start
}

/// True for words of one short syllable: `nam`, `us`.
fn is_short(word: &[u8]) -> bool {
    region(word, 1) == word.len() && ends_in_short_syllable(word)
}

fn ends_in_short_syllable(word: &[u8]) -> bool {
    match word {
        [vowel, consonant] => is_vowel(*vowel) && !is_vowel(*consonant),
        [.., before, vowel, consonant] => {
            !is_vowel(*before)
                && is_vowel(*vowel)
                && !is_vowel(*consonant)
                && !matches!(consonant, b'w' | b'x')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, stem};

    fn assert_same(words: &[&str]) {
        for word in words {
            assert_eq!(stem((*word).to_owned()), stem(words[0].to_owned()), "{words:?}");
        }
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for words in [
            &["change", "changes", "changed", "changing"][..],
            &["delete", "deletes", "deleted", "deleting", "deletion", "deletions"],
            &["use", "uses", "used", "using"],
            &["name", "names", "named", "naming"],
            &["stop", "stops", "stopped", "stopping"],
            &["control", "controls", "controlled", "controlling"],
            &["install", "installs", "installed", "installing"],
            &["cancel", "canceled", "cancelled", "cancelling"],
            &["query", "queries", "queried"],
            &["process", "processes", "processed", "processing"],
            &["create", "creates", "created", "creating", "creation"],
            &["file", "files"],
            &["fill", "filling", "filled"],
            &["box", "boxes"],
            &["class", "classes"],
            &["compress", "compressed", "compression"],
            &["allocate", "allocation", "allocated"],
            &["recursive", "recursively"],
            &["permission", "permissions"],
            &["directory", "directories"],
            &["alias", "aliases"],
            &["map", "maps", "mapped", "mapping"],
            &["cache", "caches", "cached", "caching"],
            &["string", "strings"],
            &["tree", "trees"],
            &["send", "sending"],
            &["encrypt", "encryption", "encrypted"],
        ] {
            assert_same(words);
        }
    }

    #[test]
    fn other_words_keep_apart() {
        for (one, other) in [
            ("news", "new"),
            ("mode", "mod"),
            ("code", "cod"),
            ("note", "not"),
            ("action", "act"),
            ("section", "sect"),
            ("option", "opt"),
            ("string", "str"),
            ("user", "use"),
            ("university", "universal"),
            ("general", "generate"),
            ("file", "fill"),
            ("caring", "car"),
            ("process", "proceed"),
            ("bus", "bu"),
            ("status", "statu"),
            ("need", "ne"),
            ("bed", "b"),
            ("thing", "th"),
            ("dns", "dn"),
            ("this", "thi"),
        ] {
            assert_ne!(stem(one.to_owned()), stem(other.to_owned()), "{one} {other}");
        }
    }

    #[test]
    fn kept_words_are_sorted() {
        assert!(KEPT.is_sorted());
    }

    #[test]
    fn words_with_other_letters_stay() {
        for word in ["größe", "файлы", "utf8s", "1.2.3", "c++"] {
            assert_eq!(stem(word.to_owned()), word);
        }
    }
}
