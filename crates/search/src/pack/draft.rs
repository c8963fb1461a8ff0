//! Pack draft: the pieces that a pack has so far, what they cost, and what stays out.

use std::collections::HashSet;
use std::sync::Arc;

use resource::{Resource, Uri, tokens};

use super::{LeftOutItem, PackItem};
use crate::index::entry::PassagePlace;
use crate::index::keys::text_key;

/// What an item costs besides its URI, its text and the reason for it: its type, its lines, marks.
const ITEM_TOKENS: u64 = 8;
/// What a further piece of an item costs besides its text: the mark before it, its lines.
const PIECE_TOKENS: u64 = 6;
/// What the summary costs besides the lines of the items.
pub(super) const SUMMARY_TOKENS: u64 = 60;
/// Estimates of tokens may be this much too low, in percent.
const ESTIMATE_ERROR: u64 = 15;
/// Texts that share this part of their runs of words are near-repeats.
const REPEAT_SHARE: f64 = 0.7;
/// How many words a run has.
const RUN_WORDS: usize = 5;
/// What stands between pieces of an item that are no neighbours.
const GAP: &str = "[…]\n";

/// A pack that is being filled.
#[derive(Debug)]
pub(super) struct PackDraft {
    items: Vec<DraftItem>,
    /// The runs of words at the beginnings of the resources that pieces were taken of.
    beginnings: Vec<HashSet<u64>>,
    left_out: Vec<LeftOutItem>,
    usable: u64,
    left: u64,
}

/// A resource of the pack, with what is taken of it.
#[derive(Debug)]
struct DraftItem {
    /// The rank of its resource; what is required has rank 0.
    rank: usize,
    resource: Arc<Resource>,
    why: String,
    /// In reading order, without overlaps.
    pieces: Vec<DraftPiece>,
    /// The runs of words of its pieces.
    runs: HashSet<u64>,
    is_whole: bool,
}

/// A part of the text of a resource.
#[derive(Debug, Clone)]
pub(super) struct DraftPiece {
    pub(super) place: PassagePlace,
    pub(super) text: String,
}

/// A resource that pieces are added of, and why.
pub(super) struct DraftSource<'a> {
    pub(super) rank: usize,
    pub(super) resource: &'a Arc<Resource>,
    pub(super) why: String,
}

impl PackDraft {
    pub(super) fn new(budget: u64) -> Self {
        let usable = (budget * 100 / (100 + ESTIMATE_ERROR)).saturating_sub(SUMMARY_TOKENS);
        let (items, beginnings, left_out) = (Vec::new(), Vec::new(), Vec::new());
        Self { items, beginnings, left_out, usable, left: usable }
    }

    /// What all items together may cost, and what is left of it.
    pub(super) fn usable(&self) -> u64 {
        self.usable
    }

    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// What the text of a new item may cost.
    pub(super) fn room(&self, source: &DraftSource<'_>) -> u64 {
        self.left.saturating_sub(item_cost(source))
    }

    /// Whether the pack has a part of the resource that is not the whole.
    pub(super) fn has_part(&self, uri: &Uri) -> bool {
        self.items.iter().any(|item| item.resource.uri == *uri && !item.is_whole)
    }

    fn position(&self, uri: &Uri) -> Option<usize> {
        self.items.iter().position(|item| item.resource.uri == *uri)
    }

    /// Whether a resource that begins so is nearly the same as one that pieces were taken of. Pieces
    /// alone are too short to tell. The first one that begins so is none.
    pub(super) fn is_copy(&mut self, beginning: &str) -> bool {
        let runs = word_runs(beginning);
        let is_same = |known: &HashSet<u64>| {
            let most = known.len().max(runs.len()).max(1);
            known.intersection(&runs).count() as f64 >= REPEAT_SHARE * most as f64
        };
        let is_copy = self.beginnings.iter().any(is_same);
        if !is_copy {
            self.beginnings.push(runs);
        }
        is_copy
    }

    /// Adds a resource as a whole, in place of its pieces; says whether it does.
    pub(super) fn add_whole(&mut self, source: DraftSource<'_>, text: String) -> bool {
        let known = self.position(&source.resource.uri);
        let own = known.map_or(0, |at| self.items[at].cost());
        let cost = item_cost(&source) + tokens::estimate(&text);
        let runs = word_runs(&text);
        if text.trim().is_empty() || cost > self.left + own {
            return false;
        }
        if self.repeats(&source, &runs) {
            self.leave_out(&source.resource.uri, "repeats what is there");
            return false;
        }
        self.left = self.left + own - cost;
        let (offset, length, line) = (0, text.len() as u64, 1);
        let lines = text.lines().count() as u64;
        let place = PassagePlace { offset, length, line, lines, page: None, headings: Vec::new() };
        let item = DraftItem {
            rank: source.rank,
            resource: Arc::clone(source.resource),
            why: source.why,
            pieces: vec![DraftPiece { place, text }],
            runs,
            is_whole: true,
        };
        match known {
            Some(at) => self.items[at] = item,
            None => self.items.push(item),
        }
        true
    }

