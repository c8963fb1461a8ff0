//! Runs a query plan: the best resources of the index, with their best passages.

use std::collections::HashMap;
use std::time::SystemTime;

use embedding::RankedList;
use resource::{Filter, Result, Uri};
use tantivy::collector::TopDocs;
use tantivy::query::Query;
use tantivy::schema::Value;
use tantivy::{DocAddress, Searcher, TantivyDocument, TantivyError, Term};

use crate::index::entry::{PassagePlace, seconds};
use crate::index::index_error;
use crate::index::keys::text_key;
use crate::index::store::IndexStore;
use crate::meaning::{MeaningQuery, VectorKind};
use crate::plan::{self, QueryPlan};
use crate::rank::{PassageCandidate, RankedPassage, RankedResource, ScoreReasons, SegmentColumns};
use crate::{rank, term_matches, weights};

/// How many passages of a resource are read.
pub(crate) const MAX_PASSAGES: usize = 3;
/// Of how many resources that their summaries found the nearest passage is looked for.
const MAX_SUMMARIES: usize = 60;

/// A resource that matches, with its best passages.
#[derive(Debug, Clone)]
pub(crate) struct FoundResource {
    pub(crate) uri: Uri,
    /// A hash of its text; `None` if it has none.
    pub(crate) content: Option<u64>,
    pub(crate) score: f32,
    /// How the score came about.
    pub(crate) reasons: ScoreReasons,
    /// The best passages, the best first.
    pub(crate) passages: Vec<FoundPassage>,
    /// How many passages match.
    pub(crate) passage_count: usize,
}

/// A passage that matches.
#[derive(Debug, Clone)]
pub(crate) struct FoundPassage {
    pub(crate) score: f32,
    pub(crate) place: PassagePlace,
}

/// What a query found.
#[derive(Debug, Default)]
pub(crate) struct FoundResources {
    /// The best first.
    pub(crate) resources: Vec<FoundResource>,
    /// Whether there are no more, whatever is asked for.
    pub(crate) is_all: bool,
}

/// What is asked of the index.
pub(crate) struct FindRequest<'a> {
    pub(crate) plan: &'a QueryPlan,
    pub(crate) filter: Option<&'a Filter>,
    /// The mounts to look in; `None` for all.
    pub(crate) mounts: Option<&'a [String]>,
    /// Whether the words count, and the meaning.
    pub(crate) by_words: bool,
    pub(crate) meaning: Option<&'a MeaningQuery>,
    /// How many passages are looked at, and the most resources that are returned.
    pub(crate) candidates: usize,
    pub(crate) resources: usize,
}

/// One state of the index, and what is asked of it.
struct IndexSearch<'a> {
    store: &'a IndexStore,
    searcher: Searcher,
    columns: Vec<SegmentColumns>,
    request: &'a FindRequest<'a>,
    now: i64,
}

/// The resources that match best, the best first.
pub(crate) fn find(
    store: &IndexStore,
    request: &FindRequest<'_>,
    now: SystemTime,
) -> Result<FoundResources> {
    let searcher = store.reader.searcher();
    let columns = rank::segment_columns(&searcher).map_err(index_error)?;
    let search = IndexSearch { store, searcher, columns, request, now: seconds(now) };
    search.run()
}

