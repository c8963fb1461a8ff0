//! Symbols: what the letters of symbol fonts stand for.

/// Codes of Wingdings that documents use as bullets, boxes and arrows.
const WINGDINGS: &[(u8, char)] = &[
    (0x28, '☎'),
    (0x2A, '✉'),
    (0x46, '☞'),
    (0x4A, '☺'),
    (0x4C, '☹'),
    (0x6C, '●'),
    (0x6E, '■'),
    (0x6F, '□'),
    (0x71, '❑'),
    (0x76, '❖'),
    (0x9F, '•'),
    (0xA7, '▪'),
    (0xA8, '◻'),
    (0xB7, '•'),
    (0xD8, '➢'),
    (0xDF, '←'),
    (0xE0, '→'),
    (0xE1, '↑'),
    (0xE2, '↓'),
    (0xE8, '➔'),
    (0xF0, '⇨'),
    (0xFB, '✗'),
    (0xFC, '✓'),
    (0xFD, '☒'),
    (0xFE, '☑'),
];

/// Letters of the font Symbol from `A` and from `a`.
const GREEK: [&str; 2] = ["ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"];

/// Other codes of the font Symbol.
const SIGNS: &[(u8, char)] = &[
    (0xA3, '≤'),
    (0xA5, '∞'),
    (0xAB, '↔'),
    (0xAC, '←'),
    (0xAD, '↑'),
    (0xAE, '→'),
    (0xAF, '↓'),
    (0xB0, '°'),
    (0xB1, '±'),
    (0xB3, '≥'),
    (0xB4, '×'),
    (0xB6, '∂'),
    (0xB7, '•'),
    (0xB8, '÷'),
    (0xB9, '≠'),
    (0xBA, '≡'),
    (0xBB, '≈'),
    (0xBC, '…'),
    (0xC7, '∩'),
    (0xC8, '∪'),
    (0xCE, '∈'),
    (0xCF, '∉'),
    (0xD0, '∠'),
    (0xD1, '∇'),
    (0xD2, '®'),
    (0xD3, '©'),
    (0xD5, '∏'),
    (0xD6, '√'),
    (0xDB, '⇔'),
    (0xDE, '⇒'),
    (0xE5, '∑'),
    (0xF2, '∫'),
];

/// The character that a code of a font stands for; a box if that is not known.
pub(crate) fn symbol(code: u32, font: &str) -> char {
    let is_private = (0xF000..=0xF0FF).contains(&code);
    if !is_private && code > 0xFF {
        return char::from_u32(code).unwrap_or('□');
    }
    let byte = (code & 0xFF) as u8;
    let font = font.to_ascii_lowercase();
    let find = |table: &[(u8, char)]| table.iter().find(|row| row.0 == byte).map(|row| row.1);
    if font.starts_with("wingdings") {
        return find(WINGDINGS).unwrap_or('□');
    }
    if font.starts_with("symbol") {
        let greek = match byte {
            b'A'..=b'Z' => GREEK[0].chars().nth(usize::from(byte - b'A')),
            b'a'..=b'z' => GREEK[1].chars().nth(usize::from(byte - b'a')),
            _ => None,
        };
        return greek.or_else(|| find(SIGNS)).unwrap_or(char::from(byte));
    }
    match byte {
        // The bullets of most lists, in whichever font.
        0xB7 => '•',
        0xA7 => '▪',
        byte if byte.is_ascii_graphic() => char::from(byte),
        _ => '□',
    }
}

/// The text with what it has from the private area of a symbol font replaced by what that shows.
pub(crate) fn replace_symbols(text: String, font: Option<&str>) -> String {
    let is_symbol = |letter: char| matches!(letter, '\u{F020}'..='\u{F0FF}');
    if !text.contains(is_symbol) {
        return text;
    }
    let font = font.unwrap_or("Wingdings");
    let replace = |letter| if is_symbol(letter) { symbol(letter as u32, font) } else { letter };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::symbol;

    #[test]
    fn symbols_become_the_characters_they_show() {
        assert_eq!(symbol(0xF0FC, "Wingdings"), '✓');
        assert_eq!(symbol(0xF061, "Symbol"), 'α');
        assert_eq!(symbol(0x2022, "Arial"), '•');
        assert_eq!(symbol(0xF0FF, "Webdings"), '□');
    }
}