    /// Adds pieces of a resource, unless they do not fit or repeat what is there; says so if not.
    pub(super) fn add_pieces(&mut self, source: DraftSource<'_>, pieces: Vec<DraftPiece>) -> bool {
        let known = self.position(&source.resource.uri);
        let mut own = known.map_or_else(Vec::new, |at| self.items[at].pieces.clone());
        let before: u64 = own.iter().map(DraftPiece::cost).sum();
        pieces.into_iter().for_each(|piece| insert(&mut own, piece));
        let after: u64 = own.iter().map(DraftPiece::cost).sum();
        if after == before {
            return false;
        }
        let runs: HashSet<u64> = own.iter().flat_map(|piece| word_runs(&piece.text)).collect();
        if self.repeats(&source, &runs) {
            self.leave_out(&source.resource.uri, "repeats what is there");
            return false;
        }
        let cost = after - before + if known.is_some() { 0 } else { item_cost(&source) };
        if cost > self.left {
            self.leave_out(&source.resource.uri, "did not fit");
            return false;
        }
        self.left -= cost;
        match known {
            Some(at) => {
                let item = &mut self.items[at];
                (item.pieces, item.runs) = (own, runs);
            }
            None => self.items.push(DraftItem {
                rank: source.rank,
                resource: Arc::clone(source.resource),
                why: source.why,
                pieces: own,
                runs,
                is_whole: false,
            }),
        }
        true
    }

    pub(super) fn leave_out(&mut self, uri: &Uri, why: &'static str) {
        if self.position(uri).is_none() && !self.left_out.iter().any(|known| known.uri == *uri) {
            self.left_out.push(LeftOutItem { uri: uri.clone(), why });
        }
    }

    /// Whether another resource says the same. What is required is in the pack in any case.
    fn repeats(&self, source: &DraftSource<'_>, runs: &HashSet<u64>) -> bool {
        let uri = &source.resource.uri;
        let mut others = self.items.iter().filter(|item| item.resource.uri != *uri);
        source.rank > 0 && others.any(|item| is_repeat(&item.runs, runs))
    }

    /// The items in the order of their ranks, what stays out, and what the items cost.
    pub(super) fn finish(mut self) -> (Vec<PackItem>, Vec<LeftOutItem>, u64) {
        self.items.sort_by_key(|item| item.rank);
        let Self { items, left_out, usable, left, .. } = self;
        let items = items.into_iter().map(DraftItem::finish).collect();
        (items, left_out, usable - left + SUMMARY_TOKENS)
    }
}

impl DraftItem {
    fn cost(&self) -> u64 {
        let pieces: u64 = self.pieces.iter().map(DraftPiece::cost).sum();
        let (rank, resource, why) = (self.rank, &self.resource, self.why.clone());
        pieces + item_cost(&DraftSource { rank, resource, why })
    }

    fn finish(self) -> PackItem {
        let Self { resource, why, pieces, is_whole, .. } = self;
        let (mut text, mut places): (String, Vec<PassagePlace>) = (String::new(), Vec::new());
        for DraftPiece { place, text: own } in pieces {
            match places.last_mut() {
                Some(last) if last.offset + last.length == place.offset => {
                    let end = place.line + place.lines;
                    (last.length, last.lines) = (last.length + place.length, end - last.line);
                }
                Some(_) => {
                    if !text.ends_with('\n') {
                        text.push('\n');
                    }
                    text.push_str(GAP);
                    places.push(place);
                }
                None => places.push(place),
            }
            text.push_str(&own);
        }
        if is_whole {
            places.clear();
        }
        PackItem { resource, text, places, why }
    }
}

impl DraftPiece {
    /// The part `range` of a text that stands at `place`.
    pub(super) fn cut(place: &PassagePlace, text: &str, range: std::ops::Range<usize>) -> Self {
        let breaks = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        let part = &text[range.clone()];
        let lines = breaks(part) + u64::from(!part.ends_with('\n'));
        let place = PassagePlace {
            offset: place.offset + range.start as u64,
            length: part.len() as u64,
            line: place.line + breaks(&text[..range.start]),
            lines,
            ..place.clone()
        };
        Self { place, text: part.to_owned() }
    }

    fn cost(&self) -> u64 {
        tokens::estimate(&self.text) + PIECE_TOKENS
    }

    fn end(&self) -> u64 {
        self.place.offset + self.place.length
    }
}