/// The URIs of the resources of priority 1, in order.
pub(crate) fn required_uris(
    store: &IndexStore,
    most: usize,
) -> std::result::Result<Vec<Uri>, TantivyError> {
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

impl IndexSearch<'_> {
    fn run(&self) -> Result<FoundResources> {
        let mut lists: Vec<(Vec<RankedResource>, f32)> = Vec::new();
        let mut is_all = true;
        if self.request.by_words {
            let (by_words, is_end) = self.rank_by_words().map_err(index_error)?;
            is_all &= is_end;
            lists.push((by_words, 1.0));
        }
        if let Some(meaning) = self.request.meaning {
            lists.push((self.rank_by_summaries(meaning)?, weights::MEANING_SUMMARY));
            lists.push((self.rank_by_passages(meaning)?, weights::MEANING_PASSAGE));
        }
        let mut ranked = match lists.len() {
            1 => lists.pop().map(|(list, _)| list).unwrap_or_default(),
            _ => fused(lists),
        };
        let most = self.request.resources;
        is_all &= ranked.len() <= most;
        // Equals are ordered by their URIs, which are read first.
        let last = ranked.get(most.saturating_sub(1)).map_or(0.0, |one| one.score);
        let end = ranked.iter().skip(most).take_while(|one| one.score == last).count() + most;
        ranked.truncate(end);
        let resources = ranked.into_iter().filter_map(|one| self.read(one).transpose());
        let mut resources: Vec<FoundResource> =
            resources.collect::<std::result::Result<_, _>>().map_err(index_error)?;
        resources.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| a.uri.as_str().cmp(b.uri.as_str()))
        });
        resources.truncate(most);
        Ok(FoundResources { resources, is_all })
    }

    /// By the words of the query; and whether all passages that match were looked at.
    fn rank_by_words(&self) -> std::result::Result<(Vec<RankedResource>, bool), TantivyError> {
        let FindRequest { plan, filter, mounts, candidates, .. } = *self.request;
        let query = plan.passages(&self.searcher, &self.store.fields, filter, mounts);
        let best = top_passages(&self.searcher, &*query, candidates)?;
        let is_all = best.len() < candidates;
        let mut candidates: Vec<PassageCandidate> = best
            .into_iter()
            .map(|(words, address)| PassageCandidate::new(address, words))
            .collect();
        term_matches::add_matches(&self.searcher, &self.store.fields, plan, &mut candidates)?;
        Ok((rank::group(&self.columns, candidates, self.now), is_all))
    }

    /// By what resources are about as a whole. The best passage of each is the one that is nearest.
    fn rank_by_summaries(&self, meaning: &MeaningQuery) -> Result<Vec<RankedResource>> {
        let found =
            self.rank_by_keys(&meaning.nearest(VectorKind::Summary, self.mounts().as_deref())?)?;
        let mut passages: Vec<(u64, f32)> = Vec::new();
        for one in found.iter().take(MAX_SUMMARIES) {
            let Some(mount) = self.mount_of(one) else { continue };
            passages.extend(meaning.best_passage(mount, one.key));
        }
        let mut nearest: HashMap<u64, Vec<RankedPassage>> = HashMap::new();
        for one in self.rank_by_keys(&passages)? {
            nearest.insert(one.key, one.passages);
        }
        let with_passage = found.into_iter().map(|one| {
            let passages = nearest.remove(&one.key).unwrap_or_default();
            RankedResource {
                passages: if passages.is_empty() { one.passages } else { passages },
                ..one
            }
        });
        Ok(with_passage.collect())
    }

    fn rank_by_passages(&self, meaning: &MeaningQuery) -> Result<Vec<RankedResource>> {
        self.rank_by_keys(&meaning.nearest(VectorKind::Passage, self.mounts().as_deref())?)
    }

    /// The resources of the passages with these keys that meet the request, by the keys' scores.
    fn rank_by_keys(&self, keys: &[(u64, f32)]) -> Result<Vec<RankedResource>> {
        let FindRequest { plan, filter, mounts, .. } = *self.request;
        let fields = &self.store.fields;
        let scores: HashMap<u64, f32> = keys.iter().copied().collect();
        let terms = keys.iter().map(|(key, _)| Term::from_field_u64(fields.passage_key, *key));
        let query = plan.among(&self.searcher, fields, terms, (filter, mounts));
        let found = top_passages(&self.searcher, &*query, keys.len()).map_err(index_error)?;
        let mut candidates = Vec::new();
        for (_, address) in found {
            let Some(columns) = self.columns.get(address.segment_ord as usize) else { continue };
            let own = columns.passage_key.values_for_doc(address.doc_id);
            let score = own.filter_map(|key| scores.get(&key).copied()).reduce(f32::max);
            candidates.extend(score.map(|score| PassageCandidate::new(address, score)));
        }
        candidates.sort_by(|a, b| b.words.total_cmp(&a.words).then(a.address.cmp(&b.address)));
        Ok(rank::group(&self.columns, candidates, self.now))
    }

    /// The keys of the mounts to look in.
    fn mounts(&self) -> Option<Vec<u64>> {
        self.request.mounts.map(|mounts| mounts.iter().map(|name| text_key(name)).collect())
    }

    fn mount_of(&self, resource: &RankedResource) -> Option<u64> {
        let address = resource.passages.first()?.address;
        self.columns.get(address.segment_ord as usize)?.mount_key.first(address.doc_id)
    }

    /// Reads URI and places; `None` if the records of the index cannot be read.
    fn read(
        &self,
        ranked: RankedResource,
    ) -> std::result::Result<Option<FoundResource>, TantivyError> {
        let RankedResource { content, score, reasons, passages: ranked, .. } = ranked;
        let (mut own, mut passages) = (None, Vec::new());
        for RankedPassage { address, score, .. } in ranked.iter().take(MAX_PASSAGES) {
            let read = read_passage(&self.searcher, self.store, *address)?;
            let Some((uri, place)) = read else { continue };
            own.get_or_insert(uri);
            passages.push(FoundPassage { score: *score, place });
        }
        let passage_count = ranked.len();
        Ok(own.map(|uri| FoundResource { uri, content, score, reasons, passages, passage_count }))
    }
}

