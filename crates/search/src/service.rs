//! Answers queries: what the index finds, checked and read under the context of whoever asks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use machinery::FairSemaphore;
use resource::{Absence, Context, Error, Filter, Provider, Resource, Result, Uri};
use tokio::time::Instant;

use crate::asked_along::{AskedAlong, FusedHit, MAX_ASK_TIME};
use crate::find::{FindRequest, FoundResource, find, find_by_keys, required_uris};
use crate::hit::PassageHit;
use crate::index::coverage::Coverage;
use crate::index::entry::text_key;
use crate::index::{SearchIndex, index_error};
use crate::plan::QueryPlan;
use crate::snippet::snippet;
use crate::spelling::similar_words;
use crate::text::read_passage;

/// How long a query waits for an index that is being filled.
const FILL_WAIT: Duration = Duration::from_millis(800);
/// How many passages are looked at: at least, and for each hit that is wanted.
const MIN_CANDIDATES: usize = 200;
const CANDIDATES_PER_HIT: usize = 12;
const MAX_CANDIDATES: usize = 5_000;
/// How much of a passage is read for its snippet.
const MAX_SNIPPET_BYTES: u64 = 8 << 10;

/// How many queries run at a time: in all, of one principal, and waiting; and how long one waits.
const MAX_QUERIES: (usize, usize, usize) = (4, 2, 64);
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How many words of a query get a suggestion.
const MAX_SUGGESTED_WORDS: usize = 4;

/// How a query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchMode {
    /// By its words.
    Words,
    /// By its meaning.
    Meaning,
    /// By both, where a model for meaning is configured.
    #[default]
    Both,
}

/// A query.
#[derive(Debug, Clone)]
pub struct SearchQuery {
    /// The query, as the user wrote it.
    pub text: String,
    /// Conditions on the resources.
    pub filter: Option<Arc<Filter>>,
    /// How it is answered.
    pub mode: SearchMode,
    /// How many hits are skipped, and the most that follow.
    pub skip: usize,
    /// The maximum number of hits.
    pub limit: usize,
}

/// The answer to a query.
#[derive(Debug, Clone)]
pub struct SearchResults {
    /// The hits, the best first.
    pub hits: Vec<PassageHit>,
    /// How many hits to skip for the next page; `None` at the end.
    pub next: Option<usize>,
    /// Another spelling of the query, if that finds something and the query nothing.
    pub suggestion: Option<String>,
    /// How much the index covers of what the principal may see.
    pub coverage: Coverage,
    /// The mounts with a search of their own that did not answer.
    pub absent: Vec<Absence>,
}

/// Answers queries from the index.
pub struct SearchService {
    index: SearchIndex,
    provider: Arc<dyn Provider>,
    /// How many queries run at a time, with a share for each principal.
    queries: FairSemaphore,
    asked_along: AskedAlong,
    has_packs: bool,
}

impl SearchService {
    /// Answers from `index`; hits are checked and read in `provider`.
    pub fn new(index: SearchIndex, provider: Arc<dyn Provider>) -> Self {
        let (all, each, waiting) = MAX_QUERIES;
        let queries = FairSemaphore::new(all, each, waiting);
        Self { index, provider, queries, asked_along: AskedAlong::new(), has_packs: true }
    }

    /// Offers no packs: no mount is indexed, and servers are asked along for searches alone.
    #[must_use]
    pub fn without_packs(self) -> Self {
        Self { has_packs: false, ..self }
    }

    /// Whether there is something to make packs of.
    pub fn has_packs(&self) -> bool {
        self.has_packs
    }

    /// The index.
    pub fn index(&self) -> &SearchIndex {
        &self.index
    }

    /// Answers `query` with what the principal of `ctx` may see.
    pub async fn search(&self, ctx: &Context, query: &SearchQuery) -> Result<SearchResults> {
        let plan = Arc::new(QueryPlan::new(&query.text)?);
        let find = async {
            self.index.wait_complete(ctx, FILL_WAIT).await;
            self.find(ctx, &plan, query).await
        };
        let deadline = Instant::now() + MAX_ASK_TIME;
        let asked = self.asked_along.ask(&*self.provider, ctx, query, deadline);
        let (found, mut servers) = futures_util::join!(find, asked);
        let found = servers.fuse(found?);
        let terms: HashSet<&str> = plan.marked.iter().map(String::as_str).collect();
        let (mut hits, mut seen, mut next) = (Vec::new(), 0, None);
        let mut texts = HashSet::new();
        for one in found {
            // A copy of a hit says nothing new.
            let content = one.content();
            if content.is_some_and(|content| texts.contains(&content)) {
                continue;
            }
            let resource = match &one {
                FusedHit::Indexed(found) => self.admitted(ctx, query, &found.uri).await,
                FusedHit::Server(hit) => Some(Arc::clone(hit.resource())),
            };
            let Some(resource) = resource else { continue };
            if seen >= query.skip {
                if hits.len() == query.limit {
                    next = Some(seen);
                    break;
                }
                // What the principal may not read hides no copy that it may.
                let hit = match one {
                    FusedHit::Indexed(found) => self.hit(ctx, resource, found, &terms).await,
                    FusedHit::Server(hit) => Some(hit.into_hit(&terms)),
                };
                let Some(hit) = hit else { continue };
                hits.push(hit);
            }
            texts.extend(content);
            seen += 1;
        }
        let suggestion = match hits.is_empty() && query.skip == 0 {
            true => self.suggest(ctx, query).await,
            false => None,
        };
        let (coverage, absent) = (self.coverage_for(ctx), servers.absent);
        Ok(SearchResults { hits, next, suggestion, coverage, absent })
    }

