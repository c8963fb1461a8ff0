//! Snippets: the lines of a passage that match best, with the matches marked.

use std::collections::HashSet;
use std::ops::Range;

use resource::tokens;

/// How many characters a snippet has at most, and how many tokens: a model pays for each.
const MAX_CHARS: usize = 130;
const MAX_TOKENS: u64 = 24;
/// How many characters before a match may be in it.
const BEFORE_CHARS: usize = 30;
/// What marks a match.
const MARK: &str = "**";

/// A part of a text that matches, in one line.
pub(crate) fn snippet(text: &str, terms: &HashSet<&str>) -> String {
    let matches: Vec<Range<usize>> = match_ranges(text, terms);
    let window = best_window(text, &matches);
    let mut line = String::new();
    let mut at = window.start;
    for range in matches.iter().filter(|range| range.start >= window.start) {
        if range.end > window.end || range.start < at {
            continue;
        }
        line.push_str(&text[at..range.start]);
        line.push_str(MARK);
        line.push_str(&text[range.clone()]);
        line.push_str(MARK);
        at = range.end;
    }
    line.push_str(&text[at..window.end]);
    let mut line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if !text[..window.start].trim().is_empty() {
        line.insert(0, '…');
    }
    if !text[window.end..].trim().is_empty() {
        line.push('…');
    }
    line
}

/// The ranges of the words that match; neighbours and overlaps are one.
fn match_ranges(text: &str, terms: &HashSet<&str>) -> Vec<Range<usize>> {
    let tokens = analysis::tokenize(text).into_iter().chain(analysis::dictionary_words(text));
    let hits = tokens.filter(|token| terms.contains(token.text.as_str()));
    let mut ranges: Vec<Range<usize>> = hits.map(|token| token.range).collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The stretch with the most matches, from the start of a line or sentence
/// if one is near.
fn best_window(text: &str, matches: &[Range<usize>]) -> Range<usize> {
    let end_of = |start: usize| {
        let rest = &text[start..];
        let chars = rest.char_indices().nth(MAX_CHARS).map_or(rest.len(), |(at, _)| at);
        start + tokens::prefix_len(&rest[..chars], MAX_TOKENS)
    };
    let mut best = (0, 0..end_of(0));
    for (first, range) in matches.iter().enumerate() {
        let start = start_before(text, range.start);
        let end = end_of(start);
        let inside = matches[first..].iter().take_while(|other| other.end <= end).count();
        if inside > best.0 {
            best = (inside, start..end);
        }
    }
    best.1
}

/// The start of the line or sentence that `at` is in, if it is near; otherwise a little before.
fn start_before(text: &str, at: usize) -> usize {
    let near = text[..at].char_indices().rev().take(BEFORE_CHARS);
    let mut start = at;
    for (place, character) in near {
        if matches!(character, '\n' | '。') {
            break;
        }
        start = place;
    }
    start
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::snippet;

    #[test]
    fn the_best_stretch_is_cut_out_on_one_line_with_its_matches_marked() {
        let filler = "Nothing to see in this sentence at all. ".repeat(20);
        let text = format!("{filler}\nRotate the\tkey\nevery month. {filler}");
        let terms = HashSet::from(["rotat", "kei", "key", "rotate"]);
        let line = snippet(&text, &terms);
        assert!(line.starts_with("…**Rotate** the **key** every month."), "{line}");
        assert!(line.ends_with('…') && line.chars().count() < 200, "{line}");
        let none = snippet("短い文。", &HashSet::new());
        assert_eq!(none, "短い文。");
        let japanese = snippet(&"共有メモリを使う。".repeat(40), &HashSet::from(["共有"]));
        assert!(japanese.chars().count() < 80 && japanese.contains("**共有**"), "{japanese}");
    }
}
