//! Identifiers: where `readResource`, `read_resource` and `HTTPServer2` divide into parts.

use std::ops::Range;

use crate::scanner::{WordChar, WordJoint};

/// The most parts of an identifier. One with more is noise, not a name.
const MAX_PARTS: usize = 16;
/// The most places where letters and digits meet in a name; a hash has more.
const MAX_DIGIT_CUTS: usize = 2;

/// The parts of an identifier, as ranges of its characters; none if it has only one.
#[derive(Debug, Default)]
pub(crate) struct IdentifierParts {
    pub(crate) ranges: Vec<Range<usize>>,
    cuts: Vec<(usize, IdentifierCut)>,
}

/// Why an identifier divides before a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdentifierCut {
    /// An underscore or hyphen.
    Seam,
    /// The case changes.
    Case,
    /// Letters and digits meet.
    Digit,
}

/// Finds the parts of an identifier.
pub(crate) fn divide(word: &[WordChar], parts: &mut IdentifierParts) {
    parts.ranges.clear();
    if is_simple(word) {
        return;
    }
    parts.cuts.clear();
    parts.cuts.extend((1..word.len()).filter_map(|at| cut_before(word, at).map(|cut| (at, cut))));
    let count =
        |cuts: &[(usize, IdentifierCut)], kind| cuts.iter().filter(|(_, cut)| *cut == kind).count();
    if count(&parts.cuts, IdentifierCut::Digit) > MAX_DIGIT_CUTS {
        parts.cuts.retain(|(_, cut)| *cut != IdentifierCut::Digit);
    }
    if count(&parts.cuts, IdentifierCut::Case) * 3 > word.len() {
        parts.cuts.retain(|(_, cut)| *cut != IdentifierCut::Case);
    }
    if parts.cuts.is_empty() || parts.cuts.len() >= MAX_PARTS {
        return;
    }
    let mut start = (0, IdentifierCut::Seam);
    let ends = parts.cuts.iter().copied().chain(std::iter::once((word.len(), IdentifierCut::Seam)));
    for end in ends {
        let part = start.0..end.0;
        let is_number =
            word[part.clone()].iter().all(|c| c.ch.is_numeric() && c.joint != WordJoint::Dot);
        let is_fragment = part.len() == 1 || is_number;
        if !is_fragment || (start.1 == IdentifierCut::Seam && end.1 == IdentifierCut::Seam) {
            parts.ranges.push(part);
        }
        start = end;
    }
}

/// True for a word that has one part: letters in one case, perhaps after a capital, or digits.
fn is_simple(word: &[WordChar]) -> bool {
    let Some((first, rest)) = word.split_first() else { return true };
    let plain = |c: &WordChar| c.joint == WordJoint::None;
    let lower = |c: &WordChar| plain(c) && c.ch.is_ascii_lowercase();
    let digit = |c: &WordChar| plain(c) && c.ch.is_ascii_digit();
    (first.ch.is_ascii_alphabetic() && rest.iter().all(lower))
        || (first.ch.is_ascii_digit() && rest.iter().all(digit))
}

fn cut_before(word: &[WordChar], at: usize) -> Option<IdentifierCut> {
    let (before, c) = (word[at - 1].ch, word[at].ch);
    match word[at].joint {
        WordJoint::Seam => return Some(IdentifierCut::Seam),
        WordJoint::Dot | WordJoint::Sign => return None,
        WordJoint::None => {}
    }
    if before.is_numeric() != c.is_numeric() && (before.is_numeric() || c.is_numeric()) {
        return Some(IdentifierCut::Digit);
    }
    if before.is_lowercase() && c.is_uppercase() {
        return Some(IdentifierCut::Case);
    }
    let next = word.get(at + 1).filter(|next| next.joint == WordJoint::None)?.ch;
    let is_plural = next == 's' && word.get(at + 2).is_none_or(|c| !c.ch.is_lowercase());
    let starts_word = before.is_uppercase() && c.is_uppercase() && next.is_lowercase();
    (starts_word && !is_plural).then_some(IdentifierCut::Case)
}