    /// The resources that match, as the principal sees them, up to the limit.
    pub(crate) async fn find_visible(
        &self,
        ctx: &Context,
        query: &SearchQuery,
    ) -> Result<Vec<(Arc<Resource>, FoundResource)>> {
        let plan = Arc::new(QueryPlan::new(&query.text)?);
        self.index.wait_complete(ctx, FILL_WAIT).await;
        let (mut visible, mut texts) = (Vec::new(), HashSet::new());
        for one in self.find(ctx, &plan, query).await? {
            if visible.len() == query.limit {
                break;
            }
            if one.content.is_some_and(|content| texts.contains(&content)) {
                continue;
            }
            if let Some(resource) = self.admitted(ctx, query, &one.uri).await {
                texts.extend(one.content);
                visible.push((resource, one));
            }
        }
        Ok(visible)
    }

    /// The resources of priority 1 that the principal may see.
    pub(crate) async fn find_required(
        &self,
        ctx: &Context,
        filter: Option<&Filter>,
        most: usize,
    ) -> Result<Vec<Arc<Resource>>> {
        let store = self.index.state.store();
        let uris = required_uris(&store, most.saturating_mul(4)).map_err(index_error)?;
        let mut required = Vec::new();
        for uri in uris {
            let Ok(resource) = self.provider.stat(ctx, &uri).await else { continue };
            let is_required = resource.annotations.priority.is_some_and(|own| own >= 1.0);
            if is_required && filter.is_none_or(|filter| filter.admits(&resource)) {
                required.push(resource);
            }
        }
        required.truncate(most);
        Ok(required)
    }

    /// Another spelling of a query that finds nothing, if it finds something.
    async fn suggest(&self, ctx: &Context, query: &SearchQuery) -> Option<String> {
        let mut words: Vec<String> = query.text.split_whitespace().map(str::to_owned).collect();
        let mut is_changed = false;
        for word in words.iter_mut().take(MAX_SUGGESTED_WORDS) {
            let folded = analysis::fold(word);
            if self.finds(ctx, query, &folded).await {
                continue;
            }
            let store = self.index.state.store();
            let similar = {
                let folded = folded.clone();
                tokio::task::spawn_blocking(move || similar_words(&store, &folded)).await
            };
            for other in similar.ok().and_then(std::result::Result::ok).unwrap_or_default() {
                if self.finds(ctx, query, &other).await {
                    (*word, is_changed) = (other, true);
                    break;
                }
            }
        }
        is_changed.then(|| words.join(" "))
    }

    /// Whether `text` alone finds something that the principal may see.
    async fn finds(&self, ctx: &Context, query: &SearchQuery, text: &str) -> bool {
        let query = SearchQuery { text: text.to_owned(), limit: 3, skip: 0, ..query.clone() };
        let Ok(found) = self.find_visible(ctx, &query).await else { return false };
        for (resource, found) in found {
            // What may be listed and not read tells none of its words.
            if self.hit(ctx, resource, found, &HashSet::new()).await.is_some() {
                return true;
            }
        }
        false
    }

    pub(crate) fn provider(&self) -> &dyn Provider {
        &*self.provider
    }

    /// The names of the mounts that exist for the principal: all, if the provider has no mounts.
    pub(crate) fn visible_mounts(&self, ctx: &Context) -> Vec<String> {
        match self.provider.facets().mounts {
            Some(mounts) => mounts.mounts(ctx).into_iter().map(|mount| mount.name).collect(),
            None => self.index.coverage().mounts.into_keys().collect(),
        }
    }

    /// How much is covered of the mounts that exist for the principal.
    pub(crate) fn coverage_for(&self, ctx: &Context) -> Coverage {
        let mounts = self.visible_mounts(ctx);
        let mut coverage = self.index.coverage();
        coverage.mounts.retain(|name, _| mounts.contains(name));
        coverage
    }

