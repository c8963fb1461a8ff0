//! Folding of letters in scripts with spaces: compatibility forms, case and accents.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Marks that count after one letter. More are left out, so that stacked marks cost nothing.
const MAX_MARKS: usize = 8;

/// Appends the NFKC form of the character at `at` with its combining marks, and returns its end.
pub(crate) fn normalize_cluster(text: &str, at: usize, normal: &mut Vec<char>) -> usize {
    let mut chars = text[at..].char_indices();
    let Some((_, first)) = chars.next() else { return at };
    let mut end = at + first.len_utf8();
    let (mut counted, mut marks) = (end, 0);
    for (_, c) in chars {
        if !is_mark(c) {
            break;
        }
        end += c.len_utf8();
        marks += 1;
        if marks <= MAX_MARKS {
            counted = end;
        }
    }
    if marks == 0 && is_stable(first) {
        normal.push(first);
    } else {
        normal.extend(text[at..counted].nfkc());
    }
    end
}

fn is_mark(c: char) -> bool {
    c >= '\u{300}' && (is_combining_mark(c) || ('\u{FE00}'..='\u{FE0F}').contains(&c))
}

/// Letters that NFKC leaves as they are.
fn is_stable(c: char) -> bool {
    matches!(c, '\0'..='\u{7F}' | 'À'..='ľ' | '\u{391}'..='\u{3CE}' | '\u{400}'..='\u{481}')
        && !matches!(c, 'ĳ' | 'Ĳ')
}

/// Characters without a width or meaning of their own inside of a word.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// Appends the lower-case form of a character without its accents.
pub(crate) fn fold_letter(c: char, folded: &mut String) {
    if c.is_ascii() {
        folded.push(c.to_ascii_lowercase());
        return;
    }
    c.to_lowercase().for_each(|lower| fold_accent(lower, folded));
}

fn fold_accent(c: char, folded: &mut String) {
    match c {
        'ß' => folded.push_str("ss"),
        'æ' => folded.push_str("ae"),
        'œ' => folded.push_str("oe"),
        'þ' => folded.push_str("th"),
        'ø' => folded.push('o'),
        'đ' | 'ð' => folded.push('d'),
        'ł' => folded.push('l'),
        'ħ' => folded.push('h'),
        'ı' => folded.push('i'),
        'ς' => folded.push('σ'),
        'ё' => folded.push('е'),
        // Their marks make letters of their own.
        'й' | 'ї' | 'ў' => folded.push(c),
        _ if is_dropped_mark(c) || is_ignorable(c) => {}
        'à'..='ɏ' | '\u{370}'..='\u{4FF}' | '\u{1E00}'..='\u{1FFF}' => {
            folded.extend(std::iter::once(c).nfd().filter(|c| !is_dropped_mark(*c)));
        }
        _ => folded.push(c),
    }
}

/// Accents of Latin, Greek and Cyrillic, points of Hebrew, vowel marks and stretching of Arabic.
fn is_dropped_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{591}'..='\u{5BD}' | '\u{5C1}' | '\u{5C2}'
        | '\u{640}' | '\u{64B}'..='\u{652}')
}