/// Puts `piece` among `pieces`, without what they have of it.
fn insert(pieces: &mut Vec<DraftPiece>, piece: DraftPiece) {
    let mut rest = vec![piece];
    for known in pieces.iter() {
        rest = rest.iter().flat_map(|piece| without(piece, known)).collect();
    }
    pieces.extend(rest.into_iter().filter(|piece| !piece.text.trim().is_empty()));
    pieces.sort_by_key(|piece| piece.place.offset);
}

/// What `piece` has before and behind `known`.
fn without(piece: &DraftPiece, known: &DraftPiece) -> Vec<DraftPiece> {
    let (start, end) = (piece.place.offset, piece.end());
    if known.end() <= start || end <= known.place.offset {
        return vec![piece.clone()];
    }
    let at = |offset: u64| usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
    let (before, behind) = (at(known.place.offset), at(known.end()));
    let part = |range: std::ops::Range<usize>| {
        let is_part = !range.is_empty() && piece.text.get(range.clone()).is_some();
        is_part.then(|| DraftPiece::cut(&piece.place, &piece.text, range))
    };
    let behind = (behind < piece.text.len()).then(|| part(behind..piece.text.len())).flatten();
    part(0..before).into_iter().chain(behind).collect()
}

fn item_cost(source: &DraftSource<'_>) -> u64 {
    // The block has the URI, the summary the name.
    let Resource { uri, name, .. } = &**source.resource;
    let names = tokens::estimate(uri.as_str()) + tokens::estimate(name);
    tokens::estimate(&source.why) + names + ITEM_TOKENS
}

/// The hashes of all runs of a few words.
fn word_runs(text: &str) -> HashSet<u64> {
    let words: Vec<String> = analysis::tokenize(text).into_iter().map(|token| token.text).collect();
    match words.len() < RUN_WORDS {
        true => HashSet::from([text_key(&words.join(" "))]),
        false => words.windows(RUN_WORDS).map(|run| text_key(&run.join(" "))).collect(),
    }
}

/// Whether most runs of the shorter text are also in the other.
fn is_repeat(one: &HashSet<u64>, other: &HashSet<u64>) -> bool {
    let common = one.intersection(other).count();
    common as f64 >= REPEAT_SHARE * one.len().min(other.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Arc;

    use resource::{Resource, Uri};

    use super::{DraftPiece, DraftSource, PackDraft};
    use crate::index::entry::PassagePlace;

    const TEXT: &str = "one two\nthree four\nfive six\nseven eight\nnine ten\n";

    fn piece(range: Range<usize>) -> DraftPiece {
        let (offset, length, line, lines) = (0, 0, 1, 0);
        let start = PassagePlace { offset, length, line, lines, page: None, headings: Vec::new() };
        DraftPiece::cut(&start, TEXT, range)
    }

    fn resource(uri: &str) -> Arc<Resource> {
        Arc::new(Resource::new(Uri::parse(uri).unwrap(), "name"))
    }

    fn source(rank: usize, resource: &Arc<Resource>) -> DraftSource<'_> {
        DraftSource { rank, resource, why: "why".to_owned() }
    }

    #[test]
    fn pieces_of_a_resource_are_one_item_in_reading_order_without_overlaps() {
        let (mut draft, one) = (PackDraft::new(2_000), resource("a:/1"));
        assert!(draft.add_pieces(source(1, &one), vec![piece(28..40), piece(0..8)]));
        assert!(draft.add_pieces(source(1, &one), vec![piece(19..40)]));
        assert!(!draft.add_pieces(source(1, &one), vec![piece(19..28)]), "it is there");
        let (items, ..) = draft.finish();
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].text, "one two\n[…]\nfive six\nseven eight\n");
        let lines: Vec<_> = items[0].places.iter().map(|place| (place.line, place.lines)).collect();
        assert_eq!(lines, [(1, 1), (3, 2)]);
    }

    #[test]
    fn a_whole_takes_the_place_of_pieces_and_a_repeat_stays_out() {
        let (mut draft, one, other) = (PackDraft::new(2_000), resource("a:/1"), resource("a:/2"));
        assert!(draft.add_pieces(source(1, &one), vec![piece(0..8)]));
        let before = draft.left();
        assert!(draft.add_whole(source(1, &one), TEXT.to_owned()));
        assert!(draft.left() < before && !draft.has_part(&one.uri));
        assert!(!draft.add_whole(source(2, &other), format!("{TEXT}eleven\n")));
        let (items, left_out, _) = draft.finish();
        assert_eq!((items.len(), items[0].text.as_str(), items[0].places.len()), (1, TEXT, 0));
        assert_eq!(
            left_out.iter().map(|one| one.why).collect::<Vec<_>>(),
            ["repeats what is there"]
        );
    }
}