fn top_passages(
    searcher: &Searcher,
    query: &dyn Query,
    most: usize,
) -> std::result::Result<Vec<(f32, DocAddress)>, TantivyError> {
    searcher.search(query, &TopDocs::with_limit(most.max(1)).order_by_score())
}

/// All lists in one, by rank. A resource has first the passages of the list that counts most for it.
fn fused(lists: Vec<(Vec<RankedResource>, f32)>) -> Vec<RankedResource> {
    let ranks = |(list, weight): &(Vec<RankedResource>, f32)| RankedList {
        ids: list.iter().map(|one| one.key).collect(),
        weight: *weight,
    };
    let ranks: Vec<RankedList> = lists.iter().map(ranks).collect();
    let mut found: HashMap<u64, (f32, RankedResource)> = HashMap::new();
    for (number, (list, weight)) in lists.into_iter().enumerate() {
        for (rank, mut one) in list.into_iter().enumerate() {
            let share = weight / (weights::RANK_CONSTANT + rank as f32 + 1.0);
            match found.get_mut(&one.key) {
                None => {
                    one.reasons.found_by[number] = true;
                    found.insert(one.key, (share, one));
                }
                Some((best, known)) => {
                    known.reasons.found_by[number] = true;
                    if share > *best {
                        *best = share;
                        std::mem::swap(&mut known.passages, &mut one.passages);
                    }
                    let own = &known.passages;
                    one.passages.retain(|more| own.iter().all(|own| own.address != more.address));
                    known.passages.append(&mut one.passages);
                }
            }
        }
    }
    let order = embedding::fuse(&ranks, weights::RANK_CONSTANT);
    let fused = order.into_iter().filter_map(|(key, score)| {
        let (_, one) = found.remove(&key)?;
        Some(RankedResource { score, ..one })
    });
    fused.collect()
}

/// The URI and the place of a passage; `None` if its record cannot be read.
fn read_passage(
    searcher: &Searcher,
    store: &IndexStore,
    address: DocAddress,
) -> std::result::Result<Option<(Uri, PassagePlace)>, TantivyError> {
    let document: TantivyDocument = searcher.doc(address)?;
    let uri = document.get_first(store.fields.uri).and_then(|value| value.as_str());
    let place = document.get_first(store.fields.place).and_then(|value| value.as_bytes());
    let uri = uri.and_then(|uri| Uri::parse(uri).ok());
    Ok(uri.zip(place.and_then(PassagePlace::unpack)))
}
