//! Synonym table: from a word or expression to the others of its groups.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{TermAlternative, TermField, weights};
use crate::synonyms::{ENGLISH, JAPANESE};
use crate::{TokenKind, dictionary_words, tokenize};

/// The most words of an expression.
pub(super) const MAX_EXPRESSION: usize = 3;

static TABLE: LazyLock<SynonymTable> = LazyLock::new(SynonymTable::new);

/// The groups, and the groups of each member.
#[derive(Debug, Default)]
struct SynonymTable {
    groups: Vec<Vec<SynonymMember>>,
    members: HashMap<String, Vec<usize>>,
}

/// A word or expression of a group: its index terms in order.
#[derive(Debug)]
struct SynonymMember {
    key: String,
    field: TermField,
    words: Vec<String>,
}

/// The alternatives that synonyms give an expression; `words` are its index terms in `field`.
pub(super) fn synonyms(field: TermField, words: &[&str]) -> Vec<TermAlternative> {
    let key = key(words);
    let groups = TABLE.members.get(&key).map(Vec::as_slice).unwrap_or_default();
    let members = groups.iter().flat_map(|group| &TABLE.groups[*group]);
    let others = members.filter(|member| member.key != key && member.field == field);
    let alternatives = others.flat_map(|member| {
        let weight = weights::SYNONYM / member.words.len() as f32;
        let own = member.words.iter().filter(|word| !words.contains(&word.as_str()));
        own.map(move |word| TermAlternative::new(member.field, word.clone(), weight))
    });
    alternatives.collect()
}

fn key<T: AsRef<str>>(words: &[T]) -> String {
    words.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(" ")
}

impl SynonymTable {
    fn new() -> Self {
        let mut table = Self::default();
        ENGLISH.iter().for_each(|group| table.add(group, TermField::Main));
        JAPANESE.iter().for_each(|group| table.add(group, TermField::Dictionary));
        table
    }

    fn add(&mut self, group: &str, field: TermField) {
        let index = self.groups.len();
        let members = group.split(' ').map(|text| {
            let words = match field {
                TermField::Main => main_words(&text.replace('_', " ")),
                TermField::Dictionary => {
                    dictionary_words(text).into_iter().map(|word| word.text).collect()
                }
            };
            SynonymMember { key: key(&words), field, words }
        });
        let members: Vec<SynonymMember> =
            members.filter(|member| !member.words.is_empty()).collect();
        for member in &members {
            let groups = self.members.entry(member.key.clone()).or_default();
            if groups.last() != Some(&index) {
                groups.push(index);
            }
        }
        self.groups.push(members);
    }
}

fn main_words(text: &str) -> Vec<String> {
    let words = tokenize(text).into_iter().filter(|token| token.kind == TokenKind::Word);
    words.map(|token| token.text).collect()
}

#[cfg(test)]
mod tests {
    use super::{MAX_EXPRESSION, TABLE};

    #[test]
    fn every_member_is_found_and_every_group_has_two() {
        for group in &TABLE.groups {
            let first = group.first().map(|member| &member.key);
            assert!(group.iter().any(|member| Some(&member.key) != first), "{group:?}");
            for member in group {
                assert!(TABLE.members.contains_key(&member.key));
                assert!(member.words.len() <= MAX_EXPRESSION, "{member:?}");
            }
        }
    }
}
