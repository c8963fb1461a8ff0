//! Previews of resources: the beginning of their text, safe to show, in a bounded cache.

use std::sync::Arc;

use machinery::{Cache, CacheBounds};
use unicode_width::UnicodeWidthChar as _;

use crate::pick::events::PickTokens;
use crate::pick::node::NodeId;

/// How many bytes of a resource are read to show and to measure it.
pub(crate) const PREVIEW_BYTES: u64 = 64 << 10;
/// How many lines are read around a passage.
pub(crate) const PREVIEW_LINES: u64 = 400;
/// How many previews are kept.
const MAX_PREVIEWS: usize = 64;
/// The columns of a tab.
const TAB: usize = 4;

/// Which part of a resource is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PreviewKey {
    pub(crate) node: NodeId,
    /// The first line of a passage.
    pub(crate) line: Option<u64>,
}

/// What a person sees of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PickPreview {
    Loading,
    /// Text in which control characters are visible, whether it is all, and the tokens of all.
    Text {
        text: Arc<str>,
        is_whole: bool,
        tokens: PickTokens,
    },
    /// Words in the place of content: why there is none.
    Words(String),
}

/// The latest previews.
pub(crate) struct PreviewCache(Cache<PreviewKey, PickPreview>);

impl Default for PreviewCache {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::entries(MAX_PREVIEWS)))
    }
}

impl PreviewCache {
    pub(crate) fn get(&self, key: PreviewKey) -> Option<PickPreview> {
        self.0.get(&key)
    }

    pub(crate) fn put(&self, key: PreviewKey, preview: PickPreview) {
        self.0.insert(key, preview, 1);
    }

    /// Forgets what is known of a resource.
    pub(crate) fn forget(&self, node: NodeId) {
        self.0.invalidate(|key| key.node == node);
    }
}

/// The rows of a text in a pane: long lines go on in the next row, tabs are spaces.
pub(crate) fn wrapped(text: &str, width: usize, skip: usize, most: usize) -> Vec<String> {
    let width = width.max(2);
    let mut rows = Vec::new();
    let mut at = 0;
    for line in text.lines() {
        let (mut row, mut used) = (String::new(), 0);
        for letter in line.chars() {
            let (letter, taken) = match letter {
                '\t' => (' ', TAB - used % TAB),
                letter => (letter, letter.width().unwrap_or_default()),
            };
            if used + taken > width {
                push_row(&mut rows, &mut at, skip, std::mem::take(&mut row));
                used = 0;
                if rows.len() >= most {
                    return rows;
                }
            }
            match letter {
                ' ' => (0..taken.min(width)).for_each(|_| row.push(' ')),
                letter => row.push(letter),
            }
            used += taken;
        }
        push_row(&mut rows, &mut at, skip, row);
        if rows.len() >= most {
            return rows;
        }
    }
    rows
}

fn push_row(rows: &mut Vec<String>, at: &mut usize, skip: usize, row: String) {
    if *at >= skip {
        rows.push(row);
    }
    *at += 1;
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn long_lines_go_on_in_the_next_row_and_wide_letters_stay_whole() {
        assert_eq!(wrapped("abcdef\ng", 4, 0, 9), ["abcd", "ef", "g"]);
        assert_eq!(wrapped("資料室\n\nx", 5, 0, 9), ["資料", "室", "", "x"]);
        assert_eq!(wrapped("a\tb\n\tc", 8, 0, 9), ["a   b", "    c"]);
        assert_eq!(wrapped("a\nb\nc\nd", 8, 1, 2), ["b", "c"]);
        assert_eq!(wrapped("資", 0, 0, 9), ["資"]);
    }
}
