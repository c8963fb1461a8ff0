//! Matches of terms in candidates: which terms of the query a passage has, and which stand together.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, Searcher, TantivyError, Term};

use crate::index::fields::Fields;
use crate::plan::{self, QueryPlan};
use crate::rank::PassageCandidate;
use crate::weights;

/// How fast further occurrences of a phrase count less, as in BM25.
const SATURATION: f32 = 1.2;

/// Adds to each candidate the share of the query's terms that it has, and what neighbouring words
/// count. Only the candidates are looked at, not all passages that have the words.
pub(crate) fn add_matches(
    searcher: &Searcher,
    fields: &Fields,
    plan: &QueryPlan,
    candidates: &mut [PassageCandidate],
) -> Result<(), TantivyError> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|at| candidates[*at].address);
    let addresses: Vec<DocAddress> = order.iter().map(|at| candidates[*at].address).collect();
    let shares = term_shares(searcher, fields, plan, &addresses)?;
    let phrases = phrase_scores(searcher, fields, plan, &addresses)?;
    for (at, (share, phrases)) in order.into_iter().zip(shares.into_iter().zip(phrases)) {
        let candidate = &mut candidates[at];
        (candidate.term_share, candidate.lead_share) = share;
        candidate.phrases = phrases * weights::PHRASE;
    }
    Ok(())
}

/// The share of the query's terms that each passage has, by weight, and that each lead has.
/// `addresses` are in order.
fn term_shares(
    searcher: &Searcher,
    fields: &Fields,
    plan: &QueryPlan,
    addresses: &[DocAddress],
) -> Result<Vec<(f32, f32)>, TantivyError> {
    let mut shares = vec![(0.0, 0.0); addresses.len()];
    // What a dictionary word asks for counts once, without the bigrams in it.
    let has_words = plan.terms.iter().any(|term| !term.is_part);
    let terms = || plan.terms.iter().filter(|term| !(has_words && term.is_part));
    let total = terms().map(|term| term.weight).sum::<f32>().max(f32::MIN_POSITIVE);
    for term in terms() {
        let mut has = vec![(0.0_f32, 0.0_f32); addresses.len()];
        for other in term.alternatives.iter().filter(|other| !other.is_prefix) {
            let weight = other.weight.max(weights::SYNONYM_COVERAGE);
            let own = plan::text_field(fields, other);
            for field in [own, fields.title] {
                let term = Term::from_field_text(field, &other.text);
                for_each_holder(searcher, [&term], addresses, |at, _| {
                    has[at].0 = has[at].0.max(weight);
                    if field == fields.title {
                        has[at].1 = has[at].1.max(weight);
                    }
                })?;
            }
        }
        for (share, has) in shares.iter_mut().zip(has) {
            share.0 += has.0 * term.weight / total;
            share.1 += has.1 * term.weight / total;
        }
    }
    Ok(shares)
}

/// What pairs of neighbouring words of the query count in each passage. `addresses` are in order.
fn phrase_scores(
    searcher: &Searcher,
    fields: &Fields,
    plan: &QueryPlan,
    addresses: &[DocAddress],
) -> Result<Vec<f32>, TantivyError> {
    let mut scores = vec![0.0; addresses.len()];
    let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
    for pair in plan.neighbours() {
        let [first, second] = pair.map(|word| Term::from_field_text(fields.body, word));
        let rarity = plan::term_rarity(searcher, &first) + plan::term_rarity(searcher, &second);
        for_each_holder(searcher, [&first, &second], addresses, |at, [one, other]| {
            one.positions_with_offset(1, &mut firsts);
            other.positions(&mut seconds);
            let count = firsts.iter().filter(|at| seconds.binary_search(at).is_ok()).count() as f32;
            scores[at] += rarity * (1.0 + SATURATION) * count / (count + SATURATION);
        })?;
    }
    Ok(scores)
}

/// Calls `hold` for each passage that has all of `terms`, with their postings. `addresses` are in
/// order.
fn for_each_holder<const N: usize>(
    searcher: &Searcher,
    terms: [&Term; N],
    addresses: &[DocAddress],
    mut hold: impl FnMut(usize, [&mut SegmentPostings; N]),
) -> Result<(), TantivyError> {
    let record = match N {
        1 => IndexRecordOption::Basic,
        _ => IndexRecordOption::WithFreqsAndPositions,
    };
    let mut open: Option<(u32, Option<[SegmentPostings; N]>)> = None;
    for (at, DocAddress { segment_ord, doc_id }) in addresses.iter().copied().enumerate() {
        if open.as_ref().is_none_or(|(segment, _)| *segment != segment_ord) {
            let postings = read_postings(searcher, segment_ord, terms, record)?;
            open = Some((segment_ord, postings));
        }
        if let Some((_, Some(postings))) = &mut open
            && postings.iter_mut().all(|one| holds(one, doc_id))
        {
            hold(at, postings.each_mut());
        }
    }
    Ok(())
}

/// The postings of all terms in a segment; `None` if it lacks one of them.
fn read_postings<const N: usize>(
    searcher: &Searcher,
    segment: u32,
    terms: [&Term; N],
    record: IndexRecordOption,
) -> Result<Option<[SegmentPostings; N]>, TantivyError> {
    let mut postings = Vec::with_capacity(N);
    for term in terms {
        let index = searcher.segment_reader(segment).inverted_index(term.field())?;
        match index.read_postings(term, record)? {
            Some(own) => postings.push(own),
            None => return Ok(None),
        }
    }
    Ok(postings.try_into().ok())
}

fn holds(postings: &mut SegmentPostings, doc: u32) -> bool {
    postings.doc() == doc || postings.doc() < doc && postings.seek(doc) == doc
}
