//! Runs a query plan: the best passages of the index, grouped by resource.

use std::collections::HashMap;
use std::time::SystemTime;

use resource::{Filter, Uri};
use tantivy::collector::TopDocs;
use tantivy::postings::SegmentPostings;
use tantivy::query::Query;
use tantivy::schema::IndexRecordOption;
use tantivy::schema::Value;
use tantivy::{DocAddress, DocSet, Searcher, TantivyDocument, TantivyError, Term};

use crate::index::entry::{PassagePlace, seconds};
use crate::index::store::IndexStore;
use crate::plan::{self, QueryPlan};
use crate::weights;

/// A resource that matches, with its best passages.
#[derive(Debug, Clone)]
pub(crate) struct FoundResource {
    pub(crate) uri: Uri,
    /// A hash of its text; `None` if it has none.
    pub(crate) content: Option<u64>,
    pub(crate) score: f32,
    /// How the score came about.
    pub(crate) reasons: ScoreReasons,
    /// The best passage first.
    pub(crate) passages: Vec<FoundPassage>,
}

/// A passage that matches.
#[derive(Debug, Clone)]
pub(crate) struct FoundPassage {
    pub(crate) score: f32,
    /// What of the score its words and its neighbouring words made.
    parts: (f32, f32),
    pub(crate) place: PassagePlace,
}

/// The parts of a score.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScoreReasons {
    /// The words of the best passage, with title, headings and path.
    pub words: f32,
    /// Words that stand beside each other as in the query.
    pub phrases: f32,
    /// Further passages of the same resource.
    pub further: f32,
    /// The factor of the priority.
    pub priority: f32,
    /// The factor of the age.
    pub recency: f32,
}

/// What is asked of the index.
pub(crate) struct FindRequest<'a> {
    pub(crate) plan: &'a QueryPlan,
    pub(crate) filter: Option<&'a Filter>,
    /// The mounts to look in; `None` for all.
    pub(crate) mounts: Option<&'a [String]>,
    /// How many passages are looked at.
    pub(crate) candidates: usize,
}

/// A scored passage, not read yet.
struct PassageCandidate {
    address: DocAddress,
    words: f32,
    phrases: f32,
}

/// The columns of a segment that the ranking looks at.
struct SegmentColumns {
    uri_key: tantivy::columnar::Column<u64>,
    content_key: tantivy::columnar::Column<u64>,
    priority: tantivy::columnar::Column<f64>,
    modified: tantivy::columnar::Column<i64>,
}

/// The resources whose passages match best, the best first.
pub(crate) fn find(
    store: &IndexStore,
    request: &FindRequest<'_>,
    now: SystemTime,
) -> Result<Vec<FoundResource>, TantivyError> {
    let searcher = store.reader.searcher();
    let query = request.plan.passages(&searcher, &store.fields, request.filter, request.mounts);
    let best = top_passages(&searcher, &*query, request.candidates)?;
    let phrases: HashMap<DocAddress, f32> = match request.plan.phrases(&store.fields) {
        Some(query) => top_passages(&searcher, &*query, request.candidates)?
            .into_iter()
            .map(|(score, address)| (address, score))
            .collect(),
        None => HashMap::new(),
    };
    let candidates = best.into_iter().map(|(words, address)| {
        let phrases = phrases.get(&address).copied().unwrap_or(0.0) * weights::PHRASE;
        PassageCandidate { address, words, phrases }
    });
    let candidates: Vec<PassageCandidate> = candidates.collect();
    let shares = term_shares(&searcher, store, request.plan, &candidates)?;
    group(&searcher, store, candidates.into_iter().zip(shares), seconds(now))
}

/// The resources of the passages with these keys that meet the request, in the order of the keys'
/// scores.
pub(crate) fn find_by_keys(
    store: &IndexStore,
    request: &FindRequest<'_>,
    keys: &[(u64, f32)],
    now: SystemTime,
) -> Result<Vec<FoundResource>, TantivyError> {
    let searcher = store.reader.searcher();
    let scores: HashMap<u64, f32> = keys.iter().copied().collect();
    let terms = keys.iter().map(|(key, _)| Term::from_field_u64(store.fields.passage_key, *key));
    let query = request.plan.among(&store.fields, terms, request.filter, request.mounts);
    let found = top_passages(&searcher, &*query, keys.len())?;
    let mut candidates = Vec::new();
    for (_, address) in found {
        let columns = searcher.segment_reader(address.segment_ord).fast_fields();
        let key = columns.u64("passage_key")?.first(address.doc_id);
        if let Some(score) = key.and_then(|key| scores.get(&key)) {
            candidates.push(PassageCandidate { address, words: *score, phrases: 0.0 });
        }
    }
    candidates.sort_by(|a, b| b.words.total_cmp(&a.words).then(a.address.cmp(&b.address)));
    let shares = vec![0.0; candidates.len()];
    group(&searcher, store, candidates.into_iter().zip(shares), seconds(now))
}

/// The share of the query's terms that each candidate has, by weight.
fn term_shares(
    searcher: &Searcher,
    store: &IndexStore,
    plan: &QueryPlan,
    candidates: &[PassageCandidate],
) -> Result<Vec<f32>, TantivyError> {
    let mut shares = vec![0.0; candidates.len()];
    let total: f32 = plan.terms.iter().map(|term| term.weight).sum();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|at| candidates[*at].address);
    for term in &plan.terms {
        let mut has = vec![0.0_f32; candidates.len()];
        for other in term.alternatives.iter().filter(|other| !other.is_prefix) {
            for field in [plan::text_field(&store.fields, other), store.fields.title] {
                let term = Term::from_field_text(field, &other.text);
                mark_holders(searcher, &term, candidates, &order, |at| {
                    has[at] = has[at].max(other.weight);
                })?;
            }
        }
        for (share, has) in shares.iter_mut().zip(has) {
            *share += has * term.weight / total.max(f32::MIN_POSITIVE);
        }
    }
    Ok(shares)
}

