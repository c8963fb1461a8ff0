//! Synonym table: from a word or expression to the others of its groups.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stop_words::is_stop_word;
use super::{TermAlternative, TermField, weights};
use crate::fold::{Script, fold, script_of};
use crate::synonyms::SYNONYMS;
use crate::{TokenKind, dictionary_words, tokenize};

/// The most words of an expression.
pub(super) const MAX_EXPRESSION: usize = 3;
/// What divides the words that are asked for from those that are found.
const ASKED: &str = " > ";

static TABLE: LazyLock<SynonymTable> = LazyLock::new(SynonymTable::new);

/// The groups, and the groups that each word or expression asks for.
#[derive(Debug, Default)]
struct SynonymTable {
    /// What each group finds.
    groups: Vec<Vec<SynonymMember>>,
    asked: HashMap<String, Vec<usize>>,
    /// Words of hiragana, which no dictionary divides, with their groups.
    hiragana: Vec<(String, usize)>,
}

/// A word or expression of a group: its index terms in order.
#[derive(Debug, Clone)]
struct SynonymMember {
    key: String,
    /// The key without stop words, if two words are left.
    short_key: Option<String>,
    field: TermField,
    words: Vec<String>,
}

/// The alternatives that synonyms give an expression; `words` are its index terms. Japanese asks
/// for English words too, which its pages have as names; English does not ask for Japanese.
pub(super) fn synonyms(words: &[&str]) -> Vec<TermAlternative> {
    let key = key(words);
    let groups = TABLE.asked.get(&key).map(Vec::as_slice).unwrap_or_default();
    let members = groups.iter().flat_map(|group| &TABLE.groups[*group]);
    let is_english = key.is_ascii();
    let others = members.filter(|member| {
        member.key != key && !(is_english && member.field == TermField::Dictionary)
    });
    alternatives(others, words).collect()
}

/// The words of hiragana in `text` that have synonyms, with their synonyms.
pub(super) fn hiragana_synonyms(text: &str) -> Vec<(&str, Vec<TermAlternative>)> {
    let mut found = Vec::new();
    let mut before = None;
    for (start, character) in text.char_indices() {
        let begins = before.is_none_or(ends_a_word) && is_hiragana(character);
        before = Some(character);
        let rest = &text[start..];
        let known = TABLE.hiragana.iter().filter(|_| begins);
        for (word, group) in known.filter(|(word, _)| rest.starts_with(word.as_str())) {
            let others = alternatives(TABLE.groups[*group].iter(), &[]).collect();
            found.push((&rest[..word.len()], others));
        }
    }
    found
}

fn is_hiragana(character: char) -> bool {
    script_of(character) == Some(Script::Hiragana)
}

/// True if a word of hiragana may begin after this character.
fn ends_a_word(character: char) -> bool {
    !is_hiragana(character) || super::unspaced::PARTICLES.contains(&character)
}

fn alternatives<'a>(
    members: impl Iterator<Item = &'a SynonymMember>,
    asked: &[&str],
) -> impl Iterator<Item = TermAlternative> {
    members.flat_map(move |member| {
        let weight = weights::SYNONYM / member.words.len() as f32;
        let own = member.words.iter().filter(move |word| !asked.contains(&word.as_str()));
        own.map(move |word| TermAlternative {
            is_synonym: true,
            ..TermAlternative::new(member.field, word.clone(), weight)
        })
    })
}

fn key<T: AsRef<str>>(words: &[T]) -> String {
    words.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(" ")
}

impl SynonymTable {
    fn new() -> Self {
        let mut table = Self::default();
        SYNONYMS.iter().flat_map(|list| list.iter()).for_each(|group| table.add(group));
        table
    }

    fn add(&mut self, group: &str) {
        let index = self.groups.len();
        let (asked, found) = group.split_once(ASKED).unwrap_or((group, group));
        for text in asked.split(' ') {
            if text.chars().all(is_hiragana) {
                self.hiragana.push((text.to_owned(), index));
                continue;
            }
            let member = SynonymMember::new(text);
            for key in [Some(member.key), member.short_key].into_iter().flatten() {
                let groups = self.asked.entry(key).or_default();
                if groups.last() != Some(&index) {
                    groups.push(index);
                }
            }
        }
        let members = found.split(' ').map(SynonymMember::new);
        self.groups.push(members.filter(|member| !member.words.is_empty()).collect());
    }
}

impl SynonymMember {
    fn new(text: &str) -> Self {
        if text.chars().any(|character| script_of(character).is_some()) {
            let words = dictionary_words(text).into_iter().map(|word| word.text);
            let words: Vec<String> = words.collect();
            let field = TermField::Dictionary;
            return Self { key: key(&words), short_key: None, field, words };
        }
        let text = text.replace('_', " ");
        let tokens = tokenize(&text).into_iter().filter(|token| token.kind == TokenKind::Word);
        let (mut all, mut words) = (Vec::new(), Vec::new());
        for token in tokens {
            if !is_stop_word(&fold(&text[token.range])) {
                words.push(token.text.clone());
            }
            all.push(token.text);
        }
        let short_key = (words.len() > 1 && words.len() < all.len()).then(|| key(&words));
        Self { key: key(&all), short_key, field: TermField::Main, words }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{ASKED, MAX_EXPRESSION, SynonymMember, TABLE, is_hiragana};
    use crate::synonyms::SYNONYMS;

    #[test]
    fn every_group_finds_something_else_than_it_asks_for() {
        for (word, groups) in &TABLE.asked {
            for group in groups {
                let found = &TABLE.groups[*group];
                assert!(found.iter().any(|member| member.key != *word), "{word}: {found:?}");
            }
        }
        for (word, group) in &TABLE.hiragana {
            assert!(word.chars().count() > 1 && !TABLE.groups[*group].is_empty(), "{word}");
        }
    }

    #[test]
    fn every_expression_is_short_enough_to_be_asked_for() {
        let groups = SYNONYMS.iter().flat_map(|list| list.iter());
        let asked =
            groups.flat_map(|group| group.split(ASKED).next().unwrap_or_default().split(' '));
        for text in asked.filter(|text| !text.chars().all(is_hiragana)) {
            let SynonymMember { key, short_key, .. } = SynonymMember::new(text);
            let is_short =
                |key: &String| !key.is_empty() && key.split(' ').count() <= MAX_EXPRESSION;
            assert!(is_short(&key) || short_key.as_ref().is_some_and(is_short), "{text}");
        }
    }

    #[test]
    fn no_group_stands_there_twice() {
        let mut known = HashSet::new();
        for group in SYNONYMS.iter().flat_map(|list| list.iter()) {
            let mut words: Vec<&str> = group.split(' ').collect();
            words.sort_unstable();
            assert!(known.insert(words), "{group}");
        }
    }
}
