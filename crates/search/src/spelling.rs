//! Spelling suggestions: words of the index that are near a word that finds nothing.

use tantivy::TantivyError;

use crate::index::store::IndexStore;

/// The most words of the dictionary that one suggestion looks at.
const MAX_LOOKED_AT: usize = 200_000;
/// Shorter words have too many neighbours.
const MIN_CHARS: usize = 4;
/// The most suggestions for one word.
const MAX_SUGGESTIONS: usize = 5;

/// Words of the index near `word`, the likeliest first. They begin with the same character, since
/// people rarely mistake the first one.
pub(crate) fn similar_words(store: &IndexStore, word: &str) -> Result<Vec<String>, TantivyError> {
    let length = word.chars().count();
    let Some(first) = word.chars().next().filter(|_| length >= MIN_CHARS) else {
        return Ok(Vec::new());
    };
    let most = if length < 8 { 1 } else { 2 };
    let mut near: std::collections::BTreeMap<String, (usize, u32)> = Default::default();
    let searcher = store.reader.searcher();
    let start = first.to_string();
    for segment in searcher.segment_readers() {
        let dictionary = segment.inverted_index(store.fields.spelling)?;
        let mut terms = dictionary.terms().range().ge(start.as_bytes()).into_stream()?;
        for _ in 0..MAX_LOOKED_AT {
            if !terms.advance() {
                break;
            }
            let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
            if !term.starts_with(first) {
                break;
            }
            if let Some(distance) = edit_distance(word, term, most) {
                let known = near.entry(term.to_owned()).or_insert((distance, 0));
                known.1 += terms.value().doc_freq;
            }
        }
    }
    let mut near: Vec<(String, (usize, u32))> = near.into_iter().collect();
    near.sort_by_key(|(_, (distance, frequency))| (*distance, std::cmp::Reverse(*frequency)));
    Ok(near.into_iter().map(|(word, _)| word).take(MAX_SUGGESTIONS).collect())
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two words, if
/// it is between 1 and `most`.
fn edit_distance(one: &str, other: &str, most: usize) -> Option<usize> {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let width = other.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (row, own) in one.iter().enumerate() {
        let mut current = vec![row + 1; width];
        for (column, letter) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(own != letter);
            let mut least = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let is_swapped =
                row > 0 && column > 0 && one[row - 1] == *letter && other[column - 1] == *own;
            if is_swapped {
                least = least.min(before[column - 1] + 1);
            }
            current[column + 1] = least;
        }
        if current.iter().min().is_some_and(|least| *least > most) {
            return None;
        }
        before = std::mem::replace(&mut last, current);
    }
    last.last().copied().filter(|distance| (1..=most).contains(distance))
}

#[cfg(test)]
mod tests {
    use super::edit_distance;

    #[test]
    fn near_words_are_near_and_others_are_not() {
        for (one, other, most, distance) in [
            ("permision", "permission", 2, Some(1)),
            ("recieve", "receive", 1, Some(1)),
            ("cursor", "cursor", 2, None),
            ("cursor", "courser", 2, Some(2)),
            ("cursor", "curtain", 2, None),
            ("サーハ", "サーバ", 1, Some(1)),
        ] {
            assert_eq!(edit_distance(one, other, most), distance, "{one} {other}");
        }
    }
}