/// Calls `mark` for each candidate that has `term`. `order` sorts the candidates by address.
fn mark_holders(
    searcher: &Searcher,
    term: &Term,
    candidates: &[PassageCandidate],
    order: &[usize],
    mut mark: impl FnMut(usize),
) -> Result<(), TantivyError> {
    let mut postings: Option<(u32, Option<SegmentPostings>)> = None;
    for at in order {
        let DocAddress { segment_ord, doc_id } = candidates[*at].address;
        if postings.as_ref().is_none_or(|(segment, _)| *segment != segment_ord) {
            let index = searcher.segment_reader(segment_ord).inverted_index(term.field())?;
            postings = Some((segment_ord, index.read_postings(term, IndexRecordOption::Basic)?));
        }
        if let Some((_, Some(postings))) = &mut postings
            && (postings.doc() == doc_id
                || postings.doc() < doc_id && postings.seek(doc_id) == doc_id)
        {
            mark(*at);
        }
    }
    Ok(())
}

/// The URIs of the resources of priority 1, in order.
pub(crate) fn required_uris(store: &IndexStore, most: usize) -> Result<Vec<Uri>, TantivyError> {
    let searcher = store.reader.searcher();
    let query = plan::required(&store.fields);
    let found = top_passages(&searcher, &*query, most)?;
    let mut uris = Vec::new();
    for (_, address) in found {
        uris.extend(read_passage(&searcher, store, address)?.map(|(uri, _)| uri));
    }
    uris.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    Ok(uris)
}

fn top_passages(
    searcher: &Searcher,
    query: &dyn Query,
    most: usize,
) -> Result<Vec<(f32, DocAddress)>, TantivyError> {
    searcher.search(query, &TopDocs::with_limit(most.max(1)).order_by_score())
}

fn group(
    searcher: &Searcher,
    store: &IndexStore,
    candidates: impl Iterator<Item = (PassageCandidate, f32)>,
    now: i64,
) -> Result<Vec<FoundResource>, TantivyError> {
    let columns = segment_columns(searcher)?;
    let mut found: Vec<FoundResource> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for (candidate, share) in candidates {
        let PassageCandidate { address, words, phrases } = candidate;
        let words = words * (1.0 + weights::TERM_COVERAGE * share);
        let Some(columns) = columns.get(address.segment_ord as usize) else { continue };
        let Some((uri, place)) = read_passage(searcher, store, address)? else { continue };
        let key = columns.uri_key.first(address.doc_id).unwrap_or(0);
        let score = words + phrases;
        let passage = FoundPassage { score, parts: (words, phrases), place };
        if let Some(known) = places.get(&key).and_then(|at| found.get_mut(*at)) {
            known.passages.push(passage);
            continue;
        }
        places.insert(key, found.len());
        let priority = columns.priority.first(address.doc_id);
        let modified = columns.modified.first(address.doc_id);
        let reasons = ScoreReasons {
            priority: priority_factor(priority),
            recency: recency_factor(modified, now),
            ..ScoreReasons::default()
        };
        let content = columns.content_key.first(address.doc_id);
        found.push(FoundResource { uri, content, score, reasons, passages: vec![passage] });
    }
    for resource in &mut found {
        resource.passages.sort_by(|a, b| b.score.total_cmp(&a.score));
        let further: f32 = resource.passages.iter().skip(1).map(|passage| passage.score).sum();
        let Some(FoundPassage { score: best, parts, .. }) = resource.passages.first() else {
            continue;
        };
        let (best, reasons) = (*best, &mut resource.reasons);
        (reasons.words, reasons.phrases) = *parts;
        reasons.further = (further * weights::FURTHER_PASSAGES).min(best);
        resource.score = (best + reasons.further) * reasons.priority * reasons.recency;
    }
    found.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| a.uri.as_str().cmp(b.uri.as_str()))
    });
    Ok(found)
}

fn segment_columns(searcher: &Searcher) -> Result<Vec<SegmentColumns>, TantivyError> {
    let columns = searcher.segment_readers().iter().map(|segment| {
        let columns = segment.fast_fields();
        Ok(SegmentColumns {
            uri_key: columns.u64("uri_key")?,
            content_key: columns.u64("content_key")?,
            priority: columns.f64("priority")?,
            modified: columns.i64("modified")?,
        })
    });
    columns.collect()
}

/// The URI and the place of a passage; `None` if its record cannot be read.
fn read_passage(
    searcher: &Searcher,
    store: &IndexStore,
    address: DocAddress,
) -> Result<Option<(Uri, PassagePlace)>, TantivyError> {
    let document: TantivyDocument = searcher.doc(address)?;
    let uri = document.get_first(store.fields.uri).and_then(|value| value.as_str());
    let place = document.get_first(store.fields.place).and_then(|value| value.as_bytes());
    let uri = uri.and_then(|uri| Uri::parse(uri).ok());
    Ok(uri.zip(place.and_then(PassagePlace::unpack)))
}

fn priority_factor(priority: Option<f64>) -> f32 {
    let Some(priority) = priority else { return 1.0 };
    1.0 + weights::PRIORITY * (priority.clamp(0.0, 1.0) as f32 - 0.5) * 2.0
}

fn recency_factor(modified: Option<i64>, now: i64) -> f32 {
    let Some(modified) = modified else { return 1.0 };
    let age = now.saturating_sub(modified).max(0) as f32;
    1.0 + weights::RECENCY * (-age / weights::RECENCY_HALF_LIFE_SECONDS).exp2()
}
