//! Answers queries: what the index finds, checked and read under the context of whoever asks.

mod prepared_query;
mod suggestion;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use machinery::FairSemaphore;
use resource::{Absence, Context, Error, Filter, Provider, Resource, Result, Uri};
use tokio::time::Instant;

use crate::asked_along::{AskedAlong, FusedHit, MAX_ASK_TIME};
use crate::find::{FindRequest, FoundResource, FoundResources, find, required_uris};
use crate::hit::PassageHit;
use crate::index::coverage::Coverage;
use crate::index::{SearchIndex, index_error};
use crate::plan::QueryPlan;
use crate::snippet::snippet;
use crate::text::read_passage;
use prepared_query::PreparedQuery;

/// How long a query waits for an index that is being filled.
const FILL_WAIT: Duration = Duration::from_millis(800);
/// How many passages are looked at: at least, and for each hit that is wanted.
const MIN_CANDIDATES: usize = 200;
const CANDIDATES_PER_HIT: usize = 12;
const MAX_CANDIDATES: usize = 5_000;
/// How many resources are read from the index: for each hit that is wanted, and beside those.
const RESOURCES_PER_HIT: usize = 2;
const SPARE_RESOURCES: usize = 10;
/// How much further a search looks when what it found is not for the principal.
const WIDENING: usize = 5;
/// How much of a passage is read for its snippet.
const MAX_SNIPPET_BYTES: u64 = 8 << 10;

/// How many queries run at a time: in all, of one principal, and waiting; and how long one waits.
const MAX_QUERIES: (usize, usize, usize) = (4, 2, 64);
const MAX_WAIT: Duration = Duration::from_secs(10);

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
    /// Why the meaning did not count, though a model is configured.
    pub without_meaning: Option<String>,
}

/// How far a search looks.
#[derive(Clone, Copy)]
struct SearchReach {
    /// How many passages are looked at.
    candidates: usize,
    /// How many resources are read from the index.
    resources: usize,
}

impl SearchReach {
    fn new(query: &SearchQuery) -> Self {
        let wanted = query.skip.saturating_add(query.limit);
        let candidates = wanted.saturating_mul(CANDIDATES_PER_HIT);
        let resources = wanted.saturating_mul(RESOURCES_PER_HIT).saturating_add(SPARE_RESOURCES);
        Self { candidates: candidates.clamp(MIN_CANDIDATES, MAX_CANDIDATES), resources }
    }

    /// The next wider reach; `None` if this one is the widest.
    fn wider(self) -> Option<Self> {
        let candidates = (self.candidates * WIDENING).min(MAX_CANDIDATES);
        let resources = self.resources.saturating_mul(WIDENING);
        let is_wider = candidates > self.candidates || self.resources < self.candidates;
        is_wider.then_some(Self { candidates, resources })
    }
}

