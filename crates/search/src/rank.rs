//! Ranking: passages that match become resources, ordered by their passages, priority and age.

use std::collections::HashMap;

use tantivy::columnar::Column;
use tantivy::{DocAddress, Searcher, TantivyError};

use crate::weights;

/// A passage that matches, with what the index says of it. Nothing of it is read yet.
#[derive(Debug)]
pub(crate) struct PassageCandidate {
    pub(crate) address: DocAddress,
    /// The score of its words, or of its meaning.
    pub(crate) words: f32,
    /// What words add that stand beside each other as in the query.
    pub(crate) phrases: f32,
    /// The share of the query's terms that it has, by weight.
    pub(crate) term_share: f32,
    /// The share of what the query asks for that the lead of its resource has.
    pub(crate) lead_share: f32,
}

impl PassageCandidate {
    pub(crate) fn new(address: DocAddress, words: f32) -> Self {
        Self { address, words, phrases: 0.0, term_share: 0.0, lead_share: 0.0 }
    }
}

/// A passage of a ranked resource.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankedPassage {
    pub(crate) address: DocAddress,
    pub(crate) score: f32,
    /// What of the score its words and its neighbouring words made.
    parts: (f32, f32),
}

/// A resource that matches.
#[derive(Debug)]
pub(crate) struct RankedResource {
    /// The key of its URI.
    pub(crate) key: u64,
    /// A hash of its text; `None` if it has none.
    pub(crate) content: Option<u64>,
    pub(crate) score: f32,
    pub(crate) reasons: ScoreReasons,
    /// The best first.
    pub(crate) passages: Vec<RankedPassage>,
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
    /// Where words and meaning are fused: whether it was found by words, by what the resource is
    /// about, and by the meaning of a passage.
    pub found_by: [bool; 3],
}

/// The columns of a segment that the ranking looks at.
pub(crate) struct SegmentColumns {
    uri_key: Column<u64>,
    content_key: Column<u64>,
    priority: Column<f64>,
    modified: Column<i64>,
    pub(crate) passage_key: Column<u64>,
    pub(crate) mount_key: Column<u64>,
}

pub(crate) fn segment_columns(searcher: &Searcher) -> Result<Vec<SegmentColumns>, TantivyError> {
    let columns = searcher.segment_readers().iter().map(|segment| {
        let columns = segment.fast_fields();
        Ok(SegmentColumns {
            uri_key: columns.u64("uri_key")?,
            content_key: columns.u64("content_key")?,
            priority: columns.f64("priority")?,
            modified: columns.i64("modified")?,
            passage_key: columns.u64("passage_key")?,
            mount_key: columns.u64("mount_key")?,
        })
    });
    columns.collect()
}

/// The resources of the candidates, the best first.
pub(crate) fn group(
    columns: &[SegmentColumns],
    candidates: Vec<PassageCandidate>,
    now: i64,
) -> Vec<RankedResource> {
    let mut ranked: Vec<RankedResource> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for candidate in candidates {
        let PassageCandidate { address, words, phrases, term_share, lead_share } = candidate;
        let Some(columns) = columns.get(address.segment_ord as usize) else { continue };
        let coverage = weights::TERM_COVERAGE * term_share;
        let words = words * (1.0 + coverage + weights::LEAD_COVERAGE * lead_share);
        let score = words + phrases;
        let passage = RankedPassage { address, score, parts: (words, phrases) };
        let key = columns.uri_key.first(address.doc_id).unwrap_or(0);
        if let Some(known) = places.get(&key).and_then(|at| ranked.get_mut(*at)) {
            known.passages.push(passage);
            continue;
        }
        places.insert(key, ranked.len());
        let reasons = ScoreReasons {
            priority: priority_factor(columns.priority.first(address.doc_id)),
            recency: recency_factor(columns.modified.first(address.doc_id), now),
            ..ScoreReasons::default()
        };
        let content = columns.content_key.first(address.doc_id);
        ranked.push(RankedResource { key, content, score, reasons, passages: vec![passage] });
    }
    for resource in &mut ranked {
        resource.add_up();
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
    ranked
}

impl RankedResource {
    /// Orders the passages, and makes the score of them.
    fn add_up(&mut self) {
        self.passages.sort_by(|a, b| b.score.total_cmp(&a.score));
        let further: f32 = self.passages.iter().skip(1).map(|passage| passage.score).sum();
        let Some(RankedPassage { score: best, parts, .. }) = self.passages.first() else { return };
        let (best, reasons) = (*best, &mut self.reasons);
        (reasons.words, reasons.phrases) = *parts;
        reasons.further = (further * weights::FURTHER_PASSAGES).min(best);
        self.score = (best + reasons.further) * reasons.priority * reasons.recency;
    }
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
