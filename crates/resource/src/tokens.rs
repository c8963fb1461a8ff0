//! Token count estimate, without a tokenizer table.
//!
//! The table of a real tokenizer is larger than this whole program. This estimate derives the cost
//! of a character from its kind and from the character before it: a short word is about one token,
//! three digits are one, a kanji is most of one. The costs are fitted to `o200k_base` on prose and
//! programs; a test holds the error below 15 %.

/// Estimates how many tokens of `o200k_base` a text has.
pub fn estimate(text: &str) -> u64 {
    let mut meter = CostMeter::default();
    let spent: u64 = text.chars().map(|character| meter.cost(character)).sum();
    spent.div_ceil(TOKEN_COST)
}

/// The length in bytes of the longest prefix of a text that has about `most` tokens; it ends
/// between characters.
pub fn prefix_len(text: &str, most: u64) -> usize {
    let budget = most.saturating_mul(TOKEN_COST);
    let (mut meter, mut spent) = (CostMeter::default(), 0);
    let over = |(_, character): &(usize, char)| {
        spent += meter.cost(*character);
        spent > budget
    };
    text.char_indices().find(over).map_or(text.len(), |(at, _)| at)
}

/// The cost of one token.
const TOKEN_COST: u64 = 100;

/// Computes the cost of each character, in hundredths of a token.
#[derive(Default)]
struct CostMeter {
    last: CharKind,
    character: char,
    /// The number of consecutive characters of this kind.
    run: u64,
}

/// The kinds of characters that differ in cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum CharKind {
    /// The beginning of a line, or of the text.
    #[default]
    Line,
    Blank,
    Lower,
    Upper,
    Accented,
    Digit,
    Mark,
    Kanji,
    Hiragana,
    Katakana,
    Wide,
    Hangul,
    Cyrillic,
    Emoji,
    /// A character that is drawn as part of the one before it.
    Joined,
    Sign,
    Other,
}

impl CostMeter {
    fn cost(&mut self, character: char) -> u64 {
        let kind = CharKind::of(character);
        let goes_on = match kind {
            CharKind::Lower | CharKind::Accented => self.last.is_latin(),
            // A capital begins a word inside a name such as `lastModified`.
            CharKind::Upper => self.last == CharKind::Upper,
            _ => self.last == kind && self.run > 0,
        };
        self.run = if goes_on { self.run + 1 } else { 1 };
        let cost =
            if goes_on { self.continuation_cost(kind, character) } else { self.start_cost(kind) };
        (self.last, self.character) = (kind, character);
        cost
    }

    /// The cost of the first character of a run.
    fn start_cost(&self, kind: CharKind) -> u64 {
        match (kind, self.last) {
            (CharKind::Lower | CharKind::Upper | CharKind::Accented, before) => match before {
                CharKind::Line | CharKind::Blank => 86,
                CharKind::Mark => 89,
                CharKind::Lower => 66,
                _ => 100,
            },
            // The blank before a word is part of its token.
            (CharKind::Blank, _) => 0,
            (CharKind::Line, CharKind::Mark) => 19,
            (CharKind::Line, _) => 120,
            (CharKind::Mark, CharKind::Blank) => 98,
            (CharKind::Mark, CharKind::Lower | CharKind::Upper | CharKind::Accented) => 32,
            (CharKind::Mark, _) => 87,
            (CharKind::Digit, _) => 125,
            (CharKind::Kanji, _) => 115,
            (CharKind::Hiragana, _) => 72,
            (CharKind::Katakana, _) => 50,
            (CharKind::Wide, _) => 40,
            (CharKind::Hangul, _) => 73,
            (CharKind::Cyrillic, _) => 89,
            (CharKind::Emoji, _) => 160,
            (CharKind::Joined, _) => 110,
            (CharKind::Sign, _) => 120,
            (CharKind::Other, _) => 38,
        }
    }

    /// The cost of a further character of a run.
    fn continuation_cost(&self, kind: CharKind, character: char) -> u64 {
        match kind {
            CharKind::Lower if self.run <= 4 => 14,
            // Most words of up to eleven letters are in the table as a whole.
            CharKind::Lower if self.run <= 11 => 0,
            CharKind::Lower => 65,
            CharKind::Upper => 17,
            CharKind::Accented => 70,
            CharKind::Digit if self.run % 3 == 1 => 125,
            CharKind::Digit | CharKind::Line => 0,
            // The rest of an indentation is one token, however deep.
            CharKind::Blank if self.run == 2 => 72,
            CharKind::Blank => 1,
            CharKind::Mark if character == self.character => 5,
            CharKind::Mark => 34,
            CharKind::Sign if character == self.character => 28,
            CharKind::Kanji | CharKind::Hiragana => 66,
            CharKind::Katakana => 59,
            CharKind::Wide => 40,
            CharKind::Hangul => 63,
            CharKind::Cyrillic => 16,
            CharKind::Emoji => 160,
            CharKind::Joined => 110,
            CharKind::Sign => 120,
            CharKind::Other => 38,
        }
    }
}

impl CharKind {
    fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            ' ' | '\t' => Self::Blank,
            '\n' | '\r' => Self::Line,
            '\0'..='\u{7f}' => Self::Mark,
            '\u{c0}'..='\u{24f}' => Self::Accented,
            '\u{300}'..='\u{36f}'
            | '\u{200d}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{1f3fb}'..='\u{1f3ff}' => Self::Joined,
            '\u{400}'..='\u{52f}' => Self::Cyrillic,
            '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}' => Self::Hangul,
            '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' => Self::Emoji,
            '\u{80}'..='\u{bf}' | '\u{2000}'..='\u{2bff}' => Self::Sign,
            '々' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Self::Kanji,
            '\u{20000}'..='\u{3ffff}' => Self::Kanji,
            '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff65}' => Self::Wide,
            '\u{3041}'..='\u{309f}' => Self::Hiragana,
            '\u{30a0}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}' => Self::Katakana,
            _ => Self::Other,
        }
    }

    fn is_latin(self) -> bool {
        matches!(self, Self::Lower | Self::Upper | Self::Accented)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{estimate, prefix_len};

    #[test]
    fn nothing_is_nothing_and_a_short_word_is_about_one() {
        assert_eq!(estimate(""), 0);
        for (text, least, most) in
            [("a", 1, 1), ("hello", 1, 2), (" world", 1, 2), ("123", 1, 2), ("日", 1, 2)]
        {
            assert!((least..=most).contains(&estimate(text)), "{text}: {}", estimate(text));
        }
        assert!(estimate(&" ".repeat(40)) <= 2, "an indentation is hardly anything");
        assert!(estimate(&"=".repeat(40)) <= 4, "nor is a rule");
        assert!(estimate(&"x".repeat(400)) > 100, "but a word that nobody knows is");
    }

    proptest! {
        #[test]
        fn a_prefix_is_the_longest_within_its_budget(text in "\\PC{0,60}", most in 0_u64..40) {
            let end = prefix_len(&text, most);
            prop_assert!(estimate(&text[..end]) <= most);
            if let Some(next) = text[end..].chars().next() {
                prop_assert!(estimate(&text[..end + next.len_utf8()]) > most);
            }
        }
    }
}