/// The hits of one page.
struct HitPage {
    hits: Vec<PassageHit>,
    next: Option<usize>,
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
        let prepared = Arc::new(PreparedQuery::prepare(&self.index, query).await?);
        let mut reach = SearchReach::new(query);
        let find = async {
            self.wait_filled(ctx).await;
            self.find(ctx, &prepared, query, reach).await
        };
        let deadline = Instant::now() + MAX_ASK_TIME;
        let asked = self.asked_along.ask(&*self.provider, ctx, query, deadline);
        let (found, servers) = futures_util::join!(find, asked);
        let mut found = found?;
        let page = loop {
            let FoundResources { resources, is_all } = found;
            let page = self.page(ctx, query, &prepared.plan, servers.fuse(resources)).await;
            match reach.wider().filter(|_| page.next.is_none() && !is_all) {
                Some(wider) => reach = wider,
                None => break page,
            }
            found = self.find(ctx, &prepared, query, reach).await?;
        };
        let HitPage { hits, next } = page;
        let suggestion = match query.skip == 0 {
            true => self.suggest(ctx, query, &prepared.plan, hits.is_empty()).await,
            false => None,
        };
        let (coverage, absent) = (self.coverage_for(ctx), servers.absent);
        let without_meaning = prepared.without_meaning.clone();
        Ok(SearchResults { hits, next, suggestion, coverage, absent, without_meaning })
    }

    /// The page of what was found that the query asks for, as the principal sees it.
    async fn page(
        &self,
        ctx: &Context,
        query: &SearchQuery,
        plan: &QueryPlan,
        found: Vec<FusedHit>,
    ) -> HitPage {
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
        HitPage { hits, next }
    }

    /// The resources that match, as the principal sees them, up to the limit.
    pub(crate) async fn find_visible(
        &self,
        ctx: &Context,
        query: &SearchQuery,
    ) -> Result<Vec<(Arc<Resource>, FoundResource)>> {
        let prepared = Arc::new(PreparedQuery::prepare(&self.index, query).await?);
        self.wait_filled(ctx).await;
        let mut reach = SearchReach::new(query);
        loop {
            let FoundResources { resources, is_all } =
                self.find(ctx, &prepared, query, reach).await?;
            let visible = self.visible(ctx, query, resources).await;
            match reach.wider().filter(|_| visible.len() < query.limit && !is_all) {
                Some(wider) => reach = wider,
                None => return Ok(visible),
            }
        }
    }

    /// Those of the resources that the principal may see, without copies, up to the limit.
    async fn visible(
        &self,
        ctx: &Context,
        query: &SearchQuery,
        found: Vec<FoundResource>,
    ) -> Vec<(Arc<Resource>, FoundResource)> {
        let (mut visible, mut texts) = (Vec::new(), HashSet::new());
        for one in found {
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
        visible
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
        let coverage = self.index.coverage();
        let Some(mounts) = self.provider.facets().mounts else { return coverage };
        let mut covered = coverage.mounts;
        let visible = mounts.mounts(ctx).into_iter().filter_map(|mount| {
            let own = covered.remove(&mount.name)?;
            // Numbers would tell of resources that the principal may not see.
            let own = if mount.is_restricted { own.without_numbers() } else { own };
            Some((mount.name, own))
        });
        Coverage { mounts: visible.collect(), ..coverage }
    }

    /// Waits a moment for an index that is being filled, and reports how many resources it has.
    async fn wait_filled(&self, ctx: &Context) {
        let report = || {
            if let Some(indexed) = self.coverage_for(ctx).indexed() {
                ctx.report_progress(indexed, None);
            }
        };
        self.index.wait_complete(FILL_WAIT, report).await;
    }

    /// What the index finds, by words, by meaning or by both, on a thread for blocking work.
    async fn find(
        &self,
        ctx: &Context,
        prepared: &Arc<PreparedQuery>,
        query: &SearchQuery,
        reach: SearchReach,
    ) -> Result<FoundResources> {
        let deadline = Instant::now() + MAX_WAIT;
        let permit = self.queries.acquire(ctx.principal().key(), deadline).await;
        let _permit = permit.map_err(|_| Error::unavailable("too many searches run now"))?;
        let mounts = self.visible_mounts(ctx);
        let (store, prepared) = (self.index.state.store(), Arc::clone(prepared));
        let filter = query.filter.clone();
        // Mounts of others are not looked into at all, unless all of them are visible.
        let covered = self.index.coverage().mounts;
        let sees_all = covered.keys().all(|name| mounts.contains(name));
        let search = move || {
            let PreparedQuery { plan, mode, meaning, .. } = &*prepared;
            let request = FindRequest {
                plan,
                filter: filter.as_deref(),
                mounts: (!sees_all).then_some(&mounts[..]),
                by_words: *mode != SearchMode::Meaning,
                meaning: meaning.as_ref(),
                candidates: reach.candidates,
                resources: reach.resources,
            };
            find(&store, &request, SystemTime::now())
        };
        let found = tokio::task::spawn_blocking(search).await;
        found.map_err(|_| Error::internal("the search failed"))?
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
        let passages = found.passage_count;
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