    /// What the index finds, by words, by meaning or by both.
    async fn find(
        &self,
        ctx: &Context,
        plan: &Arc<QueryPlan>,
        query: &SearchQuery,
    ) -> Result<Vec<FoundResource>> {
        let meaning = self.index.meaning().filter(|_| query.mode != SearchMode::Words);
        if query.mode == SearchMode::Meaning && meaning.is_none() {
            return Err(Error::invalid(
                "no model for meaning is configured here; search by words, or set `model` in [search]",
            ));
        }
        let by_words = match query.mode {
            SearchMode::Meaning => Vec::new(),
            _ => self.run(ctx, plan, query, None).await?,
        };
        let text = plan.words();
        let Some(meaning) = meaning.filter(|_| !text.is_empty()) else { return Ok(by_words) };
        let nearest = match meaning.nearest(&text).await {
            Ok(nearest) => nearest,
            Err(error) if query.mode == SearchMode::Meaning => return Err(error),
            // The words still find something; the log says what is missing.
            Err(error) => {
                tracing::warn!("a search went without meaning: {}", error.with_causes());
                return Ok(by_words);
            }
        };
        let by_meaning = self.run(ctx, plan, query, Some(nearest)).await?;
        Ok(fused(by_words, by_meaning))
    }

    /// Runs the plan on a thread for blocking work: by words, or among the passages with these keys.
    async fn run(
        &self,
        ctx: &Context,
        plan: &Arc<QueryPlan>,
        query: &SearchQuery,
        keys: Option<Vec<(u64, f32)>>,
    ) -> Result<Vec<FoundResource>> {
        let deadline = Instant::now() + MAX_WAIT;
        let permit = self.queries.acquire(ctx.principal().key(), deadline).await;
        let _permit = permit.map_err(|_| Error::unavailable("too many searches run now"))?;
        let mounts = self.visible_mounts(ctx);
        let wanted = (query.skip + query.limit).saturating_mul(CANDIDATES_PER_HIT);
        let candidates = wanted.clamp(MIN_CANDIDATES, MAX_CANDIDATES);
        let (store, plan) = (self.index.state.store(), Arc::clone(plan));
        let filter = query.filter.clone();
        // Mounts of others are not looked into at all, unless all of them are visible.
        let covered = self.index.coverage().mounts;
        let sees_all = covered.keys().all(|name| mounts.contains(name));
        let search = move || {
            let mounts = (!sees_all).then_some(&mounts[..]);
            let request =
                FindRequest { plan: &plan, filter: filter.as_deref(), mounts, candidates };
            match keys {
                Some(keys) => find_by_keys(&store, &request, &keys, SystemTime::now()),
                None => find(&store, &request, SystemTime::now()),
            }
        };
        let found = tokio::task::spawn_blocking(search).await;
        found.map_err(|_| Error::internal("the search failed"))?.map_err(index_error)
    }

    /// The resource of a hit, if the principal may see it and the filter admits it.
    async fn admitted(
        &self,
        ctx: &Context,
        query: &SearchQuery,
        uri: &Uri,
    ) -> Option<Arc<Resource>> {
        let resource = self.provider.stat(ctx, uri).await.ok()?;
        let admits = query.filter.as_ref().is_none_or(|filter| filter.admits(&resource));
        admits.then_some(resource)
    }

    /// Reads the best passage; `None` if the principal may not.
    async fn hit(
        &self,
        ctx: &Context,
        resource: Arc<Resource>,
        found: FoundResource,
        terms: &HashSet<&str>,
    ) -> Option<PassageHit> {
        let passages = found.passages.len();
        let place = found.passages.into_iter().next()?.place;
        let text = match place.length {
            0 => String::new(),
            length => {
                let window = (place.offset, length.min(MAX_SNIPPET_BYTES));
                read_passage(&*self.provider, ctx, &resource, window).await.ok()?
            }
        };
        let snippet = snippet(&text, terms);
        let FoundResource { score, reasons, .. } = found;
        Some(PassageHit { resource, place, snippet, score, reasons, passages, from: None })
    }
}

/// Both lists in one, by rank. A resource of both keeps the passages that its words found.
fn fused(by_words: Vec<FoundResource>, by_meaning: Vec<FoundResource>) -> Vec<FoundResource> {
    let ranks = |list: &[FoundResource]| -> Vec<(u64, f32)> {
        list.iter().map(|found| (text_key(found.uri.as_str()), found.score)).collect()
    };
    let order =
        embedding::fuse(&[&ranks(&by_words), &ranks(&by_meaning)], embedding::fusion::FUSION_K);
    let mut found: HashMap<u64, FoundResource> = HashMap::new();
    for one in by_words.into_iter().chain(by_meaning) {
        found.entry(text_key(one.uri.as_str())).or_insert(one);
    }
    let mut fused = Vec::new();
    for (key, score) in order {
        fused.extend(found.remove(&key).map(|one| FoundResource { score, ..one }));
    }
    fused
}
