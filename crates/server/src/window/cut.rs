//! End of a text window: after a line if one ends nearby, else between characters.

use memchr::memrchr;

/// How far back to search for a line end, at most.
const LINE_SEARCH_BYTES: usize = 1 << 10;

/// How far back to search for the end of a grapheme cluster.
const CLUSTER_SEARCH_BYTES: usize = 64;

/// The end of a window of at most `most` bytes over `text`, where `text` also holds a few bytes
/// after the window: after a line if one ends in the last tenth (and the last KiB), else between
/// characters. Grapheme clusters stay whole if that costs at most 64 bytes; CR and LF always stay
/// together. A window of a non-empty text has at least one character, even beyond `most`.
pub(super) fn end(text: &str, most: usize) -> usize {
    if most >= text.len() {
        return text.len();
    }
    let first = text.chars().next().map_or(0, char::len_utf8);
    let limit = text.floor_char_boundary(most).max(first);
    let reach = limit - (limit / 10).min(LINE_SEARCH_BYTES);
    if let Some(at) = memrchr(b'\n', &text.as_bytes()[reach..limit]) {
        return reach + at + 1;
    }
    let mut places = text[..limit].char_indices().rev().map(|(at, _)| at);
    let mut at = limit;
    while at > 0 && limit - at <= CLUSTER_SEARCH_BYTES {
        if !is_joined(text, at) {
            return at;
        }
        at = places.next().unwrap_or(0);
    }
    // Only a CR that is the whole window can still be cut off from its LF.
    if text[..limit].ends_with('\r') && text[limit..].starts_with('\n') { limit + 1 } else { limit }
}

/// Whether the characters before and after `at` belong together; approximates grapheme clusters.
fn is_joined(text: &str, at: usize) -> bool {
    const JOINER: char = '\u{200d}';
    let (Some(before), Some(after)) = (text[..at].chars().next_back(), text[at..].chars().next())
    else {
        return false;
    };
    before == JOINER || after == JOINER || extends(after) || (before == '\r' && after == '\n')
}

/// Whether a character extends the one before it.
fn extends(character: char) -> bool {
    matches!(character,
        // combining marks
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{3099}'..='\u{309a}'
        | '\u{fe20}'..='\u{fe2f}'
        // variation selectors
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}'
        // skin tones
        | '\u{1f3fb}'..='\u{1f3ff}')
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn a_line_that_ends_near_the_end_is_the_end() {
        let text = format!("{}\n{}", "a".repeat(94), "b".repeat(100));
        assert_eq!(end(&text, 100), 95);
        assert_eq!(end(&text, 95), 95);
        // A tenth of 104 bytes reaches back to the end of the line, a tenth of 105 does not.
        assert_eq!(end(&text, 104), 95);
        assert_eq!(end(&text, 105), 105);
        assert_eq!(end(&text, 500), text.len());
    }

    #[test]
    fn no_line_is_looked_for_farther_back_than_a_kib() {
        let text = format!("{}\n{}", "a".repeat(20_000), "b".repeat(20_000));
        assert_eq!(end(&text, 20_001 + 1023), 20_001);
        assert_eq!(end(&text, 20_001 + 1024), 20_001 + 1024);
    }

    #[test]
    fn the_end_is_between_characters_with_one_at_the_least() {
        assert_eq!(end("日本語", 7), 6);
        assert_eq!(end("日本語", 1), 3);
        assert_eq!(end("", 1), 0);
        assert_eq!(end("日", 100), 3);
    }

    #[test]
    fn cr_and_lf_are_never_parted() {
        assert_eq!(end("ab\r\nc", 3), 2);
        assert_eq!(end("\r\nc", 1), 2);
        assert_eq!(end("\r\nc", 2), 2);
        assert_eq!(end("a\rb", 2), 2);
    }

    #[test]
    fn what_is_drawn_as_one_is_kept_together_if_it_is_short() {
        let family = "👨\u{200d}👩\u{200d}👧";
        let text = format!("ab{family}c");
        for most in 3..2 + family.len() {
            assert_eq!(end(&text, most), 2, "{most}");
        }
        assert_eq!(end(&text, 2 + family.len()), 2 + family.len());
        assert_eq!(end("xe\u{301}y", 2), 1);
        assert_eq!(end("か\u{3099}", 3), 3, "there is nothing before it to end at");
        assert_eq!(end("a👍\u{1f3fd}", 5), 1);
        let stack = format!("a{}b", "\u{301}".repeat(100));
        assert_eq!(end(&stack, 151), 151, "more than 64 bytes are not given up");
    }
}
