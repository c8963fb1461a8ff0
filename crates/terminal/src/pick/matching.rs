//! Fuzzy search over names, in slices, so that keys never wait for it.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::pick::node::{NodeId, PickNode};
use crate::pick::tree::PickTree;

/// How many names are matched between two looks at the keys.
const SLICE: usize = 4_000;
/// How many of the best matches are kept.
const MAX_MATCHES: usize = 5_000;
/// The longest query.
pub(crate) const MAX_QUERY: usize = 256;

/// A search over the names of the tree, as far as it came.
pub(crate) struct NameSearch {
    pattern: Pattern,
    matcher: Matcher,
    letters: Vec<char>,
    /// The first node that was not matched yet.
    next: usize,
    /// The best matches with their scores, the best first.
    found: Vec<(u32, NodeId)>,
    /// How many names match, those that are not kept too.
    pub(crate) count: usize,
}

impl NameSearch {
    pub(crate) fn new(query: &str) -> Self {
        Self {
            pattern: parse_query(query),
            matcher: path_matcher(),
            letters: Vec::new(),
            next: 0,
            found: Vec::new(),
            count: 0,
        }
    }

    /// Whether names of the tree wait to be matched.
    pub(crate) fn has_work(&self, tree: &PickTree) -> bool {
        self.next < tree.end()
    }

    /// Matches the next names; returns whether there are new matches.
    pub(crate) fn step(&mut self, tree: &PickTree, shows: impl Fn(&PickNode) -> bool) -> bool {
        let before = self.count;
        for id in tree.slice(self.next, SLICE) {
            let node = tree.get(id);
            let text = letters_of(&node.path, &mut self.letters);
            if let Some(score) = self.pattern.score(text, &mut self.matcher).filter(|_| shows(node))
            {
                self.found.push((score, id));
                self.count += 1;
            }
        }
        self.next = self.next.saturating_add(SLICE).min(tree.end());
        if self.count == before {
            return false;
        }
        // Of equal scores the shorter path is more likely meant; then the order of the server.
        let length = |id: NodeId| tree.get(id).path.len();
        self.found.sort_unstable_by(|(one, first), (other, second)| {
            other.cmp(one).then(length(*first).cmp(&length(*second))).then(first.cmp(second))
        });
        self.found.truncate(MAX_MATCHES);
        true
    }

    /// The matches, the best first.
    pub(crate) fn matches(&self) -> impl Iterator<Item = NodeId> {
        self.found.iter().map(|(_, id)| *id)
    }
}

/// A query: words that match on their own, with the marks ' ^ $ ! of fuzzy finders.
pub(crate) fn parse_query(query: &str) -> Pattern {
    // The space of Japanese input methods separates words too.
    let query = query.replace('\u{3000}', " ");
    Pattern::parse(&query, CaseMatching::Smart, Normalization::Smart)
}

pub(crate) fn path_matcher() -> Matcher {
    Matcher::new(Config::DEFAULT.match_paths())
}

/// A text as the matcher takes it; its positions are those of characters.
pub(crate) fn letters_of<'a>(text: &'a str, letters: &'a mut Vec<char>) -> Utf32Str<'a> {
    if text.is_ascii() {
        return Utf32Str::Ascii(text.as_bytes());
    }
    letters.clear();
    letters.extend(text.chars());
    Utf32Str::Unicode(letters)
}
