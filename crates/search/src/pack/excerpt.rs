//! Excerpts: the lines of a passage that answer a query best, within a number of tokens.

use std::collections::HashMap;
use std::ops::Range;

use resource::tokens;

use crate::index::store::IndexStore;
use crate::plan::{self, QueryPlan};

/// A line of more tokens is looked at by its sentences.
const LONG_LINE: u64 = 60;

/// What each term of a query counts, by the words that answer it.
#[derive(Debug, Default)]
pub(crate) struct TermValues {
    /// The number of the term, and what the word counts for it.
    words: HashMap<String, Vec<(usize, f32)>>,
    count: usize,
}

/// A line or a sentence of a passage.
struct ExcerptUnit {
    range: Range<usize>,
    tokens: u64,
    /// Whether an excerpt may begin here: a heading, or the first line of a paragraph.
    is_start: bool,
    /// The terms that it has, and what they count.
    terms: Vec<(usize, f32)>,
}

impl TermValues {
    /// The values of the terms of `plan`: rare ones count more, synonyms less.
    pub(crate) fn new(plan: &QueryPlan, store: &IndexStore) -> Self {
        let searcher = store.reader.searcher();
        let mut values = Self { words: HashMap::new(), count: plan.terms.len() };
        for (number, term) in plan.terms.iter().enumerate() {
            for other in term.alternatives.iter().filter(|other| !other.is_prefix) {
                let field = plan::text_field(&store.fields, other);
                let own = tantivy::Term::from_field_text(field, &other.text);
                let value = plan::term_rarity(&searcher, &own) * other.weight * term.weight;
                values.words.entry(other.text.clone()).or_default().push((number, value));
            }
        }
        values
    }

    /// Whether a text has something that is asked for.
    pub(crate) fn has_term(&self, text: &str) -> bool {
        !self.terms_of(text).is_empty()
    }

    /// The terms that a text has, each once, and what they count.
    fn terms_of(&self, text: &str) -> Vec<(usize, f32)> {
        let mut found: HashMap<usize, f32> = HashMap::new();
        let words = analysis::tokenize(text).into_iter().chain(analysis::dictionary_words(text));
        for word in words {
            for (term, value) in self.words.get(&word.text).into_iter().flatten() {
                let known = found.entry(*term).or_default();
                *known = known.max(*value);
            }
        }
        let mut found: Vec<(usize, f32)> = found.into_iter().collect();
        found.sort_unstable_by_key(|(term, _)| *term);
        found
    }
}

/// The part of `text` that has most of what is asked for, of at most about `most` tokens; the whole
/// of a short text. It begins with a paragraph if it can.
pub(crate) fn excerpt(text: &str, values: &TermValues, most: u64) -> Range<usize> {
    if tokens::estimate(text) <= most {
        return 0..text.len();
    }
    let units = units(text, values);
    let mut best: Option<(f32, Range<usize>)> = None;
    for (first, unit) in units.iter().enumerate() {
        if text[unit.range.clone()].trim().is_empty() {
            continue;
        }
        let (score, end) = reach(&units[first..], values.count, most);
        // A sentence within a paragraph needs more to be worth a start.
        let score = if unit.is_start { score } else { score * 0.9 };
        if best.as_ref().is_none_or(|(known, _)| score > *known) {
            best = Some((score, unit.range.start..end));
        }
    }
    let range = best.map_or(0..0, |(_, range)| range);
    // Even a single sentence may be too long.
    let length = tokens::prefix_len(&text[range.clone()], most);
    range.start..range.start + length
}

/// What units from the first one on count together, and where the last one that fits ends.
fn reach(units: &[ExcerptUnit], terms: usize, most: u64) -> (f32, usize) {
    let mut best = vec![0.0_f32; terms];
    let (mut spent, mut end, mut repeats) = (0, units[0].range.end, 0.0);
    for (number, unit) in units.iter().enumerate() {
        spent += unit.tokens;
        if spent > most && number > 0 {
            break;
        }
        end = unit.range.end;
        for (term, value) in &unit.terms {
            // What comes again counts a little.
            repeats += best[*term].min(*value) * 0.1;
            best[*term] = best[*term].max(*value);
        }
    }
    (best.iter().sum::<f32>() + repeats, end)
}

fn units(text: &str, values: &TermValues) -> Vec<ExcerptUnit> {
    let mut units = Vec::new();
    let (mut start, mut is_after_blank) = (0, true);
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        let is_start = !is_blank && (is_after_blank || line.starts_with('#'));
        for (number, part) in sentences(line).into_iter().enumerate() {
            let range = start + part.start..start + part.end;
            let words = &text[range.clone()];
            let (tokens, terms) = (tokens::estimate(words), values.terms_of(words));
            units.push(ExcerptUnit { range, tokens, is_start: is_start && number == 0, terms });
        }
        is_after_blank = is_blank;
        start += line.len();
    }
    units
}

/// A long line by its sentences, another as one.
fn sentences(line: &str) -> Vec<Range<usize>> {
    let is_long = tokens::estimate(line) > LONG_LINE;
    let (mut parts, mut start) = (Vec::new(), 0);
    let mut before = '\0';
    for (at, c) in line.char_indices() {
        let ends = before == '。' || (matches!(before, '.' | '!' | '?') && c == ' ');
        if is_long && ends && at > start {
            parts.push(start..at);
            start = at;
        }
        before = c;
    }
    parts.push(start..line.len());
    parts
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use resource::tokens;

    use super::{TermValues, excerpt};

    fn values(words: &[(&str, f32)]) -> TermValues {
        let word = |(term, (word, value)): (usize, &(&str, f32))| {
            ((*word).to_owned(), vec![(term, *value)])
        };
        let map: HashMap<_, _> = words.iter().enumerate().map(word).collect();
        TermValues { words: map, count: words.len() }
    }

    #[test]
    fn the_paragraph_with_most_of_what_is_asked_for_is_taken_from_its_start() {
        let filler = "Nothing of interest stands in this line of the text.\n".repeat(6);
        let answer = "Keys are rotated\nevery month by the clerk.\n";
        let text = format!("{filler}\n# Keys\n\n{answer}\n{filler}");
        let asked = values(&[("rotat", 3.0), ("month", 2.0)]);
        let found = &text[excerpt(&text, &asked, 40)];
        assert!(
            found.starts_with("# Keys\n\nKeys are rotated") && found.contains(answer),
            "{found}"
        );
        assert!(tokens::estimate(found) <= 40, "{found}");
        assert_eq!(excerpt("short", &asked, 40), 0..5);
        assert_eq!(excerpt("", &asked, 40), 0..0);
    }

    #[test]
    fn an_excerpt_of_one_long_line_is_a_sentence_within_the_limit() {
        let text = "余計な文がここにある。".repeat(40)
            + "鍵を毎月交換する。"
            + &"別の文が続く。".repeat(40);
        let found = &text[excerpt(&text, &values(&[("交換", 1.0)]), 30)];
        assert!(found.contains("鍵を毎月交換する。") && tokens::estimate(found) <= 30, "{found}");
        for limit in [0, 1, 5] {
            assert!(
                tokens::estimate(&text[excerpt(&text, &TermValues::default(), limit)]) <= limit
            );
        }
    }
}
