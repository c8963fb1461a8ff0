//! Division of a long section: at paragraphs, else lines, else sentences, else characters.

use std::ops::Range;

/// The size of a piece that is aimed at.
const AIM: usize = 1_200;

/// The best place to cut that was seen, of each kind.
#[derive(Debug, Default, Clone, Copy)]
struct PieceCuts {
    paragraph: Option<usize>,
    line: Option<usize>,
    sentence: Option<usize>,
}

/// Divides a range of `chars` characters into pieces of about the same size.
///
/// A piece has at least half the size that is aimed at, so that text after a cut is looked at
/// three times at most.
pub(super) fn divide(text: &str, range: Range<usize>, chars: usize) -> Vec<Range<usize>> {
    let aim = chars / chars.div_ceil(AIM).max(1);
    let mut pieces = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let end = start + piece(&text[start..range.end], aim);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// The bytes of the next piece of `text`.
fn piece(text: &str, aim: usize) -> usize {
    let least = aim / 2;
    let enough = aim - aim / 8;
    let most = aim + aim / 4;
    let mut cuts = PieceCuts::default();
    let mut is_line_blank = true;
    let mut before = '\n';
    for (count, (at, c)) in text.char_indices().enumerate() {
        // Here the piece would be `text[..at]`, of `count` characters.
        if count >= least {
            let starts_paragraph = before == '\n' && is_line_blank && !matches!(c, '\n' | '\r');
            if starts_paragraph {
                cuts.paragraph = Some(at);
            }
            if before == '\n' {
                cuts.line = Some(at);
            } else if ends_sentence(before, c) {
                cuts.sentence = Some(at);
            }
            let is_enough = (starts_paragraph && count >= enough)
                || (cuts.paragraph.is_none() && before == '\n' && count >= aim);
            if is_enough {
                return at;
            }
        }
        if count >= most {
            return cuts.paragraph.or(cuts.line).or(cuts.sentence).unwrap_or(at);
        }
        is_line_blank = match c {
            '\n' => before == '\n' || (before == '\r' && is_line_blank),
            '\r' => before == '\n',
            _ if before == '\n' => false,
            _ => is_line_blank,
        };
        before = c;
    }
    text.len()
}

fn ends_sentence(before: char, c: char) -> bool {
    matches!(before, '。' | '．' | '！' | '？') || (matches!(before, '.' | '!' | '?') && c == ' ')
}
